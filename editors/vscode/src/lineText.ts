// Text at the end of a line: who wrote it, whether that still holds, and what was asked.

import * as vscode from 'vscode';
import type { Placement } from './protocol';
import type { KnownProvenance } from './provenance';
import { plain } from './text';
import type { Visibility } from './visibility';

const LONGEST = 140;

export class LineTexts implements vscode.Disposable {
  private readonly type = vscode.window.createTextEditorDecorationType({
    after: { color: new vscode.ThemeColor('vibes.lineText'), margin: '0 0 0 3em', fontStyle: 'italic' },
    rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
  });
  private readonly parts: { dispose(): unknown }[];

  constructor(
    private readonly known: KnownProvenance,
    private readonly visibility: Visibility,
  ) {
    this.parts = [
      this.type,
      known.onDidChange((document) => {
        for (const editor of vscode.window.visibleTextEditors) if (editor.document === document) this.write(editor);
      }),
      vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => {
        if (this.visibility.lineText === 'line') this.write(textEditor);
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.writeAll()),
      visibility.onDidChange(() => this.writeAll()),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.parts).dispose();
  }

  private writeAll(): void {
    for (const editor of vscode.window.visibleTextEditors) this.write(editor);
  }

  private write(editor: vscode.TextEditor): void {
    const mode = this.visibility.lineText;
    if (mode !== 'off' && this.known.of(editor.document) === undefined && this.known.isAwaited(editor.document)) return;
    const lines = mode === 'all' ? this.firstLines(editor.document) : mode === 'line' ? this.cursorLine(editor) : [];
    editor.setDecorations(
      this.type,
      lines.map(([line, placement]) => ({
        range: editor.document.lineAt(line).range.with(editor.document.lineAt(line).range.end),
        renderOptions: { after: { contentText: plain(placement.lineText, LONGEST) } },
      })),
    );
  }

  private cursorLine(editor: vscode.TextEditor): [number, Placement][] {
    const line = editor.selection.active.line;
    const author = editor === vscode.window.activeTextEditor ? this.known.authorOf(editor.document, line) : undefined;
    return author === undefined ? [] : [[line, author]];
  }

  private firstLines(document: vscode.TextDocument): [number, Placement][] {
    return (this.known.of(document)?.placements ?? []).flatMap((placement) => {
      const first = placement.runs.find(({ kind }) => kind !== 'human');
      return first === undefined ? [] : [[first.lineStart - 1, placement] satisfies [number, Placement]];
    });
  }
}
