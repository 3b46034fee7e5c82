// The provenance view: who wrote the lines at the cursor, when and why, in words; then what led to them and what followed.

import * as vscode from 'vscode';
import { isAnnotationRef, isPlainId } from '../commandLinks';
import type { Members, PlacementWithRuns, ShowResult } from '../protocol';
import type { ProvenanceCache } from '../provenance';
import type { Server } from '../server/server';
import { plain } from '../text';
import { ago, fullTime } from '../time';
import { describe, leavesOf, relationOf, type Description } from './records';

const UPDATE_DELAY = 150;
const MAX_LENGTH = 300;
/** Relations whose other end is looked up at once; the others wait in a row of their own. */
const PAGE = 20;

export interface Node {
  name: string;
  value: string;
  tooltip?: string | undefined;
  icon?: string;
  command?: vscode.Command;
  children?: () => Node[] | Promise<Node[]>;
}

export class ProvenanceTree implements vscode.TreeDataProvider<Node>, vscode.Disposable {
  private shown: PlacementWithRuns | undefined;
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

  /** Focuses the view on an annotation, by default the one at the cursor. */
  async reveal(argument?: unknown): Promise<void> {
    await vscode.commands.executeCommand('vibes.provenance.focus');
    this.update(true);
    if (!isAnnotationRef(argument)) return;
    const uri = vscode.Uri.parse(argument.uri);
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === uri.toString());
    const found = document && this.cache.get(document)?.placements.find(({ annotationId }) => annotationId === argument.annotationId);
    if (found !== undefined) this.set(found, uri);
  }

  async getChildren(node?: Node): Promise<Node[]> {
    if (node !== undefined) return (await node.children?.()) ?? [];
    if (this.shown === undefined || this.uri === undefined || this.server.state !== 'running') return [];
    return await this.rootsOf(this.shown, this.uri);
  }

  getTreeItem({ name, value, tooltip, icon, command, children }: Node): vscode.TreeItem {
    const state = children === undefined ? vscode.TreeItemCollapsibleState.None : vscode.TreeItemCollapsibleState.Collapsed;
    const item = new vscode.TreeItem(name, state);
    item.description = value;
    const words = value === '' ? name : `${name}: ${value}`;
    item.tooltip = tooltip ?? words;
    item.accessibilityInformation = { label: words };
    if (icon !== undefined) item.iconPath = new vscode.ThemeIcon(icon);
    if (command !== undefined) item.command = command;
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
    if (!this.view.visible || editor?.document.uri.scheme !== 'file' || this.cache.isPending(editor.document)) return;
    const found = this.cache.placementAt(editor.document, editor.selection.active.line);
    if (!isForced && found?.annotationId === this.shown?.annotationId) return;
    this.set(found, editor.document.uri);
  }

  private set(placement: PlacementWithRuns | undefined, uri: vscode.Uri): void {
    this.shown = placement;
    this.uri = uri;
    this.view.description = placement === undefined ? '' : plain(placement.displayName, 60);
    this.changes.fire(undefined);
  }

  private async rootsOf(placement: PlacementWithRuns, uri: vscode.Uri): Promise<Node[]> {
    const { annotationId, model, tool, prompt, commitHash } = placement;
    const ref = { uri: uri.toString(), annotationId };
    const open = (command: string, title: string) =>
      isPlainId(annotationId) ? { command: { command, title, arguments: [ref] } satisfies vscode.Command } : {};
    const shown = await this.show(annotationId);
    const nodes: (Node | undefined)[] = [
      named('Model', versioned(model), 'sparkle'),
      named('Tool', versioned(tool), 'tools'),
      named('When', ago(placement.timestamp), 'calendar', fullTime(placement.timestamp)),
      prompt === undefined ? undefined : { ...row('Prompt', prompt, 'comment'), ...open('vibes.ui.showPrompt', 'Show Prompt') },
      { ...row('State', placement.stateText, 'location'), ...open('vibes.ui.showHistory', 'Show History') },
      riskOf(placement),
      row('Review', reviewOf(placement), 'check'),
      commitHash === undefined
        ? undefined
        : {
            ...row('Commit', [commitHash.slice(0, 8), placement.commitSubject].filter(Boolean).join(' '), 'git-commit', commitHash),
            ...open('vibes.ui.showCommit', 'Show Commit'),
          },
    ];
    if (shown === undefined) return nodes.filter((each) => each !== undefined);
    const session = placement.sessionId === undefined ? undefined : await this.entity(placement.sessionId, 'Session');
    const known = new Set([placement.promptHash, placement.sessionId, ...placement.ids]);
    const relations = await this.relationsOf(shown, (id) => known.has(id));
    return [...nodes, session, ...relations, asRecorded(shown)].filter((each) => each !== undefined);
  }

  /** Returns the edges of a record or entry in words, except those to ends that are shown already. */
  private async relationsOf({ id, edges }: ShowResult, isKnown: (id: string) => boolean): Promise<Node[]> {
    const all = [
      ...edges.out.map((edge) => ({ edge, other: String(edge.target_ref), isForwards: true })),
      ...edges.in.filter((edge) => edge.source_ref !== id).map((edge) => ({ edge, other: String(edge.source_ref), isForwards: false })),
    ].filter(({ other, edge }) => edge.edge_type !== 'reviewed_by' && !isKnown(other));
    const page = async (from: number): Promise<Node[]> => {
      const nodes = await Promise.all(
        all.slice(from, from + PAGE).map(({ edge, other, isForwards }) => this.entity(other, '', edge, isForwards, id)),
      );
      const rest = all.length - from - PAGE;
      return rest <= 0 ? nodes : [...nodes, { ...row(`${rest} more`, '', 'ellipsis'), children: () => page(from + PAGE) }];
    };
    return await page(0);
  }

  /** Returns a record, entry or session in words; inside it, its members and relations. */
  private async entity(id: string, name: string, edge?: Members, isForwards = true, from?: string): Promise<Node> {
    const shown = await this.show(id);
    const relation = edge === undefined ? undefined : relationOf(plain(edge.edge_type, 40), isForwards);
    if (shown === undefined) return row(name || (relation ?? 'Related'), `not in this audit trail (${plain(id, 100)})`, 'question');
    const found = describe(shown);
    const title = name || (relation === undefined || found.standsAlone ? found.kind : relation);
    const metadata = edge?.metadata;
    const about = typeof metadata === 'object' && metadata !== null && !Array.isArray(metadata) ? leavesOf(metadata as Members) : [];
    return {
      ...row(title, found.text, found.icon, found.tooltip),
      children: async () => [
        ...this.openingOf(found),
        ...leavesOf(shown.entry ?? shown.record ?? {}),
        ...about,
        ...(await this.relationsOf(shown, (other) => other === from)),
        asRecorded(shown),
      ],
    };
  }

  /** Returns a row that opens the code or the file that a record or entry is about. */
  private openingOf({ file, line }: Description): Node[] {
    const target = file === undefined ? undefined : this.inProject(file);
    if (target === undefined) return [];
    const at = new vscode.Position(Math.max(0, (line ?? 1) - 1), 0);
    const command = { command: 'vscode.open', title: 'Open', arguments: [target, { selection: new vscode.Range(at, at) }] };
    return [{ ...row('Open', `${file ?? ''}${line === undefined ? '' : `:${line}`}`, 'go-to-file'), command }];
  }

  /** Returns a file of the project; undefined for a path that leads out of it. */
  private inProject(file: string): vscode.Uri | undefined {
    const { shown, uri } = this;
    if (shown === undefined || !uri?.path.endsWith(`/${shown.filePath}`)) return undefined;
    const root = uri.with({ path: uri.path.slice(0, -shown.filePath.length) });
    const target = vscode.Uri.joinPath(root, file);
    return target.path.startsWith(root.path) ? target : undefined;
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

function row(name: string, value: string, icon: string, tooltip?: string): Node {
  return { name, value: plain(value, MAX_LENGTH), icon, tooltip };
}

/** Returns a row; undefined if there is nothing to say. */
function named(name: string, value: string | undefined, icon: string, tooltip?: string): Node | undefined {
  return value === undefined || value === '' ? undefined : row(name, value, icon, tooltip);
}

function versioned({ name, version }: { name: string | null; version: string | null }): string {
  return [name, version].filter((each) => each !== null && each !== '' && each !== 'unknown').join(' ');
}

function riskOf({ band, score, storedScore, factors, reasons }: PlacementWithRuns): Node | undefined {
  if (band === null) return undefined;
  const figure = score ?? storedScore;
  const why = reasons.length === 0 ? '' : `: ${reasons.join('; ')}`;
  const node = row('Risk', `${band}${figure === null ? '' : ` ${figure.toFixed(2)}`}${why}`, 'flame');
  const members = (factors ?? []).filter((each) => typeof each === 'object');
  if (members.length === 0) return node;
  const factor = (each: Members): Node =>
    row(
      plain(each.signal, 60).replaceAll('_', ' '),
      `${plain(each.value, 8)} × ${plain(each.weight, 8)} ${plain(each.reason, 200)}`,
      'dash',
    );
  return { ...node, children: () => members.map(factor) };
}

function reviewOf({ review, waits }: PlacementWithRuns): string {
  if (review === null) return waits ? 'not reviewed' : 'none needed';
  const who = `${review.verdict ?? 'reviewed'} by ${review.by ?? 'an unknown reviewer'}${review.kind === 'ai' ? ' (AI)' : ''}`;
  return [who, ago(review.at), review.stale ? 'but the lines have changed since' : ''].filter(Boolean).join(', ');
}

/** Returns the record or entry exactly as it is on disk, with all hashes. */
function asRecorded({ record, entry }: ShowResult): Node {
  const members = Object.entries(entry ?? record ?? {});
  const children = () =>
    members.map(([name, value]): Node => {
      const text = plain(value, MAX_LENGTH);
      return { name: plain(name, 60), value: text };
    });
  return { ...row('As recorded', '', 'json'), children };
}
