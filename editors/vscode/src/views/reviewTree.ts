// The review view: what waits for a review, highest risk first, grouped by file, prompt or session; before it what is proposed to the
// knowledge base.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { isProposed, type Proposals, type Proposed } from '../knowledge/proposals';
import { iconOf } from '../marks/shapes';
import type { Band } from '../protocol';
import type { ReviewQueue, Waiting } from '../reviewQueue';
import type { Server } from '../server/server';
import { plain } from '../text';
import { ago, fullTime } from '../time';
import { proposalGroupItem, proposalItem, type ProposalGroup } from './proposalRows';

/** Rows of a group, and groups, that are shown at first and with each click on *Show More*. */
const PAGE = 200;
/** Groups are open as long as they have this many rows together. */
const MAX_OPEN_ROWS = 400;
/** Milliseconds between two updates while rows arrive. */
const UPDATE_INTERVAL = 400;
const GROUPINGS = ['file', 'prompt', 'session'] as const;
type Grouping = (typeof GROUPINGS)[number];
const BAND_NAMES: readonly Band[] = ['critical', 'high', 'medium', 'low'];

interface Group {
  kind: 'group';
  key: string;
  rows: Waiting[];
  isOpen: boolean;
}
/** The row that shows more rows of a group, or more groups. */
interface More {
  kind: 'more';
  key: string;
  rest: number;
}
type Node = Group | ProposalGroup | More | Waiting | Proposed;

/** Whether a command argument is a row of this view. */
export function isWaiting(node: unknown): node is Waiting {
  return typeof node === 'object' && node !== null && 'annotationId' in node && 'lineStart' in node && 'uri' in node;
}

