// What of ours is to be seen: the settings, and the user's wish to have it all out of sight for a while.

import * as vscode from 'vscode';

export type LineText = 'off' | 'line' | 'all';

interface Chosen {
  marks: boolean;
  byModel: boolean;
  lineText: LineText;
  statusBar: boolean;
}

export class Visibility implements vscode.Disposable {
  private hidden = false;
  private chosen = chosenNow();
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly watching = vscode.workspace.onDidChangeConfiguration((event) => {
    if (!event.affectsConfiguration('vibes')) return;
    this.chosen = chosenNow();
    this.changes.fire();
  });

  readonly onDidChange = this.changes.event;

  get isHidden(): boolean {
    return this.hidden;
  }

  get marks(): boolean {
    return !this.hidden && this.chosen.marks;
  }

  get byModel(): boolean {
    return this.chosen.byModel;
  }

  get lineText(): LineText {
    return this.hidden ? 'off' : this.chosen.lineText;
  }

  get statusBar(): boolean {
    return this.chosen.statusBar;
  }

  /** Hides marks and text at line ends, or shows them again. */
  toggle(): void {
    this.hidden = !this.hidden;
    this.changes.fire();
  }

  async cycleLineText(): Promise<void> {
    const next: Record<LineText, LineText> = { off: 'line', line: 'all', all: 'off' };
    this.hidden = false;
    await vscode.workspace.getConfiguration('vibes').update('lineText', next[this.lineText], vscode.ConfigurationTarget.Global);
  }

  dispose(): void {
    this.watching.dispose();
    this.changes.dispose();
  }
}

/** Returns the settings as they are: painting asks for them line by line. */
function chosenNow(): Chosen {
  const settings = vscode.workspace.getConfiguration('vibes');
  return {
    marks: settings.get('marks.enable', true),
    byModel: settings.get<string>('marks.by', 'band') === 'model',
    lineText: settings.get<LineText>('lineText', 'line'),
    statusBar: settings.get('statusBar.enable', true),
  };
}
