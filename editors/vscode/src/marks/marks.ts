// Marks in the gutter and the overview ruler: a shape on the first line of a range, a bar along the others.
// Verified lines have solid marks, claimed lines hollow ones, edited lines dashed ones.

import * as vscode from 'vscode';
import type { Placement, Provenance, Run } from '../protocol';
import type { ProvenanceCache } from '../provenance';
import type { Visibility } from '../visibility';
import { BANDS, decorationOf, MODELS, type MarkStyle, type Part } from './shapes';

/** The lines of one mark, 1-based and inclusive. */
type Lines = Pick<Run, 'lineStart' | 'lineEnd'>;

export class Marks implements vscode.Disposable {
  private readonly types = new Map<MarkStyle, Record<Part, vscode.TextEditorDecorationType>>();
  private readonly models = new Map<string, MarkStyle>();
  /** The lines that show each decoration type, by editor; undefined after an edit has moved them. */
  private readonly shown = new WeakMap<vscode.TextEditor, Map<vscode.TextEditorDecorationType, string | undefined>>();
  private readonly disposables: { dispose(): unknown }[];

  constructor(
    private readonly cache: ProvenanceCache,
    private readonly visibility: Visibility,
  ) {
    this.disposables = [
      cache.onDidChange((document) => {
        for (const editor of vscode.window.visibleTextEditors) if (editor.document === document) this.show(editor);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.some(({ range, text }) => !range.isSingleLine || text.includes('\n'))) this.invalidate(document);
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.showAll()),
      visibility.onDidChange(() => this.showAll()),
    ];
  }

  dispose(): void {
    for (const of of this.types.values()) vscode.Disposable.from(...Object.values(of)).dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private showAll(): void {
    for (const editor of vscode.window.visibleTextEditors) this.show(editor);
  }

  private show(editor: vscode.TextEditor): void {
    const provenance = this.cache.get(editor.document);
    if (provenance === undefined && this.visibility.marks && this.cache.isPending(editor.document)) return; // decorations move with the text
    const wantedLines =
      provenance !== undefined && this.visibility.marks
        ? this.linesByType(provenance)
        : new Map<vscode.TextEditorDecorationType, Lines[]>();
    const shown = this.shown.get(editor) ?? new Map<vscode.TextEditorDecorationType, string | undefined>();
    this.shown.set(editor, shown);
    // Add new marks before removing old ones, so that a line that changes its mark is never without one.
    for (const type of new Set([...wantedLines.keys(), ...shown.keys()])) {
      const runs = wantedLines.get(type) ?? [];
      const key = runs.map(({ lineStart, lineEnd }) => `${lineStart}-${lineEnd}`).join();
      if (shown.has(type) && shown.get(type) === key) continue; // each call goes to the renderer process
      shown.set(type, key);
      editor.setDecorations(
        type,
        runs.map(({ lineStart, lineEnd }) => new vscode.Range(lineStart - 1, 0, lineEnd - 1, 0)),
      );
    }
  }

  private invalidate(document: vscode.TextDocument): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document !== document) continue;
      const shown = this.shown.get(editor);
      for (const type of shown?.keys() ?? []) shown?.set(type, undefined);
    }
  }

  private linesByType(provenance: Provenance): Map<vscode.TextEditorDecorationType, Lines[]> {
    const found = new Map<vscode.TextEditorDecorationType, Lines[]>();
    for (const placement of provenance.placements) {
      const types = this.typesOf(placement);
      for (const [part, lines] of partsOf(placement.runs)) {
        const type = types[part];
        const runs = found.get(type) ?? [];
        runs.push(lines);
        found.set(type, runs);
      }
    }
    return found;
  }

  private typesOf(placement: Placement): Record<Part, vscode.TextEditorDecorationType> {
    const style = this.visibility.byModel ? this.styleOfModel(placement.model.name ?? '') : BANDS[placement.band ?? 'none'];
    let types = this.types.get(style);
    if (types === undefined) {
      types = {
        first: decorationOf(style, 'first'),
        firstClaimed: decorationOf(style, 'firstClaimed'),
        ai: decorationOf(style, 'ai'),
        claimed: decorationOf(style, 'claimed'),
        edited: decorationOf(style, 'edited'),
      };
      this.types.set(style, types);
    }
    return types;
  }

  private styleOfModel(name: string): MarkStyle {
    let style = this.models.get(name);
    if (style === undefined) {
      style = MODELS[this.models.size % MODELS.length] ?? BANDS.none;
      this.models.set(name, style);
    }
    return style;
  }
}

/** Returns the mark parts of a placement. The first line has its own part. */
export function partsOf(runs: readonly Run[]): [Part, Lines][] {
  const parts: [Part, Lines][] = [];
  for (const { lineStart, lineEnd, kind } of runs) {
    const isFirst = parts.length === 0;
    if (isFirst) parts.push([kind === 'claimed' ? 'firstClaimed' : 'first', { lineStart, lineEnd: lineStart }]);
    const start = isFirst ? lineStart + 1 : lineStart;
    if (start <= lineEnd) parts.push([kind, { lineStart: start, lineEnd }]);
  }
  return parts;
}
