// Text at the end of a line: model, state, risk, review and prompt.

import * as vscode from 'vscode';
import type { Placement } from './protocol';
import type { ProvenanceCache } from './provenance';
import { plain } from './text';
import type { Visibility } from './visibility';

const MAX_LENGTH = 140;

export class LineTexts implements vscode.Disposable {
  private readonly type = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor('vibes.lineText'), margin: '0 0 0 3em', fontStyle: 'italic' },
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly disposables: { dispose(): unknown }[];

  constructor(
    private readonly cache: ProvenanceCache,
    private readonly visibility: Visibility,
  ) {
    this.disposables = [
      this.type,
      cache.onDidChange((document) => {
        for (const editor of vscode.window.visibleTextEditors) if (editor.document === document) this.show(editor);
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (this.visibility.lineText === 'line') this.show(textEditor);
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.showAll()),
      visibility.onDidChange(() => this.showAll()),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private showAll(): void {
    for (const editor of vscode.window.visibleTextEditors) this.show(editor);
  }

  private show(editor: vscode.TextEditor): void {
    const mode = this.visibility.lineText;
    if (mode !== 'off' && this.cache.get(editor.document) === undefined && this.cache.isPending(editor.document)) return;
    const lines = mode === 'all' ? this.firstLines(editor.document) : mode === 'line' ? this.cursorLine(editor) : [];
    editor.setDecorations(
      this.type,
      lines.map(([line, placement]) => ({
        range: editor.document.lineAt(line).range.with(editor.document.lineAt(line).range.end),
        renderOptions: { after: { contentText: plain(placement.lineText, MAX_LENGTH) } },
      })),
    );
  }

  private cursorLine(editor: vscode.TextEditor): [number, Placement][] {
    const line = editor.selection.active.line;
    const author = editor === vscode.window.activeTextEditor ? this.cache.authorAt(editor.document, line) : undefined;
    return author === undefined ? [] : [[line, author]];
  }

  private firstLines(document: vscode.TextDocument): [number, Placement][] {
    return (this.cache.get(document)?.placements ?? []).flatMap((placement) => {
      const [first] = placement.runs;
      return first === undefined ? [] : [[first.lineStart - 1, placement] satisfies [number, Placement]];
    });
  }
}
