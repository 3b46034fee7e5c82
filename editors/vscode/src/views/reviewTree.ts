// The review view: unreviewed annotations, highest risk first, grouped by file, prompt or session.

import * as vscode from 'vscode';
import type { Band, Queue, QueueEntry } from '../protocol';
import type { Server } from '../server/server';
import { plain } from '../text';
import { findTrails, TrailWatch } from '../trails';

const QUEUE_LIMIT = 500;
const REFRESH_DELAY = 300;
const GROUPINGS = ['file', 'prompt', 'session'] as const;
type Grouping = (typeof GROUPINGS)[number];

interface Group {
  name: string;
  waiting: QueueEntry[];
}
type Node = Group | QueueEntry;

const ICONS: Record<Band | 'none', vscode.ThemeIcon> = {
  low: new vscode.ThemeIcon('circle-outline', new vscode.ThemeColor('vibes.band.low')),
  medium: new vscode.ThemeIcon('triangle-up', new vscode.ThemeColor('vibes.band.medium')),
  high: new vscode.ThemeIcon('warning', new vscode.ThemeColor('vibes.band.high')),
  critical: new vscode.ThemeIcon('error', new vscode.ThemeColor('vibes.band.critical')),
  none: new vscode.ThemeIcon('circle-small-filled', new vscode.ThemeColor('vibes.band.none')),
};

/** Whether a command argument is an entry of this view. */
export function isQueueEntry(node: unknown): node is QueueEntry {
  return typeof node === 'object' && node !== null && 'annotationId' in node && 'uri' in node;
}

export class ReviewTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private queue: QueueEntry[] | undefined;
  private isStale = true;
  private timer: NodeJS.Timeout | undefined;
  private pendingRequest: Promise<void> | undefined;
  private readonly trails = new TrailWatch(() => this.refreshSoon());
  private readonly changes = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<Node>;
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView('vibes.review', { treeDataProvider: this, showCollapseAll: true });
    this.disposables = [
      this.view,
      this.changes,
      this.trails,
      server.onDidChangeState(() => this.refreshSoon()),
      server.onDidFinishReading(() => this.refreshSoon()),
      server.onDidChangeProvenance((uri) => {
        const isEdited = vscode.workspace.textDocuments.some((each) => each.isDirty && each.uri.toString() === uri);
        if (!isEdited) this.refreshSoon(); // the queue covers saved text only
      }),
      vscode.workspace.onDidSaveTextDocument(() => this.refreshSoon()),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible && this.isStale) void this.refresh();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('vibes.review.groupBy')) this.changes.fire(undefined);
      }),
    ];
  }

  /** Requests the queue if the view is visible, else when it becomes visible. The old entries stay until the response. */
  async refresh(): Promise<void> {
    clearTimeout(this.timer);
    this.isStale = true;
    if (this.view.visible) await (this.pendingRequest ??= this.requestWhileStale());
  }

  async chooseGrouping(): Promise<void> {
    const chosen = await vscode.window.showQuickPick([...GROUPINGS], { title: 'Group the review queue by' });
    if (chosen) await vscode.workspace.getConfiguration('vibes').update('review.groupBy', chosen, vscode.ConfigurationTarget.Global);
  }

  getChildren(node?: Node): Node[] {
    if (node !== undefined) return isQueueEntry(node) ? [] : node.waiting;
    if (this.queue === undefined) return this.refreshSoon();
    const grouping = vscode.workspace.getConfiguration('vibes').get<Grouping>('review.groupBy', 'file');
    const groups = new Map<string, QueueEntry[]>();
    for (const each of this.queue) {
      const key = keyOf(each, grouping);
      groups.set(key, [...(groups.get(key) ?? []), each]);
    }
    return [...groups.values()].map((waiting) => ({ name: nameOf(waiting, grouping), waiting }));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return isQueueEntry(node) ? itemOf(node) : groupOf(node);
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private refreshSoon(): Node[] {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), REFRESH_DELAY);
    return [];
  }

  /** Sends one request at a time and repeats it after changes, so that an older response never replaces a newer one. */
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

  /** Updates the queue; returns whether the request succeeded. */
  private async request(): Promise<boolean> {
    try {
      const roots = await findTrails();
      this.trails.include(roots);
      if (this.server.state !== 'running') {
        this.queue = [];
        this.view.message = '';
        return true;
      }
      const answers = await Promise.all(
        roots.map((root) => this.server.run<Queue>('vibes.queue', { uri: this.server.toProtocolUri(root), limit: QUEUE_LIMIT })),
      );
      this.queue = answers.flatMap(({ placements }) => placements);
      this.showCounts(
        this.queue,
        answers.reduce((sum, { total }) => sum + total, 0),
      );
      return true;
    } catch (error) {
      this.server.log.warn(`the review queue: ${String(error)}`);
      this.view.message = plain(error instanceof Error ? error.message : String(error), 300);
      this.queue ??= [];
      return false;
    }
  }

  private showCounts(queue: QueueEntry[], total: number): void {
    const risky = queue.filter(({ band }) => band === 'high' || band === 'critical').length;
    this.view.badge = risky > 0 ? { value: risky, tooltip: `${risky} unreviewed ranges of high or critical risk` } : undefined;
    const rest = total - queue.length;
    this.view.message = rest > 0 ? `The first ${queue.length} of ${total}.` : '';
    void vscode.commands.executeCommand('setContext', 'vibes.queueKnown', true);
  }
}

