// What is shown: the user's settings, and the command that hides all marks temporarily.

import * as vscode from 'vscode';

export type LineText = 'off' | 'line' | 'all';

interface VisibilitySettings {
  marks: boolean;
  byModel: boolean;
  lineText: LineText;
  statusBar: boolean;
}

export class Visibility implements vscode.Disposable {
  private hidden = false;
  private settings = readSettings();
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly settingsListener = vscode.workspace.onDidChangeConfiguration((event) => {
    if (!event.affectsConfiguration('vibes')) return;
    this.settings = readSettings();
    this.changes.fire();
  });

  readonly onDidChange = this.changes.event;

  get isHidden(): boolean {
    return this.hidden;
  }

  get marks(): boolean {
    return !this.hidden && this.settings.marks;
  }

  get byModel(): boolean {
    return this.settings.byModel;
  }

  get lineText(): LineText {
    return this.hidden ? 'off' : this.settings.lineText;
  }

  get statusBar(): boolean {
    return this.settings.statusBar;
  }

  /** Hides or shows marks and line-end text. */
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
    this.settingsListener.dispose();
    this.changes.dispose();
  }
}

/** Reads the settings once: rendering uses them for every line. */
function readSettings(): VisibilitySettings {
  const settings = vscode.workspace.getConfiguration('vibes');
  return {
    marks: settings.get('marks.enable', true),
    byModel: settings.get<string>('marks.by', 'band') === 'model',
    lineText: settings.get<LineText>('lineText', 'line'),
    statusBar: settings.get('statusBar.enable', true),
  };
}
