// What the user is told about the server: a status item, whether it is too old, and an offer to install it.

import * as vscode from 'vscode';
import { findTrails } from '../trails';
import { installServer } from './installation';
import type { Server } from './server';
import { misfit, OLDEST } from './version';

export function watchServer(server: Server, installer: Installer): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem('vibes.server', [{ scheme: 'file' }]);
  item.name = 'VIBES';
  item.command = { command: 'vibes.ui.showLog', title: 'Show Log' };
  const show = () => {
    tell(item, server);
    void vscode.commands.executeCommand('setContext', 'vibes.running', server.life === 'running');
    void vscode.commands.executeCommand('setContext', 'vibes.missing', server.life === 'missing');
    if (server.life === 'running') void tick();
    if (server.life === 'missing') void installer.offer();
    if (server.life === 'failed' && server.program === undefined) void sayWhatIsWrong(server);
  };
  show();
  const tickOnceSeen = vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
    if (server.life === 'running' && opened.some(({ input }) => input === undefined)) void tick(); // a walkthrough is a tab of no known kind
  });
  return vscode.Disposable.from(item, server.onDidChangeLife(show), tickOnceSeen, ...sayWhatIsRestricted());
}

/** Ticks the walkthrough's first step: by a context that becomes true, since what was true when the walkthrough was read in ticks nothing. */
async function tick(): Promise<void> {
  for (const isSo of [true, false]) await vscode.commands.executeCommand('setContext', 'vibes.justFound', isSo);
}

/** Says, until the workspace is trusted, what it may not do. */
function sayWhatIsRestricted(): { dispose(): unknown }[] {
  if (vscode.workspace.isTrusted) return [];
  const item = vscode.languages.createLanguageStatusItem('vibes.trust', [{ scheme: 'file' }]);
  item.name = 'VIBES trust';
  item.text = 'no server of this workspace is started';
  item.detail = 'not trusted';
  item.command = { command: 'workbench.trust.manage', title: 'Manage' };
  return [item, vscode.workspace.onDidGrantWorkspaceTrust(() => item.dispose())];
}

function tell(item: vscode.LanguageStatusItem, server: Server): void {
  const wrong = server.life === 'running' ? misfit(server.version) : undefined;
  item.busy = server.life === 'starting';
  item.text = `vibes-lsp ${server.life === 'running' ? (server.version ?? '') : server.life}`;
  item.detail = wrong ?? server.failure ?? server.program?.origin ?? '';
  item.severity =
    wrong !== undefined
      ? vscode.LanguageStatusSeverity.Warning
      : server.life === 'failed' || server.life === 'missing'
        ? vscode.LanguageStatusSeverity.Error
        : vscode.LanguageStatusSeverity.Information;
  if (wrong !== undefined) void vscode.window.showWarningMessage(`VIBES: ${server.program?.command ?? 'the server'} ${wrong}.`);
}

/** Tells of a setting that names no program; a program that does not start is the client library's to tell of. */
async function sayWhatIsWrong(server: Server): Promise<void> {
  const answer = await vscode.window.showErrorMessage(`VIBES: ${server.failure ?? 'the server was not found'}.`, 'Open Settings');
  if (answer) await vscode.commands.executeCommand('workbench.action.openSettings', 'vibes.server');
}

/** Offers to install the server: by itself once, and whenever the user asks for something that it is needed for. */
export class Installer {
  private isOffered = false;

  constructor(private readonly server: Server) {}

  async offer(): Promise<void> {
    if (this.isOffered && !this.server.isAskedFor) return;
    this.isOffered = true;
    const hasTrail = (await findTrails()).length > 0;
    const elsewhere = vscode.workspace.isTrusted ? '' : ' outside this workspace, which is not trusted';
    const missing = `${hasTrail ? 'this folder has an audit trail, but ' : ''}vibes-lsp was not found${elsewhere}`;
    const question = `VIBES: ${missing}. Install it into an environment of its own?`;
    if ((await vscode.window.showInformationMessage(question, 'Install', 'Not now')) === 'Install') await this.install();
  }

  /** Installs the server and starts it, or the one that was there; says what went wrong, and does not offer it again by itself. */
  async install(): Promise<void> {
    this.isOffered = true;
    try {
      await this.server.renew(() => installServer(this.server.own, OLDEST, this.server.log));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const answer = await vscode.window.showErrorMessage(`VIBES: the server was not installed: ${reason}`, 'Show Log');
      if (answer) this.server.log.show();
    }
  }
}
