// The view in source control: the AI lines of the next commit, and which of them are unreviewed.

import * as vscode from 'vscode';
import type { ChangedFile, ChangedRange, Changes } from '../protocol';
import type { Server } from '../server/server';
import { plain } from '../text';
import { findTrails, TrailWatch } from '../trails';

const REFRESH_DELAY = 500;

/** The part of the git extension's API that is used here. */
interface GitApi {
  repositories: GitRepository[];
  onDidOpenRepository: vscode.Event<GitRepository>;
  onDidCloseRepository: vscode.Event<GitRepository>;
}
interface GitRepository {
  state: { indexChanges: readonly unknown[]; onDidChange: vscode.Event<void> };
}

interface RangeNode {
  file: ChangedFile;
  range: ChangedRange;
}
type Node = ChangedFile | RangeNode;

export class CommitTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private files: ChangedFile[] = [];
  private isStale = true;
  private timer: NodeJS.Timeout | undefined;
  private pendingRequest: Promise<void> | undefined;
  private git: GitApi | undefined;
  private readonly watched = new Map<GitRepository, vscode.Disposable>();
  private readonly changes = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<Node>;
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView('vibes.commit', { treeDataProvider: this });
    const refreshSoon = () => this.refreshSoon();
    this.disposables = [
      this.view,
      this.changes,
      new TrailWatch(refreshSoon),
      server.onDidChangeState(refreshSoon),
      server.onDidFinishReading(refreshSoon),
      vscode.workspace.onDidSaveTextDocument(refreshSoon),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible && this.isStale) this.refreshSoon();
      }),
    ];
    if (this.view.visible) this.refreshSoon();
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) return this.files;
    return 'file' in node ? [] : node.ranges.map((range) => ({ file: node, range }));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return 'file' in node ? rangeItem(node) : fileItem(node);
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.watched.values(), ...this.disposables).dispose();
  }

  /** Requests the lines if the view is visible, else when it becomes visible. */
  private refreshSoon(): void {
    this.isStale = true;
    clearTimeout(this.timer);
    if (!this.view.visible) return;
    this.timer = setTimeout(() => {
      this.pendingRequest ??= this.requestWhileStale();
    }, REFRESH_DELAY);
  }

  private async requestWhileStale(): Promise<void> {
    try {
      for (let isAnswered = true; isAnswered && this.isStale && this.view.visible;) {
        this.isStale = false;
        isAnswered = await this.request();
        this.isStale ||= !isAnswered;
        this.changes.fire(undefined);
      }
    } finally {
      this.pendingRequest = undefined;
    }
  }

  private async request(): Promise<boolean> {
    try {
      if (this.server.state !== 'running') {
        this.show([], undefined);
        return true;
      }
      const staged = await this.hasStagedChanges();
      const roots = await findTrails();
      const answers = await Promise.all(
        roots.map((root) => this.server.run<Changes>('vibes.changes', { uri: this.server.toProtocolUri(root), staged })),
      );
      this.show(
        answers.flatMap(({ files }) => files),
        staged,
      );
      return true;
    } catch (error) {
      this.server.log.debug(`the AI lines of the next commit: ${String(error)}`);
      this.files = [];
      this.view.message = plain(error instanceof Error ? error.message : String(error), 300);
      return false;
    }
  }

  private show(files: ChangedFile[], staged: boolean | undefined): void {
    this.files = files;
    const where = staged ? 'this commit' : 'your changes, none staged';
    this.view.message = staged === undefined ? '' : `AI lines in ${where}: ${countsOf(files)}`;
  }

  /** Whether any repository has staged changes. Without the git extension, whatever is staged counts. */
  private async hasStagedChanges(): Promise<boolean> {
    this.git ??= await this.findGit();
    return this.git === undefined || this.git.repositories.some(({ state }) => state.indexChanges.length > 0);
  }

  private async findGit(): Promise<GitApi | undefined> {
    try {
      const extension = vscode.extensions.getExtension<{ enabled: boolean; getAPI(version: 1): GitApi }>('vscode.git');
      const exported = await extension?.activate();
      if (!exported?.enabled) return undefined;
      const git = exported.getAPI(1);
      for (const repository of git.repositories) this.watch(repository);
      this.disposables.push(
        git.onDidOpenRepository((repository) => {
          this.watch(repository);
          this.refreshSoon();
        }),
        git.onDidCloseRepository((repository) => {
          this.watched.get(repository)?.dispose();
          this.watched.delete(repository);
        }),
      );
      return git;
    } catch (error) {
      this.server.log.debug(`the git extension: ${String(error)}`);
      return undefined;
    }
  }

  private watch(repository: GitRepository): void {
    this.watched.set(
      repository,
      repository.state.onDidChange(() => this.refreshSoon()),
    );
  }
}

/** Returns the number of AI lines in words, such as `24, 6 unreviewed`. */
export function countsOf(
  files: readonly Pick<ChangedFile, 'verifiedLines' | 'claimedLines' | 'editedLines' | 'unreviewedLines'>[],
): string {
  const sum = (of: (file: (typeof files)[number]) => number) => files.reduce((total, file) => total + of(file), 0);
  const claimed = sum(({ claimedLines }) => claimedLines);
  const all = sum(({ verifiedLines, editedLines }) => verifiedLines + editedLines) + claimed;
  const unreviewed = sum(({ unreviewedLines }) => unreviewedLines);
  return `${all}${claimed === 0 ? '' : ` (${claimed} only claimed)`}${unreviewed === 0 ? '' : `, ${unreviewed} unreviewed`}`;
}

function fileItem(file: ChangedFile): vscode.TreeItem {
  const path = plain(file.filePath, 200);
  const folder = path.slice(0, Math.max(0, path.lastIndexOf('/')));
  const counts = countsOf([file]);
  const item = new vscode.TreeItem(path.slice(path.lastIndexOf('/') + 1), vscode.TreeItemCollapsibleState.Expanded);
  item.id = file.uri;
  item.description = [counts, folder].filter(Boolean).join(' · ');
  item.resourceUri = vscode.Uri.parse(file.uri);
  item.iconPath = vscode.ThemeIcon.File;
  item.tooltip = `${path}: ${counts} of ${file.changedLines} changed lines`;
  item.accessibilityInformation = { label: `${path}, AI lines: ${counts}` };
  return item;
}

function rangeItem({ file, range: { lineStart, lineEnd, unreviewed } }: RangeNode): vscode.TreeItem {
  const where = lineStart === lineEnd ? `Line ${lineStart}` : `Lines ${lineStart}-${lineEnd}`;
  const item = new vscode.TreeItem(where);
  item.description = unreviewed ? 'unreviewed' : 'reviewed';
  item.iconPath = new vscode.ThemeIcon(unreviewed ? 'circle-outline' : 'pass');
  item.accessibilityInformation = { label: `${where} of ${plain(file.filePath, 200)}, ${item.description}` };
  const selection = new vscode.Range(lineStart - 1, 0, lineStart - 1, 0);
  item.command = { command: 'vscode.open', title: 'Open', arguments: [vscode.Uri.parse(file.uri), { selection }] };
  return item;
}
