// What the user is told about the server: a status item, whether it is too old, and an offer to install it.

import * as vscode from 'vscode';
import { installServer } from './installation';
import type { Server } from './server';

/** The oldest server that this client understands. */
const OLDEST = '0.1.0';

export function watchServer(server: Server): vscode.Disposable {
  const item = vscode.languages.createLanguageStatusItem('vibes.server', [{ scheme: 'file' }]);
  item.name = 'VIBES';
  item.command = { command: 'vibes.ui.showLog', title: 'Show Log' };
  const show = () => {
    tell(item, server);
    void vscode.commands.executeCommand('setContext', 'vibes.running', server.life === 'running');
    void vscode.commands.executeCommand('setContext', 'vibes.missing', server.life === 'missing');
    if (server.life === 'missing') void offerInstallation(server);
  };
  show();
  return vscode.Disposable.from(item, server.onDidChangeLife(show));
}

function tell(item: vscode.LanguageStatusItem, server: Server): void {
  const isOld = server.life === 'running' && isOlder(server.version ?? '0', OLDEST);
  item.busy = server.life === 'starting';
  item.text = `vibes-lsp ${server.life === 'running' ? (server.version ?? '') : server.life}`;
  item.detail = isOld ? `older than ${OLDEST}: upgrade it` : (server.failure ?? server.program?.origin ?? '');
  item.severity = isOld
    ? vscode.LanguageStatusSeverity.Warning
    : server.life === 'failed' || server.life === 'missing'
      ? vscode.LanguageStatusSeverity.Error
      : vscode.LanguageStatusSeverity.Information;
  if (isOld) {
    const old = `${server.program?.command ?? 'the server'} is version ${server.version ?? 'unknown'}`;
    void vscode.window.showWarningMessage(`VIBES: ${old}, this extension needs ${OLDEST} or newer: upgrade it with pip.`);
  }
}

/** Returns whether a version comes before another; only the leading numbers count. */
export function isOlder(version: string, than: string): boolean {
  const [left, right] = [version, than].map((each) => each.split('.').map((part) => Number.parseInt(part, 10) || 0));
  const difference = [0, 1, 2].map((part) => (left?.[part] ?? 0) - (right?.[part] ?? 0)).find((each) => each !== 0);
  return difference !== undefined && difference < 0;
}

async function offerInstallation(server: Server): Promise<void> {
  const question = 'VIBES: this folder has an audit trail, but vibes-lsp was not found. Install it into an environment of its own?';
  if ((await vscode.window.showInformationMessage(question, 'Install', 'Not now')) === 'Install') await install(server);
}

/** Installs the server and starts it; says what went wrong. */
export async function install(server: Server): Promise<void> {
  try {
    await server.stop();
    await installServer(server.own, OLDEST, server.log);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    const answer = await vscode.window.showErrorMessage(`VIBES: the server was not installed: ${reason}`, 'Show Log');
    if (answer) server.log.show();
  }
  await server.start();
}
