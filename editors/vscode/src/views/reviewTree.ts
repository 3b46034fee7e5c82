// The review view: what waits for a person, the riskiest first, grouped by file, prompt or session.

import * as vscode from 'vscode';
import type { Band, Queue, Waiting } from '../protocol';
import type { Server } from '../server/server';
import { plain } from '../text';
import { findTrails, TrailWatch } from '../trails';

const AT_MOST = 500;
const PAUSE = 300;
const GROUPINGS = ['file', 'prompt', 'session'] as const;
type Grouping = (typeof GROUPINGS)[number];

interface Group {
  name: string;
  waiting: Waiting[];
}
type Node = Group | Waiting;

const ICONS: Record<Band | 'none', vscode.ThemeIcon> = {
  low: new vscode.ThemeIcon('circle-outline', new vscode.ThemeColor('vibes.band.low')),
  medium: new vscode.ThemeIcon('triangle-up', new vscode.ThemeColor('vibes.band.medium')),
  high: new vscode.ThemeIcon('warning', new vscode.ThemeColor('vibes.band.high')),
  critical: new vscode.ThemeIcon('error', new vscode.ThemeColor('vibes.band.critical')),
  none: new vscode.ThemeIcon('circle-small-filled', new vscode.ThemeColor('vibes.band.none')),
};

/** Returns whether an argument of a command is an entry of this view. */
export function isWaiting(node: unknown): node is Waiting {
  return typeof node === 'object' && node !== null && 'annotationId' in node && 'uri' in node;
}

export class ReviewTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private queue: Waiting[] | undefined;
  private isOld = true;
  private timer: NodeJS.Timeout | undefined;
  private asking: Promise<void> | undefined;
  private readonly trails = new TrailWatch(() => this.refreshSoon());
  private readonly changes = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<Node>;
  private readonly parts: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changes.event;

  constructor(private readonly server: Server) {
    this.view = vscode.window.createTreeView('vibes.review', { treeDataProvider: this, showCollapseAll: true });
    this.parts = [
      this.view,
      this.changes,
      this.trails,
      server.onDidChangeLife(() => this.refreshSoon()),
      server.onDidFinishReading(() => this.refreshSoon()),
      server.onDidChangeProvenance((uri) => {
        const isEdited = vscode.workspace.textDocuments.some((each) => each.isDirty && each.uri.toString() === uri);
        if (!isEdited) this.refreshSoon(); // the queue is about what is saved
      }),
      vscode.workspace.onDidSaveTextDocument(() => this.refreshSoon()),
      this.view.onDidChangeVisibility(({ visible }) => {
        if (visible && this.isOld) void this.refresh();
      }),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('vibes.review.groupBy')) this.changes.fire(undefined);
      }),
    ];
  }

  /** Asks the server again, when the view is to be seen, else once it will be. What is listed stays until the answer is there. */
  async refresh(): Promise<void> {
    clearTimeout(this.timer);
    this.isOld = true;
    if (this.view.visible) await (this.asking ??= this.askWhileOld());
  }

  async chooseGrouping(): Promise<void> {
    const chosen = await vscode.window.showQuickPick([...GROUPINGS], { title: 'Group the review queue by' });
    if (chosen) await vscode.workspace.getConfiguration('vibes').update('review.groupBy', chosen, vscode.ConfigurationTarget.Global);
  }

  getChildren(node?: Node): Node[] {
    if (node !== undefined) return isWaiting(node) ? [] : node.waiting;
    if (this.queue === undefined) return this.refreshSoon();
    const grouping = vscode.workspace.getConfiguration('vibes').get<Grouping>('review.groupBy', 'file');
    const groups = new Map<string, Waiting[]>();
    for (const each of this.queue) {
      const key = keyOf(each, grouping);
      groups.set(key, [...(groups.get(key) ?? []), each]);
    }
    return [...groups.values()].map((waiting) => ({ name: nameOf(waiting, grouping), waiting }));
  }

  getTreeItem(node: Node): vscode.TreeItem {
    return isWaiting(node) ? itemOf(node) : groupOf(node);
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.parts).dispose();
  }

  private refreshSoon(): Node[] {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => void this.refresh(), PAUSE);
    return [];
  }

  /** Asks one question at a time: what is new meanwhile is asked about afterwards, so that no answer is overtaken. */
  private async askWhileOld(): Promise<void> {
    try {
      for (let isAnswered = true; isAnswered && this.isOld && this.view.visible;) {
        this.isOld = false;
        isAnswered = await this.ask();
        this.isOld ||= !isAnswered;
        this.changes.fire(undefined);
      }
    } finally {
      this.asking = undefined;
    }
  }

  /** Returns whether there was an answer. */
  private async ask(): Promise<boolean> {
    try {
      const roots = await findTrails();
      this.trails.include(roots);
      if (this.server.life !== 'running') {
        this.queue = [];
        this.view.message = '';
        return true;
      }
      const answers = await Promise.all(
        roots.map((root) => this.server.run<Queue>('vibes.queue', { uri: this.server.toWire(root), limit: AT_MOST })),
      );
      this.queue = answers.flatMap(({ placements }) => placements);
      this.tellHowMany(
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

  private tellHowMany(queue: Waiting[], total: number): void {
    const risky = queue.filter(({ band }) => band === 'high' || band === 'critical').length;
    this.view.badge = risky > 0 ? { value: risky, tooltip: `${risky} unreviewed ranges of high or critical risk` } : undefined;
    const rest = total - queue.length;
    this.view.message = rest > 0 ? `The first ${queue.length} of ${total}.` : '';
    void vscode.commands.executeCommand('setContext', 'vibes.queueKnown', true);
  }
}

function keyOf(waiting: Waiting, grouping: Grouping): string {
  if (grouping === 'file') return waiting.uri;
  return (grouping === 'prompt' ? waiting.promptHash : waiting.sessionId) ?? '';
}

function nameOf([first]: Waiting[], grouping: Grouping): string {
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

function itemOf(waiting: Waiting): vscode.TreeItem {
  const where =
    waiting.functionName === undefined ? `Lines ${waiting.lineStart ?? '?'}-${waiting.lineEnd ?? '?'}` : plain(waiting.functionName, 60);
  const score = waiting.score ?? waiting.storedScore;
  const risk = waiting.band === null ? '' : `${waiting.band}${score === null ? '' : ` ${score.toFixed(2)}`} · `;
  const who = plain(waiting.model.name ?? 'unknown model', 40);
  const stale = waiting.review?.stale === true ? ' · changed since its review' : '';
  const item = new vscode.TreeItem(where);
  item.id = `${waiting.uri}#${waiting.annotationId}`; // a copy of a trail in the workspace, as a worktree has one, has the same ids
  item.description = `${risk}${who}${stale}`;
  item.iconPath = ICONS[waiting.band ?? 'none'];
  item.contextValue = 'waiting';
  item.tooltip = `${plain(waiting.filePath, 200)}: ${where}\n${risk}${who}${stale}\n${plain(waiting.prompt ?? 'no prompt recorded', 300)}`;
  item.accessibilityInformation = { label: `${where} of ${plain(waiting.filePath, 200)}, ${risk}${who}${stale}` };
  item.command = { command: 'vscode.open', title: 'Open', arguments: [vscode.Uri.parse(waiting.uri), { selection: selectionOf(waiting) }] };
  return item;
}

function selectionOf({ lineStart }: Waiting): vscode.Range {
  const line = (lineStart ?? 1) - 1;
  return new vscode.Range(line, 0, line, 0);
}
