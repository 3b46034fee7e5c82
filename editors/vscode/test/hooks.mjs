// Has the client's modules find each other, and what stands in for VS Code, where Node runs them as they are.

import { registerHooks } from 'node:module';

registerHooks({
    resolve(specifier, context, next) {
        if (specifier === 'vscode') return next(new URL('./vscode.ts', import.meta.url).href, context);
        const isOurs = context.parentURL?.endsWith('.ts') && specifier.startsWith('.') && !specifier.endsWith('.ts');
        return next(isOurs ? `${specifier}.ts` : specifier, context);
    },
});
