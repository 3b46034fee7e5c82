// Records inline completions that no extension reports, if the user enables it.
// An extension sees neither the completions of other extensions nor the editor's commands. So the key binding (package.json) runs the
// editor's accept command and then `vibes.ui.completionAccepted`: the last change before it is the completion. Tool and model are unknown.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { Recorded } from '../protocol';
import type { Server } from '../server/server';
import { recognise, type Accepted, type Change } from './recognise';

/** Milliseconds in which the completion's own extension may report it through the API. If it does, nothing is captured. */
const REPORT_DELAY = 1500;
const SETTING = 'capture.inlineCompletions';
/** Marks a record that no tool reported; the server uses the same constant. */
const CAPTURED = 'vibes:captured-low-confidence';
const UNKNOWN = 'unknown';

export class Capture implements vscode.Disposable {
  private lastChange: Change | undefined;
  private listeners: vscode.Disposable | undefined;
  private readonly pending = new Map<NodeJS.Timeout, string>();
  private readonly disposables: { dispose(): unknown }[];

  constructor(private readonly server: Server) {
    this.disposables = [
      vscode.commands.registerCommand('vibes.ui.completionAccepted', () => this.accepted()),
      vscode.commands.registerCommand('vibes.ui.toggleCapture', () => this.toggle()),
      server.onDidChangeState(() => this.update()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.update()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`vibes.${SETTING}`)) void this.update();
      }),
    ];
    void this.update();
  }

  /** Whether completions are being captured. */
  get isOn(): boolean {
    return isEnabled() && vscode.workspace.isTrusted && this.server.state === 'running';
  }

  /** Drops the pending capture of a document, because an extension has reported the completion. */
  discard(uri: vscode.Uri): void {
    const of = uri.toString();
    if (this.lastChange?.uri === of) this.lastChange = undefined;
    for (const [timer, pendingUri] of this.pending) if (pendingUri === of) this.cancel(timer);
  }

  dispose(): void {
    for (const timer of this.pending.keys()) this.cancel(timer);
    this.listeners?.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async toggle(): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage('VIBES: nothing is captured in an untrusted workspace.');
      return;
    }
    await vscode.workspace.getConfiguration('vibes').update(SETTING, !isEnabled(), vscode.ConfigurationTarget.Global);
    await this.update();
    const message = isEnabled()
      ? 'completions that you accept with Tab are recorded, marked as captured'
      : 'completions are no longer recorded';
    void vscode.window.showInformationMessage(`VIBES: ${message}.`);
  }

  /** Enables or disables the listeners and the key binding, as `isOn` requires. */
  private async update(): Promise<void> {
    const isOn = this.isOn;
    if (isOn)
      this.listeners ??= vscode.Disposable.from(
        vscode.workspace.onDidChangeTextDocument((event) => this.noteChange(event)),
        statusItem(),
      );
    else {
      this.listeners?.dispose();
      this.listeners = undefined;
      this.lastChange = undefined;
    }
    await vscode.commands.executeCommand('setContext', 'vibes.capturing', isOn);
  }

  private noteChange({ document, contentChanges, reason }: vscode.TextDocumentChangeEvent): void {
    if (document.uri.scheme !== 'file' || contentChanges.length === 0) return;
    this.lastChange = {
      uri: document.uri.toString(),
      version: document.version - 1,
      at: performance.now(),
      isUndoOrRedo: reason !== undefined,
      edits: contentChanges.map(({ range: { start, end }, text }) => ({
        range: { start: { line: start.line, character: start.character }, end: { line: end.line, character: end.character } },
        text,
      })),
    };
  }

  private accepted(): void {
    const document = vscode.window.activeTextEditor?.document;
    const found = document && recognise(this.lastChange, document.uri.toString(), performance.now());
    this.lastChange = undefined;
    if (document === undefined || found === undefined || !this.isOn) return;
    const uri = this.server.toProtocolUri(document.uri);
    const timer = setTimeout(() => {
      this.pending.delete(timer);
      void this.record({ ...found, uri });
    }, REPORT_DELAY);
    this.pending.set(timer, found.uri);
  }

  private async record(accepted: Accepted): Promise<void> {
    if (!this.isOn) return;
    const tool = { ...configuredTool(), extensions: [CAPTURED] };
    const model = { name: UNKNOWN, version: UNKNOWN };
    try {
      await this.server.run<Recorded>('vibes.recordInlineCompletion', { ...accepted, completionId: randomUUID(), tool, model });
    } catch (error) {
      this.server.log.warn(`a completion was not captured: ${String(error)}`);
    }
  }

  private cancel(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.pending.delete(timer);
  }
}

/** Returns the language status item that is shown while capture is on. */
function statusItem(): vscode.LanguageStatusItem {
  const item = vscode.languages.createLanguageStatusItem('vibes.capture', [{ scheme: 'file' }]);
  item.name = 'VIBES capture';
  item.text = 'completions are captured';
  item.command = { command: 'vibes.ui.toggleCapture', title: 'Stop' };
  return item;
}

function isEnabled(): boolean {
  return vscode.workspace.getConfiguration('vibes').get(SETTING, false);
}

/** Returns the tool of the setting `capture.tool`. The id of an installed extension becomes its name and version. */
function configuredTool(): { name: string; version: string } {
  const named = vscode.workspace.getConfiguration('vibes').get('capture.tool', '').trim();
  const manifest = vscode.extensions.getExtension(named)?.packageJSON as { displayName?: string; version?: string } | undefined;
  return { name: manifest?.displayName ?? (named || UNKNOWN), version: manifest?.version ?? UNKNOWN };
}
