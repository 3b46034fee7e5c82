// Finds and watches what makes a folder a project: an audit trail (`.ai-audit/`) or a knowledge base (`.vouch/`).

import * as vscode from 'vscode';

/** A folder that makes its parent a project, and files of which it has at least one. */
interface Marker {
  folder: string;
  files: readonly string[];
}
export const TRAIL: Marker = { folder: '.ai-audit', files: ['config.json', 'manifest.json', 'annotations.jsonl'] };
export const KNOWLEDGE_BASE: Marker = { folder: '.vouch', files: ['config.yaml', 'audit.log.jsonl'] };

const DEPTHS = ['', '*/', '*/*/', '*/*/*/'];
const MAX_RESULTS = 50;

/**
 * Calls `onProject` when a project appears in the workspace, up to three folders deep. It watches the folder, not its files: VS Code does
 * not report files that exist in a new folder before the folder itself is watched.
 */
export function watchForProjects({ folder }: Marker, onProject: () => unknown): vscode.Disposable {
  const watcher = vscode.workspace.createFileSystemWatcher(`**/${folder}`, false, true, true); // the pattern matches whole paths
  const isNear = (found: vscode.Uri) => vscode.workspace.asRelativePath(found, false).split('/').length <= DEPTHS.length;
  return vscode.Disposable.from(
    watcher,
    watcher.onDidCreate((found) => (isNear(found) ? onProject() : undefined)),
  );
}

/** Calls `onRecord` when any program changes a trail: those in the workspace, and those added with `include`. */
export class TrailWatch implements vscode.Disposable {
  private readonly watchers = new Map<string, vscode.Disposable>();

  constructor(private readonly onRecord: () => unknown) {
    this.watch('', '**/{.ai-audit/annotations.jsonl,.git/ai-audit/waiting/*/*.jsonl}');
  }

  /** Also watches the trails of these folders. */
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
    this.watchers.set(name, vscode.Disposable.from(watcher, ...events.map((event) => event(this.onRecord))));
  }
}

/** Returns the folders with a trail that concern the workspace: inside its folders, and the nearest one at or above each of them. */
export async function findTrails(): Promise<vscode.Uri[]> {
  return await findProjects(TRAIL);
}

/** Returns the projects that concern the workspace: inside its folders, and the nearest one at or above each of them. */
export async function findProjects(marker: Marker): Promise<vscode.Uri[]> {
  const folders = vscode.workspace.workspaceFolders ?? [];
  const files = `{${DEPTHS.flatMap((depth) => marker.files.map((file) => `${depth}${marker.folder}/${file}`)).join(',')}}`;
  const above = await Promise.all(folders.map((folder) => nearestProject(marker, folder.uri)));
  const below = await Promise.all(
    folders.map((folder) => vscode.workspace.findFiles(new vscode.RelativePattern(folder, files), null, MAX_RESULTS)),
  );
  const roots = [...above, ...below.flat().map((file) => vscode.Uri.joinPath(file, '../..'))];
  return [...new Map(roots.filter((root) => root !== undefined).map((root) => [root.toString(), root])).values()];
}

/** Returns the nearest project, starting at `folder` and going up. */
export async function nearestProject(marker: Marker, folder: vscode.Uri): Promise<vscode.Uri | undefined> {
  for (let at = folder; at.scheme === 'file'; at = vscode.Uri.joinPath(at, '..')) {
    if (await isFolder(vscode.Uri.joinPath(at, marker.folder))) return at;
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