function keyOf(waiting: QueueEntry, grouping: Grouping): string {
  if (grouping === 'file') return waiting.uri;
  return (grouping === 'prompt' ? waiting.promptHash : waiting.sessionId) ?? '';
}

function nameOf([first]: QueueEntry[], grouping: Grouping): string {
  if (grouping === 'file') return plain(first?.filePath, 200);
  if (grouping === 'prompt') return plain(first?.prompt ?? 'Without a prompt');
  return first?.sessionId === undefined ? 'Without a session' : `Session ${plain(first.sessionId, 12)}`;
}

function groupOf({ name, waiting }: Group): vscode.TreeItem {
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.Expanded);
  item.description = String(waiting.length);
  item.tooltip = name;
  item.accessibilityInformation = { label: `${name}, ${waiting.length} to review` };
  return item;
}

function itemOf(waiting: QueueEntry): vscode.TreeItem {
  const where =
    waiting.functionName === undefined ? `Lines ${waiting.lineStart ?? '?'}-${waiting.lineEnd ?? '?'}` : plain(waiting.functionName, 60);
  const score = waiting.score ?? waiting.storedScore;
  const risk = waiting.band === null ? '' : `${waiting.band}${score === null ? '' : ` ${score.toFixed(2)}`} · `;
  const who = plain(waiting.model.name ?? 'unknown model', 40);
  const stale = waiting.review?.stale === true ? ' · changed since its review' : '';
  const item = new vscode.TreeItem(where);
  item.id = `${waiting.uri}#${waiting.annotationId}`; // a copy of the trail in the workspace, such as a git worktree, has the same ids
  item.description = `${risk}${who}${stale}`;
  item.iconPath = ICONS[waiting.band ?? 'none'];
  item.contextValue = 'waiting';
  item.tooltip = `${plain(waiting.filePath, 200)}: ${where}\n${risk}${who}${stale}\n${plain(waiting.prompt ?? 'no prompt recorded', 300)}`;
  item.accessibilityInformation = { label: `${where} of ${plain(waiting.filePath, 200)}, ${risk}${who}${stale}` };
  item.command = { command: 'vscode.open', title: 'Open', arguments: [vscode.Uri.parse(waiting.uri), { selection: selectionOf(waiting) }] };
  return item;
}

function selectionOf({ lineStart }: QueueEntry): vscode.Range {
  const line = (lineStart ?? 1) - 1;
  return new vscode.Range(line, 0, line, 0);
}
