// What is shown: the user's settings, and the commands that show or hide something in this window.

import * as vscode from 'vscode';
import type { Heat } from './blame/blocks';

export type LineText = 'off' | 'line' | 'all';

interface VisibilitySettings {
  marks: boolean;
  byModel: boolean;
  lineText: LineText;
  statusBar: boolean;
  blame: boolean;
  heat: Heat;
}

export class Visibility implements vscode.Disposable {
  private hidden = false;
  /** The user's last choice in this window; undefined if the setting applies. */
  private blameChoice: boolean | undefined;
  private settings = readSettings();
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly settingsListener = vscode.workspace.onDidChangeConfiguration((event) => {
    if (!event.affectsConfiguration('vibes')) return;
    if (event.affectsConfiguration('vibes.blame.enable')) this.blameChoice = undefined;
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

  /** Whether the blame column is shown. */
  get blame(): boolean {
    return !this.hidden && (this.blameChoice ?? this.settings.blame);
  }

  get heat(): Heat {
    return this.settings.heat;
  }

  /** Hides or shows marks, line-end text and the blame column. */
  toggle(): void {
    this.hidden = !this.hidden;
    this.changes.fire();
  }

  /** Shows or hides the blame column in this window. */
  toggleBlame(): void {
    this.blameChoice = !this.blame;
    this.hidden = false;
    this.changes.fire();
  }

  async cycleHeat(): Promise<void> {
    const next: Heat = this.heat === 'age' ? 'risk' : 'age';
    await vscode.workspace.getConfiguration('vibes').update('blame.heat', next, vscode.ConfigurationTarget.Global);
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
    blame: settings.get('blame.enable', false),
    heat: settings.get<Heat>('blame.heat', 'age'),
  };
}
