// What of ours is to be seen: the settings, and the user's wish to have it all out of sight for a while.

import * as vscode from 'vscode';

export type LineText = 'off' | 'line' | 'all';

export class Visibility implements vscode.Disposable {
  private hidden = false;
  private settings = vscode.workspace.getConfiguration('vibes');
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly watching = vscode.workspace.onDidChangeConfiguration((event) => {
    if (!event.affectsConfiguration('vibes')) return;
    this.settings = vscode.workspace.getConfiguration('vibes');
    this.changes.fire();
  });

  readonly onDidChange = this.changes.event;

  get isHidden(): boolean {
    return this.hidden;
  }

  get marks(): boolean {
    return !this.hidden && this.settings.get('marks.enable', true);
  }

  get byModel(): boolean {
    return this.settings.get<string>('marks.by', 'band') === 'model';
  }

  get lineText(): LineText {
    return this.hidden ? 'off' : this.settings.get<LineText>('lineText', 'line');
  }

  get statusBar(): boolean {
    return this.settings.get('statusBar.enable', true);
  }

  /** Hides marks and text at line ends, or shows them again. */
  toggle(): void {
    this.hidden = !this.hidden;
    this.changes.fire();
  }

  async cycleLineText(): Promise<void> {
    const next: Record<LineText, LineText> = { off: 'line', line: 'all', all: 'off' };
    this.hidden = false;
    await this.settings.update('lineText', next[this.lineText], vscode.ConfigurationTarget.Global);
  }

  dispose(): void {
    this.watching.dispose();
    this.changes.dispose();
  }
}
