// What waits for a review in the projects of the workspace: the one source of the review view, its badge and its counts.

import * as vscode from 'vscode';
import type { Band, QueueEnd, QueueEntry, QueuePart } from './protocol';
import { RefreshLoop } from './refreshLoop';
import type { Server } from './server/server';
import { findTrails, TrailWatch } from './trails';

/** Characters of a prompt or a name that are kept: a queue may have many thousand rows. */
const MAX_TEXT = 300;

/** One row: the members of a queue entry that are shown. */
export interface Waiting {
  uri: string;
  annotationId: string;
  name: string;
  filePath: string;
  lineStart: number;
  lineEnd: number;
  band: Band | null;
  score: number | null;
  model: string | null;
  tool: string | null;
  timestamp: string | null;
  isStale: boolean;
  prompt: string | undefined;
  promptHash: string | undefined;
  sessionId: string | undefined;
}

/** The rows of one project, and how many of its annotations are reviewed. */
interface Project {
  rows: Waiting[];
  reviewed: number;
}

export class ReviewQueue implements vscode.Disposable {
  /** Why the last request failed. */
  failure: string | undefined;

  private projects = new Map<string, Project>();
  private state: 'unknown' | 'loading' | 'known' = 'unknown';
  private sorted: Waiting[] | undefined;
  private readonly loop = new RefreshLoop(async () => {
    const isAnswered = await this.request();
    this.changed();
    return isAnswered;
  });
  private readonly cancellation = new vscode.CancellationTokenSource();
  private readonly trails = new TrailWatch(() => this.loop.refreshSoon());
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly disposables: { dispose(): unknown }[];

  /** Fires when rows or counts have changed, also while they arrive. */
  readonly onDidChange = this.changes.event;

  constructor(private readonly server: Server) {
    this.disposables = [
      this.loop,
      this.changes,
      this.trails,
      this.cancellation,
      server.onDidChangeState(() => this.loop.refreshSoon()),
      server.onDidFinishReading(() => this.loop.refreshSoon()),
      server.onDidChangeProvenance((uri) => {
        const isEdited = vscode.workspace.textDocuments.some((each) => each.isDirty && each.uri.toString() === uri);
        if (!isEdited) this.loop.refreshSoon(); // the queue covers saved text only
      }),
      vscode.workspace.onDidSaveTextDocument(() => this.loop.refreshSoon()),
    ];
  }

  /** What waits, highest risk first. */
  get rows(): readonly Waiting[] {
    this.sorted ??= [...this.projects.values()].flatMap(({ rows }) => rows).sort(byRisk);
    return this.sorted;
  }

  /** The number of annotations with a review that counts. */
  get reviewed(): number {
    return [...this.projects.values()].reduce((sum, each) => sum + each.reviewed, 0);
  }

  /** Whether rows are still arriving for the first time. */
  get isLoading(): boolean {
    return this.state === 'loading';
  }

  /** Whether all rows were received. */
  get isKnown(): boolean {
    return this.state === 'known';
  }

  /** Requests the queue now if it is stale, and whenever it changes, as long as somebody looks at it. */
  watch(isWatched: boolean): void {
    this.loop.watch(isWatched);
  }

  /** Requests the queue if somebody looks at it, else when somebody does. The old rows stay until all new ones have come. */
  async refresh(): Promise<void> {
    await this.loop.refresh();
  }

  dispose(): void {
    this.cancellation.cancel();
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Replaces the rows; returns whether the request succeeded. */
  private async request(): Promise<boolean> {
    const received = new Map<string, Project>();
    const isFirst = this.state !== 'known';
    try {
      const roots = await findTrails();
      this.trails.include(roots);
      if (this.server.state !== 'running') {
        this.projects = received;
        this.state = 'unknown';
        this.failure = undefined;
        return true;
      }
      if (isFirst) {
        this.projects = received;
        this.state = 'loading';
        this.changed();
      }
      await Promise.all(roots.map((root) => this.receive(root, received, isFirst)));
      this.projects = received;
      this.state = 'known';
      this.failure = undefined;
      return true;
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
      this.server.log.warn(`the review queue: ${this.failure}`);
      if (isFirst) this.state = 'unknown';
      return false;
    }
  }

  private async receive(root: vscode.Uri, received: Map<string, Project>, isShown: boolean): Promise<void> {
    const project: Project = { rows: [], reviewed: 0 };
    received.set(root.toString(), project);
    const add = (part: object) => {
      const { placements, reviewed } = part as QueuePart;
      for (const each of placements) project.rows.push(rowOf(each));
      project.reviewed += reviewed;
      if (isShown) this.changed();
    };
    const args = { uri: this.server.toProtocolUri(root) };
    const end = await this.server.runInParts<QueueEnd>('vibes.queue', args, add, this.cancellation.token);
    if (end.isWhole === true) project.rows = end.placements.map(rowOf);
    project.reviewed = end.reviewed;
  }

  private changed(): void {
    this.sorted = undefined;
    this.changes.fire();
  }
}

function rowOf(entry: QueueEntry): Waiting {
  return {
    uri: entry.uri,
    annotationId: entry.annotationId,
    name: entry.displayName.slice(0, MAX_TEXT),
    filePath: entry.filePath,
    lineStart: entry.lineStart ?? 1,
    lineEnd: entry.lineEnd ?? entry.lineStart ?? 1,
    band: entry.band,
    score: entry.score ?? entry.storedScore,
    model: entry.model.name,
    tool: entry.tool.name,
    timestamp: entry.timestamp ?? null,
    isStale: entry.review?.stale === true,
    prompt: entry.prompt?.slice(0, MAX_TEXT),
    promptHash: entry.promptHash,
    sessionId: entry.sessionId,
  };
}

function byRisk(one: Waiting, other: Waiting): number {
  const byPath = one.filePath < other.filePath ? -1 : one.filePath > other.filePath ? 1 : 0;
  return (other.score ?? -1) - (one.score ?? -1) || byPath || one.lineStart - other.lineStart;
}
