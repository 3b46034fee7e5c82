// Marks in gutter and overview ruler: a shape on the first line of a range, a bar along its lines.
// Solid marks are for what is verified; what is only claimed is hollow, and what was edited dashed.

import * as vscode from 'vscode';
import type { Placement, Provenance, Run } from '../protocol';
import type { KnownProvenance } from '../provenance';
import type { Visibility } from '../visibility';
import { BANDS, decorationOf, MODELS, type Look, type Part } from './shapes';

/** Lines that one mark goes along, 1-based and inclusive. */
type Lines = Pick<Run, 'lineStart' | 'lineEnd'>;

export class Marks implements vscode.Disposable {
  private readonly types = new Map<Look, Record<Part, vscode.TextEditorDecorationType>>();
  private readonly models = new Map<string, Look>();
  /** The lines that each editor shows a type on; undefined where they have moved since. */
  private readonly painted = new WeakMap<vscode.TextEditor, Map<vscode.TextEditorDecorationType, string | undefined>>();
  private readonly parts: { dispose(): unknown }[];

  constructor(
    private readonly known: KnownProvenance,
    private readonly visibility: Visibility,
  ) {
    this.parts = [
      known.onDidChange((document) => {
        for (const editor of vscode.window.visibleTextEditors) if (editor.document === document) this.paint(editor);
      }),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.some(({ range, text }) => !range.isSingleLine || text.includes('\n'))) this.lose(document);
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.paintAll()),
      visibility.onDidChange(() => this.paintAll()),
    ];
  }

  dispose(): void {
    for (const of of this.types.values()) vscode.Disposable.from(...Object.values(of)).dispose();
    vscode.Disposable.from(...this.parts).dispose();
  }

  private paintAll(): void {
    for (const editor of vscode.window.visibleTextEditors) this.paint(editor);
  }

  private paint(editor: vscode.TextEditor): void {
    const known = this.known.of(editor.document);
    if (known === undefined && this.visibility.marks && this.known.isAwaited(editor.document)) return; // what is painted moves with the text
    const wanted = known !== undefined && this.visibility.marks ? this.runsOf(known) : new Map<vscode.TextEditorDecorationType, Lines[]>();
    const painted = this.painted.get(editor) ?? new Map<vscode.TextEditorDecorationType, string | undefined>();
    this.painted.set(editor, painted);
    // What comes before what goes: a line that changes its mark is never without one.
    for (const type of new Set([...wanted.keys(), ...painted.keys()])) {
      const runs = wanted.get(type) ?? [];
      const key = runs.map(({ lineStart, lineEnd }) => `${lineStart}-${lineEnd}`).join();
      if (painted.has(type) && painted.get(type) === key) continue; // the way to the window is long
      painted.set(type, key);
      editor.setDecorations(
        type,
        runs.map(({ lineStart, lineEnd }) => new vscode.Range(lineStart - 1, 0, lineEnd - 1, 0)),
      );
    }
  }

  private lose(document: vscode.TextDocument): void {
    for (const editor of vscode.window.visibleTextEditors) {
      if (editor.document !== document) continue;
      const painted = this.painted.get(editor);
      for (const type of painted?.keys() ?? []) painted?.set(type, undefined);
    }
  }

  private runsOf(known: Provenance): Map<vscode.TextEditorDecorationType, Lines[]> {
    const found = new Map<vscode.TextEditorDecorationType, Lines[]>();
    for (const placement of known.placements) {
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
    const look = this.visibility.byModel ? this.lookOfModel(placement.model.name ?? '') : BANDS[placement.band ?? 'none'];
    let types = this.types.get(look);
    if (types === undefined) {
      types = {
        first: decorationOf(look, 'first'),
        firstClaimed: decorationOf(look, 'firstClaimed'),
        ai: decorationOf(look, 'ai'),
        claimed: decorationOf(look, 'claimed'),
        edited: decorationOf(look, 'edited'),
      };
      this.types.set(look, types);
    }
    return types;
  }

  private lookOfModel(name: string): Look {
    let look = this.models.get(name);
    if (look === undefined) {
      look = MODELS[this.models.size % MODELS.length] ?? BANDS.none;
      this.models.set(name, look);
    }
    return look;
  }
}

/** Returns what is painted along the lines of a placement: its first line apart, and nothing along a person's. */
export function partsOf(runs: readonly Run[]): [Part, Lines][] {
  const parts: [Part, Lines][] = [];
  for (const { lineStart, lineEnd, kind } of runs) {
    if (kind === 'human') continue;
    const isFirst = parts.length === 0;
    if (isFirst) parts.push([kind === 'claimed' ? 'firstClaimed' : 'first', { lineStart, lineEnd: lineStart }]);
    const start = isFirst ? lineStart + 1 : lineStart;
    if (start <= lineEnd) parts.push([kind, { lineStart: start, lineEnd }]);
  }
  return parts;
}
