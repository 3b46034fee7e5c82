// Another maker's extension: inline completions that nobody tells of, one that is told of, a list of suggestions, and a formatter.
const vscode = require('vscode');

const BODIES = {
  'def tw': 'ice(one):\n    return 2 * one\n',
  'def th': 'rice(one):\n    return 3 * one\n',
  'def qu': 'adruple(one):\n    return 4 * one\n',
};
const TOLD = 'def qu';

exports.activate = (context) => {
  const python = { language: 'python', scheme: 'file' };
  context.subscriptions.push(
    vscode.languages.registerInlineCompletionItemProvider(python, { provideInlineCompletionItems: complete }),
    vscode.languages.registerCompletionItemProvider(python, { provideCompletionItems: suggest }),
    vscode.languages.registerDocumentFormattingEditProvider(python, { provideDocumentFormattingEdits: format }),
    vscode.commands.registerCommand('completer.tell', tell),
  );
};

function complete(document, position) {
  const begun = document.lineAt(position).text.slice(0, position.character);
  if (BODIES[begun] === undefined) return [];
  const here = new vscode.Range(position, position);
  const told = { command: 'completer.tell', title: 'Tell', arguments: [document.uri, document.version, here, BODIES[begun]] };
  return [{ insertText: BODIES[begun], range: here, ...(begun === TOLD && { command: told }) }];
}

function suggest() {
  const item = new vscode.CompletionItem('suggested_name_of_some_length', vscode.CompletionItemKind.Function);
  item.insertText = 'suggested_name_of_some_length(one, two)';
  return [item];
}

function format(document) {
  const last = document.lineCount - 1;
  return [vscode.TextEdit.insert(document.lineAt(last).range.end, '\n# put there by the formatter\n')];
}

async function tell(uri, version, range, newText) {
  const vibes = await vscode.extensions.getExtension('vibes-lsp.vibes-lsp').activate();
  await vibes.recordInlineCompletion({
    uri,
    version,
    range,
    newText,
    tool: { name: 'Completer', version: '0.0.2' },
    model: { name: 'completer-small', version: '2026-05' },
    completionId: `told-${version}`,
  });
}
