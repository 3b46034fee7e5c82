// The status bar item: verified and claimed AI share of the file, and the number of annotations to review in it.
// The tooltip counts lines by model; a click opens the menu.

import * as vscode from 'vscode';
import type { Kind, Provenance } from './protocol';
import type { ProvenanceCache } from './provenance';
import { plain } from './text';
import type { Visibility } from './visibility';

const MAX_MODELS = 8;

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('vibes.share', vscode.StatusBarAlignment.Right, 90);
  private readonly disposables: { dispose(): unknown }[];

  constructor(
    private readonly cache: ProvenanceCache,
    private readonly visibility: Visibility,
  ) {
    this.item.name = 'VIBES';
    this.item.command = 'vibes.ui.menu';
    this.disposables = [
      this.item,
      cache.onDidChange((document) => {
        if (document === vscode.window.activeTextEditor?.document) this.show();
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.show()),
      visibility.onDidChange(() => this.show()),
    ];
    this.show();
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private show(): void {
    const document = vscode.window.activeTextEditor?.document;
    if (document?.uri.scheme === 'output') return; // focus is in an output channel
    const provenance = document && this.cache.get(document);
    if (document !== undefined && provenance === undefined && this.cache.isPending(document)) return;
    if (document === undefined || provenance === undefined || provenance.placements.length === 0 || !this.visibility.statusBar) {
      this.item.hide();
      return;
    }
    const summary = summaryOf(provenance, linesOf(document));
    this.item.text = `$(${this.visibility.isHidden ? 'eye-closed' : 'sparkle'}) ${summary.text}`;
    this.item.tooltip = tooltipOf(summary);
    this.item.accessibilityInformation = { label: `${summary.sentence}. Opens a menu.` };
    this.item.show();
  }
}

/** Returns the short text, the sentence of the tooltip, and the AI lines of each model, most first. Only verified lines count as the share. */
export function summaryOf({ placements }: Pick<Provenance, 'placements'>, total: number) {
  const counts: Record<Kind, number> = { ai: 0, claimed: 0, edited: 0 };
  const byModel = new Map<string, number>();
  for (const { runs, model } of placements) {
    for (const { lineStart, lineEnd, kind } of runs) {
      const lines = lineEnd - lineStart + 1;
      counts[kind] += lines;
      const name = plain(model.name ?? 'unknown model', 60);
      byModel.set(name, (byModel.get(name) ?? 0) + lines);
    }
  }
  const percent = (count: number) => Math.round((100 * count) / Math.max(1, total));
  const waiting = placements.filter(({ waits }) => waits).length;
  const claimed = counts.claimed === 0 ? '' : ` · ${percent(counts.claimed)}% claimed`;
  const review = waiting === 0 ? '' : ` · ${waiting} to review`;
  const lines = `${counts.ai} of ${total} lines are verified as an AI's, ${counts.claimed} only claimed, ${counts.edited} edited since`;
  return {
    text: `AI ${percent(counts.ai)}%${claimed}${review}`,
    sentence: `${lines}; edits to review: ${waiting}`,
    models: [...byModel].sort((one, other) => other[1] - one[1]),
  };
}

function tooltipOf({ sentence, models }: ReturnType<typeof summaryOf>): vscode.MarkdownString {
  const tooltip = new vscode.MarkdownString(`${sentence}.\n\n`);
  for (const [name, lines] of models.slice(0, MAX_MODELS)) {
    tooltip
      .appendMarkdown('- ')
      .appendText(`${name}: ${lines} ${lines === 1 ? 'line' : 'lines'}`)
      .appendMarkdown('\n');
  }
  if (models.length > MAX_MODELS) tooltip.appendMarkdown(`- ${models.length - MAX_MODELS} more\n`);
  return tooltip.appendMarkdown('\nClick for a menu.');
}

/** Returns the number of lines, without the empty one after a final line end. */
function linesOf(document: vscode.TextDocument): number {
  const isEndEmpty = document.lineCount > 1 && document.lineAt(document.lineCount - 1).text === '';
  return document.lineCount - (isEndEmpty ? 1 : 0);
}
