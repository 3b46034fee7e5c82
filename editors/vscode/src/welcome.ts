// The buttons of a folder without an audit trail: start one, or open a demo.

import * as path from 'node:path';
import * as os from 'node:os';
import * as vscode from 'vscode';
import { Cancelled } from './commands/register';
import { findProgram } from './server/location';
import { run } from './server/programs';
import type { Server } from './server/server';
import type { Installer } from './server/status';
import { plain } from './text';

const PROGRAM = process.platform === 'win32' ? 'vibes.exe' : 'vibes';
const TIMEOUT = 120_000;

/** Creates an audit trail in a folder of the workspace, with `vibes init`. */
export async function startTrail(server: Server, installer: Installer): Promise<void> {
  await reportErrors(server, async () => {
    const vibes = await findVibes(server, installer);
    const folder = await chooseFolder();
    const options = [
      { label: 'Git', description: 'a hook writes records into the commit of their lines', args: ['--git-hooks'], picked: true },
      { label: 'Coding agents', description: 'those in use here record by hooks', args: ['--agents', 'detected'], picked: true },
      { label: 'Risk scores', description: 'PRISM: what to review first', args: ['--prism'], picked: true },
    ];
    const title = `Start an audit trail in ${plain(folder.name, 60)}: what takes part?`;
    const chosen = await vscode.window.showQuickPick(options, { title, canPickMany: true });
    if (chosen === undefined) throw new Cancelled();
    const isChosen = (option: string) => chosen.some(({ args }) => args.includes(option));
    const declined = isChosen('--agents') ? [] : ['--agents', 'none'];
    if (!isChosen('--git-hooks')) declined.push('--no-git-hooks');
    const said = await runVibes(server, vibes, ['init', folder.uri.fsPath, ...chosen.flatMap(({ args }) => args), ...declined]);
    const last = plain(said.trim().split('\n').at(-1), 200);
    const answer = await vscode.window.showInformationMessage(`VIBES: ${plain(folder.name, 60)} has an audit trail. ${last}`, 'Show Log');
    if (answer) server.log.show();
  });
}

/** Creates the demo project with `vibes demo`, and opens it in a window of its own. */
export async function openDemo(server: Server, installer: Installer): Promise<void> {
  await reportErrors(server, async () => {
    const vibes = await findVibes(server, installer);
    const folder = await vscode.window.showInputBox({
      title: 'Open a demo',
      prompt: 'New folder for a small project that three AI tools wrote',
      value: path.join(os.homedir(), 'vibes-demo'),
      validateInput: (value) => (path.isAbsolute(value.trim()) ? undefined : 'Enter the full path of a folder.'),
    });
    if (folder === undefined) throw new Cancelled();
    await runVibes(server, vibes, ['demo', folder.trim()]);
    await vscode.commands.executeCommand('vscode.openFolder', vscode.Uri.file(folder.trim()), { forceNewWindow: hasFolders() });
  });
}

/** Returns the program `vibes`, which is installed beside the server. Offers to install both if there is none. */
async function findVibes(server: Server, installer: Installer): Promise<string> {
  const find = async () => server.program ?? (await findProgram(server.environment));
  let program = await find();
  if (program === undefined) {
    await installer.install();
    program = await find();
  }
  if (program === undefined) throw new Cancelled(); // a message was shown already
  return path.join(path.dirname(program.command), PROGRAM);
}

async function chooseFolder(): Promise<vscode.WorkspaceFolder> {
  const [first, ...others] = vscode.workspace.workspaceFolders ?? [];
  if (first === undefined) throw new Error('open a folder first');
  const folder = others.length === 0 ? first : await vscode.window.showWorkspaceFolderPick({ placeHolder: 'Start a trail in' });
  if (folder === undefined) throw new Cancelled();
  return folder;
}

function hasFolders(): boolean {
  return (vscode.workspace.workspaceFolders ?? []).length > 0;
}

/** Runs a command of `vibes` and returns what it printed. Rejects with its error. */
async function runVibes(server: Server, vibes: string, args: string[]): Promise<string> {
  const location = vscode.ProgressLocation.Notification;
  const title = `VIBES: vibes ${args[0] ?? ''}`;
  return await vscode.window.withProgress({ location, title }, () => run(vibes, args, { log: server.log, timeout: TIMEOUT }));
}

async function reportErrors(server: Server, action: () => Promise<void>): Promise<void> {
  try {
    await action();
  } catch (error) {
    if (error instanceof Cancelled) return;
    const reason = plain(error instanceof Error ? error.message : String(error), 400);
    server.log.warn(reason);
    const answer = await vscode.window.showErrorMessage(`VIBES: ${reason}`, 'Show Log');
    if (answer) server.log.show();
  }
}
