// Installs the server into a virtual environment that belongs to this extension.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as vscode from 'vscode';
import { serverPath, scriptsFolder } from './location';

const WINDOWS = process.platform === 'win32';
const PYTHONS: [string, ...string[]][] = WINDOWS ? [['py', '-3'], ['python']] : [['python3'], ['python']];
const VERSION_CHECK = 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else 1)';

/**
 * Creates a fresh environment and installs a release of the server into it. On failure, restores the previous environment and rejects with
 * a message for the user.
 */
export async function installServer(environment: vscode.Uri, version: string, log: vscode.LogOutputChannel): Promise<void> {
  const options = { location: vscode.ProgressLocation.Notification, title: 'VIBES: installing the server', cancellable: true };
  await vscode.window.withProgress(options, async (progress, token) => {
    const run = (command: string, ...args: string[]) => runLogged(command, args, log, token);
    progress.report({ message: 'looking for Python 3.11 or newer' });
    const [python, ...flags] = await findPython(run);
    progress.report({ message: 'creating an environment' });
    await replaceEnvironment(environment, async () => {
      await run(python, ...flags, '-m', 'venv', environment.fsPath);
      progress.report({ message: `installing vibes-lsp ${version}` });
      const venvPython = vscode.Uri.joinPath(scriptsFolder(environment), WINDOWS ? 'python.exe' : 'python').fsPath;
      await run(venvPython, '-I', '-m', 'pip', 'install', '--disable-pip-version-check', `vibes-lsp~=${version}`);
    });
  });
}

/** Creates an environment in place, because environments cannot be moved. A previous one is kept as a backup and restored on failure. */
async function replaceEnvironment(environment: vscode.Uri, make: () => Promise<void>): Promise<void> {
  const backup = `${environment.fsPath}.before`;
  const remove = async (folder: string) => await fs.rm(folder, { recursive: true, force: true });
  if (await exists(serverPath(environment))) {
    await remove(backup);
    await fs.rename(environment.fsPath, backup);
  } else await remove(environment.fsPath); // an interrupted attempt leaves a partial environment, and perhaps a backup
  try {
    await make();
  } catch (error) {
    await remove(environment.fsPath);
    if (await exists(backup)) await fs.rename(backup, environment.fsPath);
    throw error;
  }
  await remove(backup).catch(() => undefined); // another window may still run it
}

async function exists(place: string): Promise<boolean> {
  return await fs.access(place).then(
    () => true,
    () => false,
  );
}

async function findPython(run: (command: string, ...args: string[]) => Promise<void>): Promise<[string, ...string[]]> {
  for (const [python, ...flags] of PYTHONS) {
    try {
      await run(python, ...flags, '-I', '-c', VERSION_CHECK);
      return [python, ...flags];
    } catch {
      continue; // missing or too old
    }
  }
  throw new Error('Python 3.11 or newer was not found on the path');
}

function runLogged(command: string, args: string[], log: vscode.LogOutputChannel, token: vscode.CancellationToken): Promise<void> {
  log.info(`running ${[command, ...args].join(' ')}`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: vscode.env.appRoot || undefined });
    const cancelled = token.onCancellationRequested(() => child.kill());
    const report = (chunk: Buffer) => {
      for (const line of chunk.toString().split(/\r?\n/)) if (line) log.info(line);
    };
    child.stdout.on('data', report);
    child.stderr.on('data', report);
    child.on('error', reject);
    child.on('close', (code) => {
      cancelled.dispose();
      if (code === 0) resolve();
      else reject(new Error(token.isCancellationRequested ? 'cancelled' : `${command} ended with ${code ?? 'a signal'}; see the log`));
    });
  });
}
