// Off unless the user asks for it: records completions that are accepted with the key for it and that nobody tells of.
// An extension sees neither other makers' completions nor the editor's commands. So the key's binding (package.json) runs the editor's
// own command and then one of ours: what changed just before is what was accepted. Whose it was, and which model's, cannot be known.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { Recorded } from '../protocol';
import type { Server } from '../server/server';
import { recognise, type Accepted, type Change } from './recognising';

/** Milliseconds within which the maker of a completion may tell of it through our interface; then nothing is captured. */
const GRACE = 1500;
const SETTING = 'capture.inlineCompletions';
/** Marks records that no tool told of; the server knows it, too. */
const CAPTURED = 'vibes:captured-low-confidence';
const UNKNOWN = 'unknown';

export class Capture implements vscode.Disposable {
  private last: Change | undefined;
  private watching: vscode.Disposable | undefined;
  private readonly waiting = new Map<NodeJS.Timeout, string>();
  private readonly parts: { dispose(): unknown }[];

  constructor(private readonly server: Server) {
    this.parts = [
      vscode.commands.registerCommand('vibes.ui.completionAccepted', () => this.accepted()),
      vscode.commands.registerCommand('vibes.ui.toggleCapture', () => this.toggle()),
      server.onDidChangeLife(() => this.follow()),
      vscode.workspace.onDidGrantWorkspaceTrust(() => this.follow()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`vibes.${SETTING}`)) void this.follow();
      }),
    ];
    void this.follow();
  }

  /** Whether completions are captured now. */
  get isOn(): boolean {
    return isWanted() && vscode.workspace.isTrusted && this.server.life === 'running';
  }

  /** Drops what may be captured in a document: an extension has just reported it. */
  told(uri: vscode.Uri): void {
    const of = uri.toString();
    if (this.last?.uri === of) this.last = undefined;
    for (const [timer, waits] of this.waiting) if (waits === of) this.cancel(timer);
  }

  dispose(): void {
    for (const timer of this.waiting.keys()) this.cancel(timer);
    this.watching?.dispose();
    vscode.Disposable.from(...this.parts).dispose();
  }

  private async toggle(): Promise<void> {
    if (!vscode.workspace.isTrusted) {
      void vscode.window.showWarningMessage('VIBES: nothing is captured in an untrusted workspace.');
      return;
    }
    await vscode.workspace.getConfiguration('vibes').update(SETTING, !isWanted(), vscode.ConfigurationTarget.Global);
    await this.follow();
    const message = isWanted() ? 'what Tab completes is recorded as “captured”' : 'completions are no longer captured';
    void vscode.window.showInformationMessage(`VIBES: ${message}.`);
  }

  /** Watches documents while it is on, and only then; the key's binding is there as long. */
  private async follow(): Promise<void> {
    const isOn = this.isOn;
    if (isOn)
      this.watching ??= vscode.Disposable.from(
        vscode.workspace.onDidChangeTextDocument((event) => this.note(event)),
        sign(),
      );
    else {
      this.watching?.dispose();
      this.watching = undefined;
      this.last = undefined;
    }
    await vscode.commands.executeCommand('setContext', 'vibes.capturing', isOn);
  }

  private note({ document, contentChanges, reason }: vscode.TextDocumentChangeEvent): void {
    if (document.uri.scheme !== 'file' || contentChanges.length === 0) return;
    this.last = {
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
    const found = document && recognise(this.last, document.uri.toString(), performance.now());
    this.last = undefined;
    if (document === undefined || found === undefined || !this.isOn) return;
    const uri = this.server.toWire(document.uri);
    const timer = setTimeout(() => {
      this.waiting.delete(timer);
      void this.record({ ...found, uri });
    }, GRACE);
    this.waiting.set(timer, found.uri);
  }

  private async record(accepted: Accepted): Promise<void> {
    if (!this.isOn) return;
    const tool = { ...toolOf(), extensions: [CAPTURED] };
    const model = { name: UNKNOWN, version: UNKNOWN };
    try {
      await this.server.run<Recorded>('vibes.recordInlineCompletion', { ...accepted, completionId: randomUUID(), tool, model });
    } catch (error) {
      this.server.log.warn(`a completion was not captured: ${String(error)}`);
    }
  }

  private cancel(timer: NodeJS.Timeout): void {
    clearTimeout(timer);
    this.waiting.delete(timer);
  }
}

/** Says in the language status, as long as it lasts, that completions are captured. */
function sign(): vscode.LanguageStatusItem {
  const item = vscode.languages.createLanguageStatusItem('vibes.capture', [{ scheme: 'file' }]);
  item.name = 'VIBES capture';
  item.text = 'completions are captured';
  item.command = { command: 'vibes.ui.toggleCapture', title: 'Stop' };
  return item;
}

function isWanted(): boolean {
  return vscode.workspace.getConfiguration('vibes').get(SETTING, false);
}

/** Returns the tool that the user named; of an extension that is installed, its name and version. */
function toolOf(): { name: string; version: string } {
  const named = vscode.workspace.getConfiguration('vibes').get('capture.tool', '').trim();
  const manifest = vscode.extensions.getExtension(named)?.packageJSON as { displayName?: string; version?: string } | undefined;
  return { name: manifest?.displayName ?? (named || UNKNOWN), version: manifest?.version ?? UNKNOWN };
}
