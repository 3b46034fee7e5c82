// Shows the prompt or the history of the annotation at the cursor.

import * as vscode from 'vscode';
import type { ProvenanceCache } from '../provenance';
import type { Server } from '../server/server';
import { register } from './register';

export function registerShowCommands(server: Server, cache: ProvenanceCache): vscode.Disposable {
  const show = (command: string) => async () => {
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) throw new Error('no file is open');
    await cache.latest(editor.document);
    const placement = cache.placementAt(editor.document, editor.selection.active.line);
    if (placement === undefined) throw new Error('no annotation on this line');
    await server.run(command, { uri: server.toProtocolUri(editor.document.uri), annotationId: placement.annotationId });
  };
  return vscode.Disposable.from(
    register('vibes.ui.showPrompt', server, show('vibes.showPrompt')),
    register('vibes.ui.showHistory', server, show('vibes.showHistory')),
  );
}
