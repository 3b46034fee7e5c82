// The provenance view: the record at the cursor, and the records that its edges lead to.

import * as vscode from 'vscode';
import type { Members, Placement, ShowResult } from '../protocol';
import type { ProvenanceCache } from '../provenance';
import type { Server } from '../server/server';
import { plain } from '../text';

const UPDATE_DELAY = 150;
const MAX_LENGTH = 300;

interface Leaf {
  kind: 'leaf';
  name: string;
  value: string;
}
interface Branch {
  kind: 'branch';
  name: string;
  value: string;
  icon: string;
  children: () => Node[] | Promise<Node[]>;
}
type Node = Leaf | Branch;

/** Labels of an edge, seen from its source and from its target. */
const EDGE_LABELS: Record<string, [forwards: string, backwards: string]> = {
  caused_by: ['caused by', 'caused'],
  informed_by: ['informed by', 'informed'],
  depends_on: ['depends on', 'is depended on by'],
  supersedes: ['supersedes', 'superseded by'],
  reviewed_by: ['reviewed by', 'reviews'],
  delegated_to: ['delegated to', 'delegated by'],
};

export class ProvenanceTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private shown: Placement | undefined;
  private uri: vscode.Uri | undefined;
  private timer: NodeJS.Timeout | undefined;
  private readonly changes = new vscode.EventEmitter<undefined>();
  private readonly view: vscode.TreeView<Node>;
  private readonly disposables: { dispose(): unknown }[];

  readonly onDidChangeTreeData = this.changes.event;

  constructor(
    private readonly server: Server,
    private readonly cache: ProvenanceCache,
  ) {
    this.view = vscode.window.createTreeView('vibes.provenance', { treeDataProvider: this });
    this.disposables = [
      this.view,
      this.changes,
      vscode.window.onDidChangeTextEditorSelection(() => this.updateSoon()),
      vscode.window.onDidChangeActiveTextEditor(() => this.updateSoon()),
      cache.onDidChange((document) => {
        if (document === vscode.window.activeTextEditor?.document) this.update(true);
      }),
      this.view.onDidChangeVisibility(() => this.update(true)),
    ];
  }

  /** Focuses the view on the record at the cursor. */
  async reveal(): Promise<void> {
    await vscode.commands.executeCommand('vibes.provenance.focus');
    this.update(true);
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node !== undefined) return node.kind === 'leaf' ? [] : await node.children();
    if (this.shown === undefined || this.server.state !== 'running') return [];
    return await this.rootsOf(this.shown);
  }

  getTreeItem(node: Node): vscode.TreeItem {
    const state = node.kind === 'leaf' ? vscode.TreeItemCollapsibleState.None : vscode.TreeItemCollapsibleState.Collapsed;
    const item = new vscode.TreeItem(node.name, state);
    item.description = node.value;
    const words = node.value === '' ? node.name : `${node.name}: ${node.value}`;
    item.tooltip = words;
    item.accessibilityInformation = { label: words };
    if (node.kind === 'branch') item.iconPath = new vscode.ThemeIcon(node.icon);
    return item;
  }

  dispose(): void {
    clearTimeout(this.timer);
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private updateSoon(): void {
    if (!this.view.visible) return;
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.update(false), UPDATE_DELAY);
  }

  private update(isForced: boolean): void {
    const editor = vscode.window.activeTextEditor;
    if (!this.view.visible || editor === undefined || this.cache.isPending(editor.document)) return;
    const found = this.cache.placementAt(editor.document, editor.selection.active.line);
    if (!isForced && found?.annotationId === this.shown?.annotationId) return;
    this.shown = found;
    this.uri = editor.document.uri;
    this.changes.fire(undefined);
  }

  private async rootsOf(placement: Placement): Promise<Node[]> {
    const leaves: Node[] = [
      leaf('What', placement.label),
      leaf('Model', [placement.model.name, placement.model.version].filter(Boolean).join(' ')),
      leaf('Tool', [placement.tool.name, placement.tool.version].filter(Boolean).join(' ')),
      ...(placement.prompt === undefined ? [] : [leaf('Prompt', placement.prompt)]),
      leaf('Review', reviewOf(placement)),
    ];
    const shown = await this.show(placement.annotationId);
    return shown === undefined ? leaves : [...leaves, ...this.edgesOf(shown), this.membersOf('Record', shown.record ?? {})];
  }

  private edgesOf({ id, edges }: ShowResult): Node[] {
    const out = edges.out.map((edge) => this.edge(edge, 'target', 0));
    const into = edges.in.filter((edge) => edge.source_ref !== id).map((edge) => this.edge(edge, 'source', 1));
    return [...out, ...into];
  }

  private edge(edge: Members, end: 'source' | 'target', direction: 0 | 1): Branch {
    const type = String(edge.edge_type);
    const other = String(edge[`${end}_ref`]);
    const kind = plain(edge[`${end}_type`], 20);
    const name = EDGE_LABELS[type]?.[direction] ?? plain(type, 40);
    const children = async () => {
      const shown = await this.show(other);
      const metadata = edge.metadata;
      const about = isMembers(metadata) ? [this.membersOf('About this edge', metadata)] : [];
      if (shown === undefined) return [leaf('Not found', other), ...about];
      return [...leavesOf(shown.entry ?? shown.record ?? {}), ...about, ...this.edgesOf(shown)];
    };
    return { kind: 'branch', name, value: `${kind} ${plain(other, 12)}`, icon: direction === 0 ? 'arrow-right' : 'arrow-left', children };
  }

  private membersOf(name: string, members: Members): Branch {
    return { kind: 'branch', name, value: '', icon: 'list-flat', children: () => leavesOf(members) };
  }

  private async show(id: string): Promise<ShowResult | undefined> {
    try {
      return await this.server.run<ShowResult>('vibes.show', { id, uri: this.uri && this.server.toProtocolUri(this.uri) });
    } catch (error) {
      this.server.log.debug(`nothing to show for ${plain(id)}: ${String(error)}`);
      return undefined;
    }
  }
}

function leavesOf(members: Members): Leaf[] {
  return Object.entries(members)
    .filter(([, value]) => value !== null)
    .map(([name, value]) => leaf(plain(name, 60), value));
}

function leaf(name: string, value: unknown): Leaf {
  return { kind: 'leaf', name, value: plain(value, MAX_LENGTH) };
}

function reviewOf({ review }: Placement): string {
  if (review === null) return 'not reviewed';
  return `${review.verdict ?? 'reviewed'} by ${review.by ?? 'an unknown reviewer'}${review.stale ? ', but the lines have changed since' : ''}`;
}

function isMembers(value: unknown): value is Members {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
