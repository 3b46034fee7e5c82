// Another maker's extension: a command of its own accepts a completion at the cursor, and records it through the VIBES extension.
const vscode = require('vscode');

const TEXT = 'def farewell(name):\n    return f"Goodbye, {name}, and thanks for all the fish"\n';

exports.activate = (context) => {
  context.subscriptions.push(vscode.commands.registerCommand('partner.complete', complete));
};

async function complete() {
  const vibes = await vscode.extensions.getExtension('vibes-lsp.vibes-lsp').activate();
  const editor = vscode.window.activeTextEditor;
  const { document } = editor;
  const at = editor.selection.active;
  const version = document.version;
  const tool = { name: 'Partner', version: '0.0.1' };
  const model = { name: 'partner-small', version: '2026-05' };
  const { sessionId } = await vibes.startSession({ uri: document.uri, tool, model, description: 'Farewells' });
  const changed = new Promise((resolve) => vibes.onDidChangeProvenance((uri) => uri.toString() === document.uri.toString() && resolve()));
  await editor.edit((edit) => edit.insert(at, TEXT));
  const recorded = await vibes.recordInlineCompletion({
    uri: document.uri,
    version,
    range: new vscode.Range(at, at),
    newText: TEXT,
    tool,
    model,
    sessionId,
    prompt: { text: 'Say goodbye politely.', type: 'inline_completion' },
    completionId: 'completion-1',
  });
  await vibes.endSession({ uri: document.uri, sessionId });
  await changed;
  const [known] = await vibes.provenanceAt(document.uri, at);
  void vscode.window.showInformationMessage(`Recorded ${recorded.annotationId.slice(0, 8)}, by ${known.model.name}`);
}