export class ReviewTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private readonly limits = new Map<string, number>();
  private timer: NodeJS.Timeout | undefined;
  private endProgress: (() => void) | undefined;
  private readonly changes = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<Node>;
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changes.event;

  constructor(
    private readonly server: Server,
    private readonly queue: ReviewQueue,
    private readonly proposals: Proposals,
  ) {
    this.view = vscode.window.createTreeView('vibes.review', { treeDataProvider: this, showCollapseAll: true });
    this.disposables = [
      this.view,
      this.changes,
      queue.onDidChange(() => this.updateSoon()),
      proposals.onDidChange(() => this.update()),
      server.onDidChangeState(() => this.updateHeader()),
      this.view.onDidChangeVisibility(({ visible }) => this.watch(visible)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('vibes.review.groupBy')) this.changes.fire(undefined);
      }),
      vscode.commands.registerCommand('vibes.ui.showMore', (key: unknown) => this.showMore(String(key))),
    ];
    this.watch(this.view.visible);
  }

  async chooseGrouping(): Promise<void> {
    const chosen = await vscode.window.showQuickPick([...GROUPINGS], { title: 'Group the review queue by' });
    if (chosen) await vscode.workspace.getConfiguration('vibes').update('review.groupBy', chosen, vscode.ConfigurationTarget.Global);
  }

  getChildren(node?: Node): Node[] {
    if (node === undefined) return [...this.proposalGroups(), ...this.page('', this.groups())];
    return 'rows' in node ? this.page(node.key, node.rows) : [];
  }

  getTreeItem(node: Node): vscode.TreeItem {
    if (isWaiting(node)) return rowItem(node, grouping());
    if (isProposed(node)) return proposalItem(node);
    if (node.kind === 'proposals') return proposalGroupItem(node, this.proposals.byProject.size === 1);
    return node.kind === 'more' ? moreItem(node) : groupItem(node, grouping());
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.endProgress?.();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private watch(isVisible: boolean): void {
    this.queue.watch(isVisible);
    this.proposals.watch(isVisible);
  }

  private proposalGroups(): ProposalGroup[] {
    const groups = [...this.proposals.byProject].map(([project, rows]) => ({
      kind: 'proposals' as const,
      key: `proposals:${project}`,
      rows,
    }));
    return groups.filter(({ rows }) => rows.length > 0);
  }

  private groups(): Group[] {
    const by = grouping();
    const groups = new Map<string, Group>();
    for (const each of this.queue.rows) {
      const key = keyOf(each, by);
      const group = groups.get(key);
      if (group === undefined) groups.set(key, { kind: 'group', key, rows: [each], isOpen: false });
      else group.rows.push(each);
    }
    let rows = 0;
    for (const group of groups.values()) {
      group.isOpen = rows === 0 || rows + group.rows.length <= MAX_OPEN_ROWS;
      rows += group.rows.length;
    }
    return [...groups.values()];
  }

  /** Returns the first nodes, and one that shows more: VS Code builds all nodes of an open group at once. */
  private page(key: string, nodes: readonly (Group | Waiting | Proposed)[]): Node[] {
    const limit = this.limits.get(key) ?? PAGE;
    const rest = nodes.length - limit;
    return rest <= 0 ? [...nodes] : [...nodes.slice(0, limit), { kind: 'more', key, rest }];
  }

  private showMore(key: string): void {
    this.limits.set(key, (this.limits.get(key) ?? PAGE) + PAGE);
    this.changes.fire(undefined);
  }

  /** Shows the first rows at once, and those that follow together. */
  private updateSoon(): void {
    if (!this.queue.isLoading) {
      clearTimeout(this.timer);
      this.timer = undefined;
      this.update();
      return;
    }
    if (this.timer !== undefined) return;
    this.update();
    if (this.queue.rows.length === 0) return;
    this.timer = setTimeout(() => {
      this.timer = undefined;
      this.update();
    }, UPDATE_INTERVAL);
  }

  private update(): void {
    this.updateHeader();
    this.changes.fire(undefined);
  }

  /** Shows progress, the counts, and why there are no rows. */
  private updateHeader(): void {
    const { rows, reviewed, isLoading, isKnown, failure } = this.queue;
    const isBusy = isLoading || this.server.state === 'starting';
    if (isBusy) this.showProgress();
    else this.endProgress?.();
    void vscode.commands.executeCommand('setContext', 'vibes.queueKnown', isKnown);
    void vscode.commands.executeCommand('setContext', 'vibes.starting', this.server.state === 'starting');
    const total = rows.length + this.proposals.count;
    const summary = `${total} to review${countsOf(rows, this.proposals.count)}`;
    this.view.badge = isKnown && total > 0 ? { value: total, tooltip: summary } : undefined;
    this.view.description = isKnown && rows.length + reviewed > 0 ? `${reviewed} of ${rows.length + reviewed} reviewed` : '';
    const reason = failure ?? this.proposals.failure;
    if (reason !== undefined) this.view.message = plain(reason, 300);
    else if (isLoading) this.view.message = `Reading the project: ${rows.length} to review so far…`;
    else this.view.message = total === 0 ? '' : summary;
  }

  private showProgress(): void {
    if (this.endProgress !== undefined) return;
    const ended = new Promise<void>((resolve) => {
      this.endProgress = () => {
        this.endProgress = undefined;
        resolve();
      };
    });
    void vscode.window.withProgress({ location: { viewId: 'vibes.review' } }, () => ended);
  }
}

function grouping(): Grouping {
  return vscode.workspace.getConfiguration('vibes').get<Grouping>('review.groupBy', 'file');
}

/** Returns the numbers of the risk bands and proposals, such as `: 1 critical, 2 high, 1 proposal`; empty if there are none. */
function countsOf(rows: readonly Waiting[], proposals: number): string {
  const counts = BAND_NAMES.map((band) => [rows.filter((row) => row.band === band).length, band] as const);
  const some = counts.filter(([count]) => count > 0).map(([count, band]) => `${count} ${band}`);
  if (proposals > 0) some.push(`${proposals} ${proposals === 1 ? 'proposal' : 'proposals'}`);
  return some.length === 0 ? '' : `: ${some.join(', ')}`;
}

function keyOf(row: Waiting, by: Grouping): string {
  return `${by}:${(by === 'file' ? row.uri : by === 'prompt' ? row.promptHash : row.sessionId) ?? ''}`;
}

