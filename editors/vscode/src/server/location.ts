// Which program the server is: the setting's, else the one beside the selected Python, on the path, or installed by us.

import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import * as vscode from 'vscode';

const WINDOWS = process.platform === 'win32';
const PROGRAM = WINDOWS ? 'vibes-lsp.exe' : 'vibes-lsp';

export interface Program {
  command: string;
  args: string[];
  /** How it was found, for people. */
  origin: string;
}

/** What is used of the Python extension's interface, when that extension is there. */
interface PythonApi {
  environments?: {
    getActiveEnvironmentPath(resource?: vscode.Uri): { path: string };
    resolveEnvironment(environment: { path: string }): Promise<{ executable: { uri?: vscode.Uri } } | undefined>;
  };
}

/** Returns what the settings say of the server's program, to be compared. */
export function namedProgram(): string {
  const settings = vscode.workspace.getConfiguration('vibes.server');
  return JSON.stringify([settings.get('path'), settings.get('arguments')]);
}

/** Returns the server's program; undefined when there is none. A program that is named but not there is an error. */
export async function findProgram(own: vscode.Uri): Promise<Program | undefined> {
  const settings = vscode.workspace.getConfiguration('vibes.server');
  const named = settings.get<string>('path', '').trim();
  if (named) {
    const command = absolute(named);
    if (!(await isTrusted(command))) {
      throw new Error(`vibes.server.path names ${command}, which is in this untrusted workspace`);
    }
    if (!(await isFile(command))) throw new Error(`vibes.server.path names ${command}, which is not a file`);
    return { command, args: settings.get<string[]>('arguments', []), origin: 'named by vibes.server.path' };
  }
  return (await besidePython()) ?? (await onPath()) ?? (await installed(own));
}

/** Returns the folder of an environment in which its programs are. */
export function programsOf(environment: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(environment, WINDOWS ? 'Scripts' : 'bin');
}

/** Returns the path that the server has in an environment. */
export function programIn(environment: vscode.Uri): string {
  return vscode.Uri.joinPath(programsOf(environment), PROGRAM).fsPath;
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
    return undefined; // an error of the other extension: go on with the PATH
  }
}

async function onPath(): Promise<Program | undefined> {
  const folders = (process.env.PATH ?? '').split(path.delimiter).filter((folder) => path.isAbsolute(folder));
  return await first(
    folders.map((folder) => path.join(folder, PROGRAM)),
    'found on the path',
  );
}

async function installed(own: vscode.Uri): Promise<Program | undefined> {
  return await first([programIn(own)], 'installed by this extension');
}

async function first(candidates: string[], origin: string): Promise<Program | undefined> {
  for (const command of candidates) if ((await isFile(command)) && (await isTrusted(command))) return { command, args: [], origin };
  return undefined;
}

function absolute(named: string): string {
  const home = named.startsWith('~/') || named.startsWith('~\\') ? path.join(os.homedir(), named.slice(2)) : named;
  return path.resolve(vscode.workspace.workspaceFolders?.[0]?.uri.fsPath ?? os.homedir(), home);
}

/** Whether a program may be started: in a workspace that is not trusted, none that is in it, whatever links lead there. */
async function isTrusted(program: string): Promise<boolean> {
  if (vscode.workspace.isTrusted) return true;
  const places = [program, path.join(await realPath(path.dirname(program)), path.basename(program)), await realPath(program)];
  const folders = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri.fsPath);
  const roots = [...folders, ...(await Promise.all(folders.map(realPath)))];
  return !places.some((place) => roots.some((root) => isInside(place, root)));
}

function isInside(place: string, root: string): boolean {
  const relative = path.relative(root, place);
  return relative.split(path.sep)[0] !== '..' && !path.isAbsolute(relative);
}

async function realPath(place: string): Promise<string> {
  return await fs.realpath(place).catch(() => place);
}

async function isFile(place: string): Promise<boolean> {
  try {
    return (await fs.stat(place)).isFile();
  } catch {
    return false;
  }
}
