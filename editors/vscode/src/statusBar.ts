// The status bar: the verified share of the AI in the file, what is only claimed, and how much unreviewed risk is in it.
// A click hides and shows the marks.

import * as vscode from 'vscode';
import type { Kind, Provenance } from './protocol';
import type { KnownProvenance } from './provenance';
import type { Visibility } from './visibility';

export class StatusBar implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('vibes.share', vscode.StatusBarAlignment.Right, 90);
  private readonly parts: { dispose(): unknown }[];

  constructor(
    private readonly known: KnownProvenance,
    private readonly visibility: Visibility,
  ) {
    this.item.name = 'VIBES';
    this.item.command = 'vibes.ui.toggleMarks';
    this.parts = [
      this.item,
      known.onDidChange((document) => {
        if (document === vscode.window.activeTextEditor?.document) this.show();
      }),
      vscode.window.onDidChangeActiveTextEditor(() => this.show()),
      visibility.onDidChange(() => this.show()),
    ];
    this.show();
  }

  dispose(): void {
    vscode.Disposable.from(...this.parts).dispose();
  }

  private show(): void {
    const document = vscode.window.activeTextEditor?.document;
    if (document?.uri.scheme === 'output') return; // the log beside the file
    const known = document && this.known.of(document);
    if (document !== undefined && known === undefined && this.known.isAwaited(document)) return;
    if (document === undefined || known === undefined || known.placements.length === 0 || !this.visibility.statusBar) {
      this.item.hide();
      return;
    }
    const { text, sentence } = wordsOf(known, linesOf(document));
    this.item.text = `$(${this.visibility.isHidden ? 'eye-closed' : 'sparkle'}) ${text}`;
    this.item.tooltip = `${sentence}.\nClick to ${this.visibility.isHidden ? 'show' : 'hide'} the marks.`;
    this.item.accessibilityInformation = { label: sentence };
    this.item.show();
  }
}

/** Returns what the status bar says, in short and for the tooltip: only verified lines count in the share. */
export function wordsOf({ placements }: Pick<Provenance, 'placements'>, total: number) {
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

/** Returns the number of lines; what follows the last line end is none if it is empty. */
function linesOf(document: vscode.TextDocument): number {
  const isEndEmpty = document.lineCount > 1 && document.lineAt(document.lineCount - 1).text === '';
  return document.lineCount - (isEndEmpty ? 1 : 0);
}
