// Installs the server into an environment of this extension's own: nothing of the user's is touched.

import { spawn } from 'node:child_process';
import * as fs from 'node:fs/promises';
import * as vscode from 'vscode';
import { programIn, programsOf } from './location';

const WINDOWS = process.platform === 'win32';
const PYTHONS: [string, ...string[]][] = WINDOWS ? [['py', '-3'], ['python']] : [['python3'], ['python']];
const NEW_ENOUGH = 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else 1)';

/**
 * Makes the environment anew and installs a release of the server into it; one that was there stays unless that succeeds. Rejects with what
 * went wrong, in words for people.
 */
export async function installServer(own: vscode.Uri, version: string, log: vscode.LogOutputChannel): Promise<void> {
  const options = { location: vscode.ProgressLocation.Notification, title: 'VIBES: installing the server', cancellable: true };
  await vscode.window.withProgress(options, async (progress, token) => {
    const run = (command: string, ...args: string[]) => runLogged(command, args, log, token);
    progress.report({ message: 'looking for Python 3.11 or newer' });
    const [python, ...flags] = await newEnough(run);
    progress.report({ message: 'creating an environment' });
    await inPlaceOf(own, async () => {
      await run(python, ...flags, '-m', 'venv', own.fsPath);
      progress.report({ message: `installing vibes-lsp ${version}` });
      const inside = vscode.Uri.joinPath(programsOf(own), WINDOWS ? 'python.exe' : 'python').fsPath;
      await run(inside, '-I', '-m', 'pip', 'install', '--disable-pip-version-check', `vibes-lsp~=${version}`);
    });
  });
}

/** Makes an environment where one may be already, for it cannot be moved there later; the one before is aside meanwhile, and put back on failure. */
async function inPlaceOf(own: vscode.Uri, make: () => Promise<void>): Promise<void> {
  const aside = `${own.fsPath}.before`;
  const remove = async (folder: string) => await fs.rm(folder, { recursive: true, force: true });
  if (await isThere(programIn(own))) {
    await remove(aside);
    await fs.rename(own.fsPath, aside);
  } else await remove(own.fsPath); // half of one, when an attempt was cut off: what was before it may still be aside
  try {
    await make();
  } catch (error) {
    await remove(own.fsPath);
    if (await isThere(aside)) await fs.rename(aside, own.fsPath);
    throw error;
  }
  await remove(aside).catch(() => undefined); // another window may run it still
}

async function isThere(place: string): Promise<boolean> {
  return await fs.access(place).then(
    () => true,
    () => false,
  );
}

async function newEnough(run: (command: string, ...args: string[]) => Promise<void>): Promise<[string, ...string[]]> {
  for (const [python, ...flags] of PYTHONS) {
    try {
      await run(python, ...flags, '-I', '-c', NEW_ENOUGH);
      return [python, ...flags];
    } catch {
      continue; // not there, or too old
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
