// Marks in gutter and overview ruler: a shape on the first line of a range, a bar along its lines, dashed where they were edited.

import * as vscode from 'vscode';
import type { Placement, Provenance } from '../protocol';
import type { KnownProvenance } from '../provenance';
import type { Visibility } from '../visibility';
import { BANDS, decorationOf, MODELS, type Look, type Part } from './shapes';

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
    const wanted =
      known !== undefined && this.visibility.marks ? this.linesOf(known) : new Map<vscode.TextEditorDecorationType, number[]>();
    const painted = this.painted.get(editor) ?? new Map<vscode.TextEditorDecorationType, string | undefined>();
    this.painted.set(editor, painted);
    // What comes before what goes: a line that changes its mark is never without one.
    for (const type of new Set([...wanted.keys(), ...painted.keys()])) {
      const lines = wanted.get(type) ?? [];
      const key = lines.join();
      if (painted.has(type) && painted.get(type) === key) continue; // the way to the window is long
      painted.set(type, key);
      editor.setDecorations(
        type,
        lines.map((line) => new vscode.Range(line - 1, 0, line - 1, 0)),
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

  private linesOf(known: Provenance): Map<vscode.TextEditorDecorationType, number[]> {
    const found = new Map<vscode.TextEditorDecorationType, number[]>();
    const placements = new Map(known.placements.map((placement) => [placement.annotationId, placement]));
    const begun = new Set<string>();
    for (const { line, annotationId, kind } of known.lines ?? []) {
      const placement = placements.get(annotationId);
      if (placement === undefined || kind === 'human') continue;
      const type = this.typesOf(placement)[begun.has(annotationId) ? kind : 'first'];
      begun.add(annotationId);
      const lines = found.get(type) ?? [];
      lines.push(line);
      found.set(type, lines);
    }
    return found;
  }

  private typesOf(placement: Placement): Record<Part, vscode.TextEditorDecorationType> {
    const look = this.visibility.byModel ? this.lookOfModel(placement.model.name ?? '') : BANDS[placement.band ?? 'none'];
    let types = this.types.get(look);
    if (types === undefined) {
      types = { first: decorationOf(look, 'first'), ai: decorationOf(look, 'ai'), edited: decorationOf(look, 'edited') };
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
