// The attestation of a trail: its trust tier in the status bar, and the commands that verify and attest.

import * as vscode from 'vscode';
import { Cancelled, register, showDone } from './commands/register';
import type { Server } from './server/server';
import { plain } from './text';

const REFRESH_DELAY = 500;
const FILES = '**/.ai-audit/{attestation.json,attestation.intoto.jsonl,config.json}';

/** The members of a result of `vibes.verify` that this client reads. */
export interface Verification {
  attested: boolean;
  tier: string;
  holds: boolean;
  summary: string;
}

/** The members of a result of `vibes.attest` that this client reads. */
interface Attesting {
  attested: boolean;
  public?: { texts: { type: string }[]; paths: string[]; people: string[]; possibleSecrets: string[] };
}

/** Shows the tier of the trail of the active file; a click opens the report. Nothing where there is no attestation. */
export class AttestationStatus implements vscode.Disposable {
  private readonly item = vscode.window.createStatusBarItem('vibes.attestation', vscode.StatusBarAlignment.Right, 89);
  private readonly disposables: { dispose(): unknown }[];
  private timer: NodeJS.Timeout | undefined;

  constructor(private readonly server: Server) {
    this.item.name = 'VIBES attestation';
    this.item.command = 'vibes.ui.verify';
    const watcher = vscode.workspace.createFileSystemWatcher(FILES);
    const refresh = () => this.refreshSoon();
    this.disposables = [
      this.item,
      watcher,
      ...[watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete].map((event) => event(refresh)),
      server.onDidChangeState(refresh),
      vscode.window.onDidChangeActiveTextEditor(refresh),
      vscode.window.onDidChangeWindowState(({ focused }) => (focused ? refresh() : undefined)),
      registerAttestationCommands(server, refresh),
    ];
    this.refreshSoon();
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private refreshSoon(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), REFRESH_DELAY);
  }

  private async refresh(): Promise<void> {
    if (this.server.state !== 'running') {
      this.item.hide();
      return;
    }
    try {
      this.show(await this.server.run<Verification>('vibes.verify', subject(this.server)));
    } catch (error) {
      this.server.log.debug(`vibes.verify: ${String(error)}`); // a file outside of every trail
      this.item.hide();
    }
  }

  private show(found: Verification): void {
    if (!found.attested) {
      this.item.hide();
      return;
    }
    const { icon, text } = statusOf(found);
    const summary = plain(found.summary, 300);
    this.item.text = `$(${icon}) ${text}`;
    this.item.tooltip = `Audit trail: ${summary}.\nClick for the report.`;
    this.item.accessibilityInformation = { label: `Audit trail: ${summary}. Opens the report.` };
    this.item.backgroundColor = found.holds ? undefined : new vscode.ThemeColor('statusBarItem.warningBackground');
    this.item.show();
  }
}

/** Returns icon and text of the status bar item. */
export function statusOf({ tier, holds }: Pick<Verification, 'tier' | 'holds'>): { icon: string; text: string } {
  if (!holds) return { icon: 'warning', text: 'attestation does not hold' };
  return tier === 'none' ? { icon: 'unverified', text: 'attestation not verified' } : { icon: 'verified', text: plain(tier, 40) };
}

function registerAttestationCommands(server: Server, refresh: () => void): vscode.Disposable {
  return vscode.Disposable.from(
    register('vibes.ui.verify', server, async () => {
      const { attested } = await server.run<Verification>('vibes.verify', { ...subject(server), show: true });
      refresh();
      if (!attested) void offerToAttest();
    }),
    register('vibes.ui.attest', server, async () => {
      const preview = await server.run<Attesting>('vibes.attest', { ...subject(server), preview: true });
      if (preview.public === undefined) throw new Error('not attested: the audit trail has errors; see `vibes check`');
      const detail = publicationOf(preview.public);
      const sign = 'Sign';
      const chosen = await vscode.window.showInformationMessage('Sign the audit trail?', { modal: true, detail }, sign);
      if (chosen !== sign) throw new Cancelled();
      const { attested } = await server.run<Attesting>('vibes.attest', subject(server));
      if (!attested) throw new Error('not attested: the audit trail has errors; see `vibes check`');
      showDone('the audit trail is attested');
      refresh();
    }),
  );
}

/** Says that there is nothing to verify, and offers to sign the trail. */
async function offerToAttest(): Promise<void> {
  const attest = 'Attest…';
  const chosen = await vscode.window.showInformationMessage('VIBES: the audit trail is not attested.', attest);
  if (chosen === attest) await vscode.commands.executeCommand('vibes.ui.attest');
}

/** Returns the sentences that say what readers of a signed trail see. */
export function publicationOf({ texts, paths, people, possibleSecrets }: NonNullable<Attesting['public']>): string {
  const counts = new Map<string, number>();
  for (const { type } of texts) counts.set(type, (counts.get(type) ?? 0) + 1);
  const listed = [...counts].map(([type, count]) => counted(count, `${plain(type, 20)} text`));
  const seen = [...listed, counted(paths.length, 'file name'), ...(people.length > 0 ? [counted(people.length, 'reviewer name')] : [])];
  const warning =
    possibleSecrets.length > 0 ? `\n${counted(possibleSecrets.length, 'text')} may contain a secret: see \`vibes attest --dry-run\`.` : '';
  return `Readers of the trail see ${seen.join(', ')}.${warning}`;
}

function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

function subject(server: Server): { uri?: string } {
  const active = vscode.window.activeTextEditor?.document.uri;
  const uri = active?.scheme === 'file' ? active : vscode.workspace.workspaceFolders?.[0]?.uri;
  return uri === undefined ? {} : { uri: server.toProtocolUri(uri) };
}