function groupItem({ key, rows, isOpen }: Group, by: Grouping): vscode.TreeItem {
  const state = isOpen ? vscode.TreeItemCollapsibleState.Expanded : vscode.TreeItemCollapsibleState.Collapsed;
  const [first] = rows;
  const { name, folder, full } = titleOf(first, by);
  const item = new vscode.TreeItem(name, state);
  item.id = key;
  item.description = `${folder}${folder === '' ? '' : ' · '}${rows.length}`;
  item.tooltip = full;
  item.accessibilityInformation = { label: `${full}, ${rows.length} to review` };
  if (by === 'file' && first !== undefined) {
    item.resourceUri = vscode.Uri.parse(first.uri);
    item.iconPath = vscode.ThemeIcon.File;
  } else item.iconPath = new vscode.ThemeIcon(by === 'prompt' ? 'comment' : 'robot');
  return item;
}

function titleOf(row: Waiting | undefined, by: Grouping): { name: string; folder: string; full: string } {
  if (by === 'file') {
    const { base, folder } = partsOf(row?.filePath ?? '');
    return { name: base, folder, full: plain(row?.filePath, 200) };
  }
  if (by === 'prompt') {
    const name = row?.promptHash === undefined ? 'Without a prompt' : plain(row.prompt ?? 'Prompt without text');
    return { name, folder: '', full: name };
  }
  if (row?.sessionId === undefined) return { name: 'Without a session', folder: '', full: 'Without a session' };
  const name = plain(row.tool ?? 'Session', 60);
  const when = ago(row.timestamp) ?? '';
  return { name, folder: when, full: `${name}, ${when}` };
}

function rowItem(row: Waiting, by: Grouping): vscode.TreeItem {
  const lines = row.lineStart === row.lineEnd ? `line ${row.lineStart}` : `lines ${row.lineStart}-${row.lineEnd}`;
  const { base, folder } = partsOf(row.filePath);
  const risk = row.band === null ? '' : `${row.band}${row.score === null ? '' : ` ${row.score.toFixed(2)}`}`;
  const stale = row.isStale ? 'changed since its review' : '';
  const name = plain(row.name, 80) || lines;
  const place = by === 'file' ? lines : `${base}:${row.lineStart}`;
  const who = [plain(row.model ?? '', 40), ago(row.timestamp) ?? ''].filter(Boolean).join(', ');
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.None);
  item.id = `${row.uri}#${row.annotationId}`; // a copy of the trail in the workspace, such as a git worktree, has the same ids
  item.description = [place, risk, stale, by === 'file' ? '' : folder].filter(Boolean).join(' · ');
  item.iconPath = iconOf(row.band);
  item.contextValue = 'waiting';
  const details = [`${plain(row.filePath, 200)}, ${lines}`, risk && `Risk: ${risk}`, who, fullTime(row.timestamp) ?? '', stale];
  item.tooltip = [name, ...details, plain(row.prompt ?? 'No prompt is recorded', MAX_PROMPT)].filter(Boolean).join('\n');
  const spoken = [name, risk, `${lines} of ${plain(row.filePath, 200)}`, who, stale];
  item.accessibilityInformation = { label: spoken.filter(Boolean).join(', ') };
  item.command = { command: 'vscode.open', title: 'Open', arguments: [vscode.Uri.parse(row.uri), { selection: selectionOf(row) }] };
  return item;
}

const MAX_PROMPT = 300;

function moreItem({ key, rest }: More): vscode.TreeItem {
  const name = `Show ${Math.min(PAGE, rest)} more of ${rest}`;
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.None);
  item.id = `more:${key}`;
  item.iconPath = new vscode.ThemeIcon('ellipsis');
  item.accessibilityInformation = { label: name };
  item.command = { command: 'vibes.ui.showMore', title: 'Show More', arguments: [key] };
  return item;
}

function partsOf(filePath: string): { base: string; folder: string } {
  const folder = path.posix.dirname(filePath);
  return { base: plain(path.posix.basename(filePath), 100), folder: folder === '.' ? '' : plain(folder, 100) };
}

function selectionOf({ lineStart }: Waiting): vscode.Range {
  return new vscode.Range(lineStart - 1, 0, lineStart - 1, 0);
}
