// The blame column: model, age and risk at the left of the code, once per block, with a heat map. It is off until the user turns it on.

import * as vscode from 'vscode';
import type { ProvenanceCache } from '../provenance';
import type { Visibility } from '../visibility';
import { blocksOf, cellsOf, markOf, NO_OWNER, shiftCells, widthOf, type Cell } from './blocks';

const NO_BREAK_SPACE = '\u00a0';
/** Verified lines have a solid heat mark, as in the gutter. */
const BORDERS = { ai: 'solid', claimed: 'double', edited: 'dotted' } as const;

/** The column of one editor. */
interface Shown {
  width: number;
  cells: Cell[];
  /** The lines that show each decoration type, as a key. */
  lines: Map<vscode.TextEditorDecorationType, string>;
}

export class BlameColumn implements vscode.Disposable {
  private readonly types = new Map<string, vscode.TextEditorDecorationType>();
  private readonly shown = new WeakMap<vscode.TextEditor, Shown>();
  private readonly disposables: { dispose(): unknown }[];

  constructor(
    private readonly cache: ProvenanceCache,
    private readonly visibility: Visibility,
  ) {
    this.disposables = [
      cache.onDidChange((document) => this.showAll(document)),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        const moves = contentChanges.filter(({ range, text }) => !range.isSingleLine || text.includes('\n'));
        if (moves.length > 0) this.move(document, moves);
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.showAll()),
      visibility.onDidChange(() => this.showAll()),
    ];
  }

  dispose(): void {
    vscode.Disposable.from(...this.types.values(), ...this.disposables).dispose();
  }

  private showAll(document?: vscode.TextDocument): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (document === undefined || editor.document === document) this.show(editor);
    }
  }

  private show(editor: vscode.TextEditor): void {
    const { document } = editor;
    const provenance = this.cache.get(document);
    if (!this.visibility.blame) this.hide(editor);
    else if (provenance !== undefined) {
      const blocks = blocksOf(provenance.placements);
      if (blocks.length === 0) this.hide(editor);
      else this.paint(editor, widthOf(blocks), cellsOf(blocks, document.lineCount, this.visibility.heat, Date.now()));
    } else if (!this.cache.isPending(document)) this.hide(editor); // else an answer follows; until then the column moves with the text
  }

  /** Gives new lines an empty cell at once, so that the code keeps its place. */
  private move(document: vscode.TextDocument, changes: readonly vscode.TextDocumentContentChangeEvent[]): void {
    for (const editor of vscode.window.visibleTextEditors) {
      const shown = this.shown.get(editor);
      if (editor.document !== document || shown === undefined) continue;
      let { cells } = shown;
      for (const { range, text } of changes) cells = shiftCells(cells, range.start, range.end.line, text.split('\n').length - 1);
      shown.lines = new Map([...shown.lines.keys()].map((type) => [type, 'moved']));
      this.paint(editor, shown.width, cells);
    }
  }

  private hide(editor: vscode.TextEditor): void {
    for (const type of this.shown.get(editor)?.lines.keys() ?? []) editor.setDecorations(type, []);
    this.shown.delete(editor);
  }

  private paint(editor: vscode.TextEditor, width: number, cells: Cell[]): void {
    const before = this.shown.get(editor)?.lines ?? new Map<vscode.TextEditorDecorationType, string>();
    const wanted = new Map<vscode.TextEditorDecorationType, number[]>();
    for (let line = 0; line < Math.min(cells.length, editor.document.lineCount); line++) {
      const type = this.typeOf(cells[line], width);
      const lines = wanted.get(type);
      if (lines === undefined) wanted.set(type, [line]);
      else lines.push(line);
    }
    const after = new Map<vscode.TextEditorDecorationType, string>();
    for (const type of new Set([...wanted.keys(), ...before.keys()])) {
      const lines = wanted.get(type) ?? [];
      const key = lines.map((line) => `${line}${cells[line]?.text ?? ''}`).join();
      if (lines.length > 0) after.set(type, key);
      if (before.get(type) === key) continue; // each call goes to the renderer process
      editor.setDecorations(
        type,
        lines.map((line) => {
          const { range } = editor.document.lineAt(line);
          const text = cells[line]?.text;
          return text === undefined ? { range } : { range, renderOptions: { before: { contentText: padded(text, width) } } };
        }),
      );
    }
    this.shown.set(editor, { width, cells, lines: after });
  }

  /** Returns the decoration type of a cell, which has its width, colour and mark; only text differs between lines of one type. */
  private typeOf(cell: Cell | undefined, width: number): vscode.TextEditorDecorationType {
    const { heat, kind } = cell ?? NO_OWNER;
    const name = `${width} ${heat ?? ''} ${kind ?? ''}`;
    let type = this.types.get(name);
    if (type === undefined) {
      const edge = heat === undefined || kind === undefined ? '3px solid transparent' : `3px ${BORDERS[kind]}`;
      type = vscode.window.createTextEditorDecorationType({
        before: {
          contentText: padded(cell === undefined ? '' : markOf(cell), width),
          color: new vscode.ThemeColor('vibes.lineText'),
          width: `calc(${width + 1}ch + 3px)`,
          margin: '0 1.5ch 0 0',
          border: `none; border-right: ${edge}; box-sizing: border-box`,
          ...(heat === undefined ? {} : { borderColor: new vscode.ThemeColor(`vibes.${heat}`) }),
          textDecoration: 'none; white-space: pre; overflow: hidden; vertical-align: top; height: 100%',
        },
        rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
      });
      this.types.set(name, type);
    }
    return type;
  }
}

/** Returns text of a fixed width. Ordinary spaces would collapse. */
function padded(text: string, width: number): string {
  return text.padEnd(width).replaceAll(' ', NO_BREAK_SPACE);
}
