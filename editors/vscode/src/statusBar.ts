// The status bar item: verified and claimed AI share of the file, and the number of unreviewed ranges of high or critical risk.
// A click hides or shows the marks.

import * as vscode from 'vscode';
import type { Kind, Provenance } from './protocol';
import type { ProvenanceCache } from './provenance';
import type { Visibility } from './visibility';

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('vibes.share', vscode.StatusBarAlignment.Right, 90);
  private readonly disposables: { dispose(): unknown }[];

  constructor(
    private readonly cache: ProvenanceCache,
    private readonly visibility: Visibility,
  ) {
    this.item.name = 'VIBES';
    this.item.command = 'vibes.ui.toggleMarks';
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
    const { text, sentence } = summaryOf(provenance, linesOf(document));
    this.item.text = `$(${this.visibility.isHidden ? 'eye-closed' : 'sparkle'}) ${text}`;
    this.item.tooltip = `${sentence}.\nClick to ${this.visibility.isHidden ? 'show' : 'hide'} the marks.`;
    this.item.accessibilityInformation = { label: sentence };
    this.item.show();
  }
}

/** Returns the short text and the tooltip sentence. Only verified lines count towards the AI share. */
export function summaryOf({ placements }: Pick<Provenance, 'placements'>, total: number) {
  const counts: Record<Kind, number> = { ai: 0, claimed: 0, edited: 0, human: 0 };
  for (const { runs } of placements) {
    for (const { lineStart, lineEnd, kind } of runs) counts[kind] += lineEnd - lineStart + 1;
  }
  const percent = (count: number) => Math.round((100 * count) / Math.max(1, total));
  const risky = placements.filter(({ waits, band }) => waits && (band === 'high' || band === 'critical')).length;
  const claimed = counts.claimed === 0 ? '' : ` · ${percent(counts.claimed)}% claimed`;
  const waiting = risky === 0 ? '' : ` · ${risky} to review`;
  const lines = `${counts.ai} of ${total} lines are verified as an AI's, ${counts.claimed} only claimed, ${counts.edited} edited since`;
  return {
    text: `AI ${percent(counts.ai)}%${claimed}${waiting}`,
    sentence: `${lines}; unreviewed ranges of high or critical risk: ${risky}`,
  };
}

/** Returns the number of lines, without the empty one after a final line end. */
function linesOf(document: vscode.TextDocument): number {
  const isEndEmpty = document.lineCount > 1 && document.lineAt(document.lineCount - 1).text === '';
  return document.lineCount - (isEndEmpty ? 1 : 0);
}
