// Where the workspace has audit trails. Without one, nothing of ours runs.

import * as vscode from 'vscode';

const FILES = ['config.json', 'manifest.json', 'annotations.jsonl'];
const DEPTHS = ['', '*/', '*/*/', '*/*/*/'];
const AT_MOST = 50;

const TRAIL_FILES = `{${DEPTHS.flatMap((depth) => FILES.map((file) => `${depth}.ai-audit/${file}`)).join(',')}}`;

/**
 * Reports trails that appear in the workspace, a few folders deep at most. It is the folder that is watched for: of the files that a new
 * folder has before it is watched itself, no watcher tells.
 */
export function watchForTrails(appeared: () => unknown): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher('**/.ai-audit', false, true, true); // compared with whole paths
  const isNear = (folder: vscode.Uri) => vscode.workspace.asRelativePath(folder, false).split('/').length <= DEPTHS.length;
  return vscode.Disposable.from(
    watcher,
    watcher.onDidCreate((folder) => (isNear(folder) ? appeared() : undefined)),
  );
}

/** Reports what is recorded in the trails of the workspace, by whomever, and in those elsewhere that are named to it. */
export class TrailWatch implements vscode.Disposable {
  private readonly watchers = new Map<string, vscode.Disposable>();

  constructor(private readonly recorded: () => unknown) {
    this.watch('', '**/.ai-audit/annotations.jsonl');
  }

  /** Includes the trails of some folders. */
  include(folders: readonly vscode.Uri[]): void {
    for (const folder of folders) {
      if (vscode.workspace.getWorkspaceFolder(folder) || this.watchers.has(folder.toString())) continue;
      this.watch(folder.toString(), new vscode.RelativePattern(vscode.Uri.joinPath(folder, '.ai-audit'), 'annotations.jsonl'));
    }
  }

  dispose(): void {
    vscode.Disposable.from(...this.watchers.values()).dispose();
  }

  private watch(name: string, pattern: vscode.GlobPattern): void {
    const watcher = vscode.workspace.createFileSystemWatcher(pattern);
    const events = [watcher.onDidCreate, watcher.onDidChange, watcher.onDidDelete];
    this.watchers.set(name, vscode.Disposable.from(watcher, ...events.map((event) => event(this.recorded))));
  }
}

/** Returns the folders of the workspace that have an audit trail: in them, or the nearest one above them. */
export async function findTrails(): Promise<vscode.Uri[]> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const above = await Promise.all(folders.map((folder) => nearestAbove(folder.uri)));
  const below = await Promise.all(
    folders.map((folder) => vscode.workspace.findFiles(new vscode.RelativePattern(folder, TRAIL_FILES), null, AT_MOST)),
  );
  const roots = [...above, ...below.flat().map((file) => vscode.Uri.joinPath(file, '../..'))];
  return [...new Map(roots.filter((root) => root !== undefined).map((root) => [root.toString(), root])).values()];
}

/** Returns the nearest folder that has an audit trail: this one, or one above it. */
export async function nearestAbove(folder: vscode.Uri): Promise<vscode.Uri | undefined> {
  for (let at = folder; at.scheme === 'file'; at = vscode.Uri.joinPath(at, '..')) {
    if (await isFolder(vscode.Uri.joinPath(at, '.ai-audit'))) return at;
    if (vscode.Uri.joinPath(at, '..').path === at.path) break;
  }
  return undefined;
}

async function isFolder(uri: vscode.Uri): Promise<boolean> {
  try {
    return (await vscode.workspace.fs.stat(uri)).type === vscode.FileType.Directory;
  } catch {
    return false;
  }
}
