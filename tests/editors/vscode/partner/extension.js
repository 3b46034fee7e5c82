// Another maker's extension: it offers no completions, it inserts one at the cursor and records it through the VIBES extension.
const vscode = require('vscode');

const TEXT = 'def farewell(name):\n    return f"Goodbye, {name}, and thanks for all the fish"\n';

exports.activate = (context) => {
  context.subscriptions.push(vscode.commands.registerCommand('partner.complete', complete));
};

async function complete() {
  const vibes = await vscode.extensions.getExtension('vibes-lsp.vibes-lsp').activate();
  const editor = vscode.window.activeTextEditor;
  const { document, selection } = editor;
  const version = document.version;
  const range = new vscode.Range(selection.active, selection.active);
  await editor.edit((edit) => edit.insert(selection.active, TEXT));
  const recorded = await vibes.recordInlineCompletion({
    uri: document.uri,
    version,
    range,
    newText: TEXT,
    tool: { name: 'Partner', version: '0.0.1' },
    model: { name: 'partner-small', version: '2026-05' },
    prompt: { text: 'Say goodbye politely.', type: 'inline_completion' },
    completionId: 'completion-1',
  });
  const [known] = await vibes.provenanceAt(document.uri, selection.active);
  vscode.window.showInformationMessage(`Partner: ${recorded.annotationId ? 'recorded' : 'not recorded'}, by ${known?.model.name}`);
}
