// Installs the server that this extension carries into a virtual environment that belongs to it. Nothing is downloaded.

import * as fs from 'node:fs/promises';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { isFile, serverPath, scriptsFolder } from './location';
import { run } from './programs';
import { findPython } from './python';

const WINDOWS = process.platform === 'win32';
/** Runs pip from its wheel, as Python's own `ensurepip` does: Debian's Python has no pip for new environments. */
const PIP = "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module('pip', run_name='__main__', alter_sys=True)";

/** The wheels that the extension carries. */
export interface Wheels {
  folder: string;
  /** What pip installs: the server's wheel, with the extra whose packages are carried. */
  server: string;
  pip: string;
  /** The minor versions of Python 3 that all wheels support; empty if any does. */
  versions: number[];
}

/** Returns the wheels that the extension carries; undefined if it was built without. */
export async function carriedWheels(extension: vscode.Uri): Promise<Wheels | undefined> {
  const folder = vscode.Uri.joinPath(extension, 'dist', 'wheels').fsPath;
  const names = await fs.readdir(folder).catch(() => []);
  const [server, pip] = ['vibes_lsp-', 'pip-'].map((start) => names.find((name) => name.startsWith(start)));
  if (server === undefined || pip === undefined) return undefined;
  const minors = names.map((name) => /-cp3(\d+)-cp3\d+-/.exec(name)?.[1]).filter((minor) => minor !== undefined);
  const versions = [...new Set(minors.map(Number))].sort((one, other) => one - other);
  const extra = names.some((name) => name.startsWith('securesystemslib-')) ? '[attest]' : '';
  return { folder, server: path.join(folder, server) + extra, pip: path.join(folder, pip), versions };
}

/**
 * Creates a fresh environment and installs the server into it. On failure, restores the previous environment and rejects with the cause.
 */
export async function installServer(environment: vscode.Uri, wheels: Wheels, log: vscode.LogOutputChannel): Promise<void> {
  const options = { location: vscode.ProgressLocation.Notification, title: 'VIBES: installing the server', cancellable: true };
  await vscode.window.withProgress(options, async (progress, token) => {
    progress.report({ message: 'looking for Python 3.11 or newer' });
    const [python, ...flags] = await findPython(wheels.versions, { log, token });
    progress.report({ message: 'creating an environment' });
    await replaceEnvironment(environment, async () => {
      await run(python, [...flags, '-I', '-m', 'venv', '--without-pip', environment.fsPath], { log, token });
      progress.report({ message: 'installing vibes-lsp' });
      const venvPython = vscode.Uri.joinPath(scriptsFolder(environment), WINDOWS ? 'python.exe' : 'python').fsPath;
      const offline = ['--isolated', '--no-index', '--find-links', wheels.folder, '--only-binary', ':all:', '--no-cache-dir'];
      const quiet = ['--no-input', '--disable-pip-version-check', '--no-warn-script-location'];
      await run(venvPython, ['-I', '-c', PIP, wheels.pip, 'install', ...offline, ...quiet, wheels.server], { log, token });
      progress.report({ message: 'starting it once' });
      await run(serverPath(environment), ['--version'], { log, token });
    });
  });
}

/** Creates an environment in place, because environments cannot be moved. A previous one is kept as a backup and restored on failure. */
async function replaceEnvironment(environment: vscode.Uri, make: () => Promise<void>): Promise<void> {
  const backup = `${environment.fsPath}.before`;
  const remove = async (folder: string) => await fs.rm(folder, { recursive: true, force: true });
  if (await isFile(serverPath(environment))) {
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
