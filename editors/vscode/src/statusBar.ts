// The status bar: the AI's share of the file, and how much unreviewed risk is in it. A click hides and shows the marks.

import * as vscode from 'vscode';
import type { Provenance } from './protocol';
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
    const { share, written, total, risky } = figures(known, document);
    const waiting = risky === 0 ? '' : ` · ${risky} to review`;
    this.item.text = `$(${this.visibility.isHidden ? 'eye-closed' : 'sparkle'}) AI ${share}%${waiting}`;
    const sentence = `An AI wrote ${written} of ${total} lines; unreviewed ranges of high or critical risk: ${risky}`;
    this.item.tooltip = `${sentence}.\nClick to ${this.visibility.isHidden ? 'show' : 'hide'} the marks.`;
    this.item.accessibilityInformation = { label: sentence };
    this.item.show();
  }
}

function figures(known: Provenance, document: vscode.TextDocument) {
  const runs = known.placements.flatMap((each) => each.runs).filter(({ kind }) => kind !== 'human');
  const written = runs.reduce((sum, { lineStart, lineEnd }) => sum + lineEnd - lineStart + 1, 0);
  const isEndEmpty = document.lineCount > 1 && document.lineAt(document.lineCount - 1).text === '';
  const total = document.lineCount - (isEndEmpty ? 1 : 0);
  const risky = known.placements.filter(({ waits, band }) => waits && (band === 'high' || band === 'critical'));
  return { share: Math.round((100 * written) / Math.max(1, total)), written, total, risky: risky.length };
}
