// Module resolution for tests: `vscode` is the stub in vscode.ts, and relative imports get the suffix `.ts`.

import { registerHooks } from 'node:module';

registerHooks({
    resolve(specifier, context, next) {
        if (specifier === 'vscode') return next(new URL('./vscode.ts', import.meta.url).href, context);
        const isOurs = context.parentURL?.endsWith('.ts') && specifier.startsWith('.') && !specifier.endsWith('.ts');
        return next(isOurs ? `${specifier}.ts` : specifier, context);
    },
});
