// The language status item of the server, a warning about its version, and the offer to install it.

import * as vscode from 'vscode';
import { findTrails } from '../trails';
import { carriedWheels, installServer } from './installation';
import { programFor, serverPath } from './location';
import type { Server } from './server';
import { incompatibility } from './version';

const CHOOSE = 'Choose Program…';
const INSTALL = 'Install';

export function watchServer(server: Server, installer: Installer): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem('vibes.server', [{ scheme: 'file' }]);
  item.name = 'VIBES';
  item.command = { command: 'vibes.ui.showLog', title: 'Show Log' };
  const show = () => {
    updateItem(item, server, installer);
    void vscode.commands.executeCommand('setContext', 'vibes.running', server.state === 'running');
    for (const state of ['missing', 'failed']) void vscode.commands.executeCommand('setContext', `vibes.${state}`, server.state === state);
    if (server.state === 'running') void completeWalkthroughStep();
    if (server.state === 'missing') void installer.offer();
    if (server.state === 'failed' && server.program === undefined) void reportWrongSetting(server, installer);
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

function updateItem(item: vscode.LanguageStatusItem, server: Server, installer: Installer): void {
  const isOwn = server.program?.command === serverPath(server.environment);
  const mismatch = server.state === 'running' ? incompatibility(server.version, isOwn ? 'install it again' : undefined) : undefined;
  item.busy = server.state === 'starting';
  item.text = `vibes-lsp ${server.state === 'running' ? (server.version ?? '') : server.state}`;
  item.detail = mismatch ?? server.failure ?? server.program?.origin ?? '';
  item.severity =
    mismatch !== undefined
      ? vscode.LanguageStatusSeverity.Warning
      : server.state === 'failed' || server.state === 'missing'
        ? vscode.LanguageStatusSeverity.Error
        : vscode.LanguageStatusSeverity.Information;
  if (mismatch !== undefined) void reportMismatch(`VIBES: ${server.program?.command ?? 'the server'} ${mismatch}.`, installer, isOwn);
}

async function reportMismatch(message: string, installer: Installer, isOwn: boolean): Promise<void> {
  const answer = await vscode.window.showWarningMessage(message, isOwn ? INSTALL : CHOOSE);
  if (answer === INSTALL) await installer.install();
  if (answer === CHOOSE) await installer.choose();
}

/** Reports a setting that names no program. The client library reports a program that does not start. */
async function reportWrongSetting(server: Server, installer: Installer): Promise<void> {
  const answer = await vscode.window.showErrorMessage(`VIBES: ${server.failure ?? 'the server was not found'}.`, CHOOSE, 'Open Settings');
  if (answer === CHOOSE) await installer.choose();
  else if (answer) await vscode.commands.executeCommand('workbench.action.openSettings', 'vibes.server');
}

/** Offers to install the server, once automatically and whenever a user command needs it, and lets the user choose another. */
export class Installer {
  private isOffered = false;

  /** @param extension The folder of this extension. */
  constructor(
    private readonly server: Server,
    private readonly extension: vscode.Uri,
  ) {}

  async offer(): Promise<void> {
    if (this.isOffered && !this.server.isUserRequested) return;
    this.isOffered = true;
    const [trails, wheels] = await Promise.all([findTrails(), carriedWheels(this.extension)]);
    const elsewhere = vscode.workspace.isTrusted ? '' : ' outside this workspace, which is not trusted';
    const missing = `VIBES: ${trails.length > 0 ? 'this folder has an audit trail, but ' : ''}vibes-lsp was not found${elsewhere}`;
    const question = wheels === undefined ? `${missing}. ${this.noWheels}` : `${missing}. Install it into an environment of its own?`;
    const install = wheels === undefined ? [] : [INSTALL];
    const answer = await vscode.window.showInformationMessage(question, ...install, CHOOSE, 'Not now');
    if (answer === INSTALL) await this.install();
    if (answer === CHOOSE) await this.choose();
  }

  /** Installs and starts the server. On failure, shows the cause and starts the previous server, if any. */
  async install(): Promise<void> {
    this.isOffered = true;
    try {
      const wheels = await carriedWheels(this.extension);
      if (wheels === undefined) throw new Error(this.noWheels);
      await this.server.replaceProgram(() => installServer(this.server.environment, wheels, this.server.log));
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.server.log.error(`not installed: ${reason}`);
      const answer = await vscode.window.showErrorMessage(`VIBES: the server was not installed: ${reason}`, CHOOSE, 'Show Log');
      if (answer === CHOOSE) await this.choose();
      else if (answer) this.server.log.show();
    }
  }

  /** Asks for the server's program, sets `vibes.server.path` to it and starts it. */
  async choose(): Promise<void> {
    const title = 'Choose vibes-lsp, or the Python that has it';
    const [chosen] = (await vscode.window.showOpenDialog({ title, openLabel: 'Choose' })) ?? [];
    if (chosen === undefined) return;
    try {
      const command = await programFor(chosen.fsPath);
      const settings = vscode.workspace.getConfiguration('vibes.server');
      const isOverridden = settings.inspect('path')?.workspaceValue !== undefined;
      const scope = isOverridden ? vscode.ConfigurationTarget.Workspace : vscode.ConfigurationTarget.Global;
      await settings.update('path', command, scope);
      await this.server.restartIfChanged();
      await this.server.start();
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      const answer = await vscode.window.showErrorMessage(`VIBES: ${reason}`, CHOOSE);
      if (answer) await this.choose();
    }
  }

  private get noWheels(): string {
    return `This build of the extension carries no server: install vibes-lsp on ${process.platform} ${process.arch}, then choose it.`;
  }
}
