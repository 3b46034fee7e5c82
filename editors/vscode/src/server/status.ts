// The language status item of the server, a warning about its version, and the offer to install it.

import * as vscode from 'vscode';
import { findTrails } from '../trails';
import { installServer } from './installation';
import type { Server } from './server';
import { incompatibility, OLDEST } from './version';

export function watchServer(server: Server, installer: Installer): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem('vibes.server', [{ scheme: 'file' }]);
  item.name = 'VIBES';
  item.command = { command: 'vibes.ui.showLog', title: 'Show Log' };
  const show = () => {
    updateItem(item, server);
    void vscode.commands.executeCommand('setContext', 'vibes.running', server.state === 'running');
    void vscode.commands.executeCommand('setContext', 'vibes.missing', server.state === 'missing');
    if (server.state === 'running') void completeWalkthroughStep();
    if (server.state === 'missing') void installer.offer();
    if (server.state === 'failed' && server.program === undefined) void reportWrongSetting(server);
  };
  show();
  const walkthroughListener = vscode.window.tabGroups.onDidChangeTabs(({ opened }) => {
    if (server.state === 'running' && opened.some(({ input }) => input === undefined)) void completeWalkthroughStep(); // a walkthrough tab has no typed input
  });
  return vscode.Disposable.from(item, server.onDidChangeState(show), walkthroughListener, ...showTrustStatus());
}

/** Completes the walkthrough's first step. VS Code completes a step when its context becomes true, not if it was true at load time. */
async function completeWalkthroughStep(): Promise<void> {
  for (const value of [true, false]) await vscode.commands.executeCommand('setContext', 'vibes.justFound', value);
}

/** Shows a status item until the workspace is trusted. */
function showTrustStatus(): { dispose(): unknown }[] {
  if (vscode.workspace.isTrusted) return [];
  const item = vscode.languages.createLanguageStatusItem('vibes.trust', [{ scheme: 'file' }]);
  item.name = 'VIBES trust';
  item.text = 'no server of this workspace is started';
  item.detail = 'not trusted';
  item.command = { command: 'workbench.trust.manage', title: 'Manage' };
  return [item, vscode.workspace.onDidGrantWorkspaceTrust(() => item.dispose())];
}

function updateItem(item: vscode.LanguageStatusItem, server: Server): void {
  const mismatch = server.state === 'running' ? incompatibility(server.version) : undefined;
  item.busy = server.state === 'starting';
  item.text = `vibes-lsp ${server.state === 'running' ? (server.version ?? '') : server.state}`;
  item.detail = mismatch ?? server.failure ?? server.program?.origin ?? '';
  item.severity =
    mismatch !== undefined
      ? vscode.LanguageStatusSeverity.Warning
      : server.state === 'failed' || server.state === 'missing'
        ? vscode.LanguageStatusSeverity.Error
        : vscode.LanguageStatusSeverity.Information;
  if (mismatch !== undefined) void vscode.window.showWarningMessage(`VIBES: ${server.program?.command ?? 'the server'} ${mismatch}.`);
}

/** Reports a setting that names no program. The client library reports a program that does not start. */
async function reportWrongSetting(server: Server): Promise<void> {
  const answer = await vscode.window.showErrorMessage(`VIBES: ${server.failure ?? 'the server was not found'}.`, 'Open Settings');
  if (answer) await vscode.commands.executeCommand('workbench.action.openSettings', 'vibes.server');
}

/** Offers to install the server: once automatically, and whenever a user command needs it. */
export class Installer {
  private isOffered = false;

  constructor(private readonly server: Server) {}

  async offer(): Promise<void> {
    if (this.isOffered && !this.server.isUserRequested) return;
    this.isOffered = true;
    const hasTrail = (await findTrails()).length > 0;
    const elsewhere = vscode.workspace.isTrusted ? '' : ' outside this workspace, which is not trusted';
    const missing = `${hasTrail ? 'this folder has an audit trail, but ' : ''}vibes-lsp was not found${elsewhere}`;
    const question = `VIBES: ${missing}. Install it into an environment of its own?`;
    if ((await vscode.window.showInformationMessage(question, 'Install', 'Not now')) === 'Install') await this.install();
  }

  /** Installs and starts the server. On failure, shows the error and starts the previous server, if any. */
  async install(): Promise<void> {
    this.isOffered = true;
    try {
      await this.server.replaceProgram(() => installServer(this.server.environment, OLDEST, this.server.log));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const answer = await vscode.window.showErrorMessage(`VIBES: the server was not installed: ${reason}`, 'Show Log');
      if (answer) this.server.log.show();
    }
  }
}
