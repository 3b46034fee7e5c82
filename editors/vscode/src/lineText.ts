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
        renderOptions: { after: { contentText: textOf(placement) } },
      })),
    );
  }

  private cursorLine(editor: vscode.TextEditor): [number, Placement][] {
    const line = editor.selection.active.line;
    const owner = editor === vscode.window.activeTextEditor ? this.known.ownerOf(editor.document, line) : undefined;
    return owner === undefined ? [] : [[line, owner]];
  }

  private firstLines(document: vscode.TextDocument): [number, Placement][] {
    return (this.known.of(document)?.placements ?? []).flatMap((placement) => {
      const first = placement.ownedRanges[0];
      return first === undefined ? [] : [[first.start.line, placement] satisfies [number, Placement]];
    });
  }
}

function textOf({ model, state, captured, prompt, band, review }: Placement): string {
  const parts = [
    plain(model.name ?? 'unknown model', 40),
    state,
    captured && 'captured',
    prompt === undefined ? undefined : `“${plain(prompt, 70)}”`,
    band === null ? undefined : `risk ${band}`,
    review === null ? undefined : review.stale ? 'review stale' : (review.verdict ?? 'reviewed'),
  ];
  return plain(parts.filter((part) => part !== undefined).join(' · '), LONGEST);
}
