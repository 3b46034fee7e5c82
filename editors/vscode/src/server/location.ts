// Finds the server's program: the setting, then the selected Python, then the workspace's environment, then PATH, then this extension's own
// installation.

import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';
import { run } from './programs';

const WINDOWS = process.platform === 'win32';
const PROGRAM = WINDOWS ? 'vibes-lsp.exe' : 'vibes-lsp';
/** Folders of a workspace that are Python environments by custom. */
const ENVIRONMENTS = ['.venv', 'venv'];

export interface Program {
  command: string;
  args: string[];
  /** How it was found; shown to the user. */
  origin: string;
}

/** The part of the Python extension's API that is used here. */
interface PythonApi {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

/** Returns the settings of the server's program as a string, for comparison. */
export function programSettings(): string {
  const settings = vscode.workspace.getConfiguration('vibes.server');
  return JSON.stringify([settings.get('path'), settings.get('arguments')]);
}

/** Returns the server's program, or undefined if there is none. Throws if the setting names a missing or untrusted one. */
export async function findProgram(environment: vscode.Uri): Promise<Program | undefined> {
  const settings = vscode.workspace.getConfiguration('vibes.server');
  const configured = settings.get<string>('path', '').trim();
  if (configured) {
    const command = absolute(configured);
    if (!(await isTrusted(command))) {
      throw new Error(`vibes.server.path names ${command}, which is in this untrusted workspace`);
    }
    if (!(await isFile(command))) throw new Error(`vibes.server.path names ${command}, which is not a file`);
    return { command, args: settings.get<string[]>('arguments', []), origin: 'named by vibes.server.path' };
  }
  return (await besidePython()) ?? (await inWorkspace()) ?? (await onPath()) ?? (await installed(environment));
}

/**
 * Returns the server's program for a file that the user chose: the file itself, or `vibes-lsp` beside a Python or `vibes`. Throws if it is
 * not a server, or in an untrusted workspace.
 */
export async function programFor(chosen: string): Promise<string> {
  const isOther = /^(python|py|vibes|pip)[\d.]*(\.exe)?$/i.test(path.basename(chosen));
  const command = isOther ? path.join(path.dirname(chosen), PROGRAM) : chosen;
  if (!(await isTrusted(command))) throw new Error(`${command} is in this untrusted workspace`);
  if (!(await isFile(command))) throw new Error(isOther ? `there is no ${PROGRAM} beside ${chosen}` : `${command} is not a file`);
  const answer = await run(command, ['--version'], { timeout: 30_000 }).catch((error: unknown) => {
    throw new Error(`${command} does not run: ${error instanceof Error ? error.message : String(error)}`);
  });
  if (!answer.startsWith('vibes-lsp ')) throw new Error(`${command} is not vibes-lsp`);
  return command;
}

/** Returns the folder of an environment that contains its programs. */
export function scriptsFolder(environment: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(environment, WINDOWS ? 'Scripts' : 'bin');
}

/** Returns the server's path in an environment. */
export function serverPath(environment: vscode.Uri): string {
  return vscode.Uri.joinPath(scriptsFolder(environment), PROGRAM).fsPath;
}

async function besidePython(): Promise<Program | undefined> {
  const python = await selectedPython();
  if (python === undefined) return undefined;
  const folder = path.dirname(python);
  return await first([path.join(folder, PROGRAM), path.join(folder, 'Scripts', PROGRAM)], 'beside the selected Python');
}

async function selectedPython(): Promise<string | undefined> {
  const extension = vscode.extensions.getExtension<PythonApi>('ms-python.python');
  if (extension === undefined) return undefined;
  try {
    const { environments } = await extension.activate();
    const chosen = environments?.getActiveEnvironmentPath(vscode.workspace.workspaceFolders?.[0]?.uri);
    const resolved = chosen && (await environments?.resolveEnvironment(chosen));
    return resolved?.executable.uri?.fsPath ?? chosen?.path;
  } catch {
    return undefined; // the Python extension failed: continue with PATH
  }
}

async function inWorkspace(): Promise<Program | undefined> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const environments = folders.flatMap(({ uri }) => ENVIRONMENTS.map((name) => vscode.Uri.joinPath(uri, name)));
  return await first(environments.map(serverPath), 'in an environment of the workspace');
}

async function onPath(): Promise<Program | undefined> {
  const [command] = await filesOnPath([PROGRAM]);
  return command === undefined ? undefined : { command, args: [], origin: 'found on the path' };
}

/** Returns the files on the PATH with one of these names, by name, then by folder. None is in an untrusted workspace. */
export async function filesOnPath(names: readonly string[]): Promise<string[]> {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  const files = [...new Set(names.flatMap((name) => folders.map((folder) => path.join(folder, name))))];
  const areUsable = await Promise.all(files.map(async (file) => (await isFile(file)) && (await isTrusted(file))));
  return files.filter((_, number) => areUsable[number]);
}

async function installed(environment: vscode.Uri): Promise<Program | undefined> {
  return await first([serverPath(environment)], 'installed by this extension');
}

async function first(candidates: string[], origin: string): Promise<Program | undefined> {
  for (const command of candidates) if ((await isFile(command)) && (await isTrusted(command))) return { command, args: [], origin };
  return undefined;
}

function absolute(configured: string): string {
  const home = configured.startsWith('~/') || configured.startsWith('~\\') ? path.join(os.homedir(), configured.slice(2)) : configured;
  return path.resolve(vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? os.homedir(), home);
}

/** Whether a program may be started. An untrusted workspace must not run a program inside it, even through symbolic links. */
async function isTrusted(program: string): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const locations = [program, path.join(await realPath(path.dirname(program)), path.basename(program)), await realPath(program)];
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const roots = [...folders, ...(await Promise.all(folders.map(realPath)))];
  return !locations.some((location) => roots.some((root) => isInside(location, root)));
}

function isInside(location: string, root: string): boolean {
  const relative = path.relative(root, location);
  return relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
}

async function realPath(location: string): Promise<string> {
  return await fs.realpath(location).catch(() => location);
}

export async function isFile(location: string): Promise<boolean> {
  try {
    return (await fs.stat(location)).isFile();
  } catch {
    return false;
  }
}
