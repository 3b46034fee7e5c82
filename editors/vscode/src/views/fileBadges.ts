// Badges in the Explorer: how many annotations of a file wait for a review, or the AI's share of its lines. Off by default.

import * as vscode from 'vscode';
import type { FileSummary } from '../protocol';
import type { Server } from '../server/server';
import { TrailWatch } from '../trails';

export type Badge = 'off' | 'waiting' | 'share';

/** Milliseconds in which the files that come into view are asked for in one request. */
const BATCH_DELAY = 50;
const REFRESH_DELAY = 500;

export class FileBadges implements vscode.FileDecorationProvider, vscode.Disposable {
  private badge = readSetting();
  private registration: vscode.Disposable | undefined;
  private batch: Promise<Map<string, FileSummary>> | undefined;
  private uris: string[] = [];
  private timer: NodeJS.Timeout | undefined;
  private readonly changes = new vscode.EventEmitter<undefined>();
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeFileDecorations = this.changes.event;

  constructor(private readonly server: Server) {
    this.disposables = [
      this.changes,
      new TrailWatch(() => this.refreshSoon()),
      server.onDidChangeState(() => this.refreshSoon()),
      server.onDidFinishReading(() => this.refreshSoon()),
      server.onDidChangeProvenance((uri) => {
        const isEdited = vscode.workspace.textDocuments.some((each) => each.isDirty && each.uri.toString() === uri);
        if (!isEdited) this.refreshSoon(); // the numbers are about saved text
      }),
      vscode.workspace.onDidSaveTextDocument(() => this.refreshSoon()),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (!event.affectsConfiguration('vibes.explorer.badge')) return;
        this.badge = readSetting();
        this.registration?.dispose();
        this.registration = undefined;
        this.register();
      }),
    ];
    this.register();
  }

  async provideFileDecoration(uri: vscode.Uri): Promise<vscode.FileDecoration | undefined> {
    if (uri.scheme !== 'file' || this.server.state !== 'running') return undefined;
    const protocolUri = this.server.toProtocolUri(uri);
    this.uris.push(protocolUri);
    const summary = (await (this.batch ??= this.request())).get(protocolUri);
    return summary && decorationOf(summary, this.badge);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.registration?.dispose();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private register(): void {
    if (this.badge !== 'off') this.registration = vscode.window.registerFileDecorationProvider(this);
  }

  private refreshSoon(): void {
    if (this.badge === 'off') return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.changes.fire(undefined), REFRESH_DELAY); // VS Code asks again for the files in view
  }

  private async request(): Promise<Map<string, FileSummary>> {
    await new Promise((resolve) => setTimeout(resolve, BATCH_DELAY));
    const uris = this.uris;
    this.uris = [];
    this.batch = undefined;
    try {
      const { files } = await this.server.run<{ files: FileSummary[] }>('vibes.files', { uris });
      return new Map(files.map((file) => [file.uri, file]));
    } catch (error) {
      this.server.log.debug(`no badges: ${String(error)}`); // while a large trail is read; `onDidFinishReading` follows
      return new Map();
    }
  }
}

/** Returns the decoration of a file; undefined if it has nothing to say. A badge has room for two characters; a number alone is one of problems. */
export function decorationOf({ waiting, band, share, verifiedLines, claimedLines, lines }: FileSummary, badge: Badge) {
  const percent = Math.round(100 * share);
  if (badge === 'share') {
    const claimed = claimedLines === 0 ? '' : `, ${claimedLines} only claimed`;
    const shown = percent > 99 ? 'AI' : String(percent);
    return new vscode.FileDecoration(shown, `${percent}% AI: ${verifiedLines} of ${lines} lines verified${claimed}`);
  }
  if (badge === 'off' || waiting === 0) return undefined;
  const risk = band === null ? '' : `, risk up to ${band}`;
  const colour = band === 'high' || band === 'critical' ? new vscode.ThemeColor(`vibes.band.${band}`) : undefined;
  return new vscode.FileDecoration(
    `✦${waiting > 9 ? '+' : waiting}`,
    `${waiting} AI ${waiting === 1 ? 'edit' : 'edits'} to review${risk}`,
    colour,
  );
}

function readSetting(): Badge {
  return vscode.workspace.getConfiguration('vibes').get<Badge>('explorer.badge', 'off');
}
