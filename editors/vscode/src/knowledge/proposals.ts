// The proposals that wait for a decision in the knowledge bases of the workspace: a group of the review view, and part of its count.

import * as vscode from 'vscode';
import type { PendingProposals, Proposal } from '../protocol';
import { RefreshLoop } from '../refreshLoop';
import type { Server } from '../server/server';
import type { KnowledgeBases } from './knowledgeBases';

/** A proposal, and the project that it is in. */
export interface Proposed extends Proposal {
  project: string;
}

/** Whether a command argument is a proposal of the review view. */
export function isProposed(node: unknown): node is Proposed {
  return typeof node === 'object' && node !== null && 'proposalId' in node && 'project' in node;
}

export class Proposals implements vscode.Disposable {
  /** What waits, by project, the oldest first. */
  byProject: ReadonlyMap<string, readonly Proposed[]> = new Map();
  /** Why the last request failed. */
  failure: string | undefined;

  private readonly loop = new RefreshLoop(() => this.request());
  private readonly changes = new vscode.EventEmitter<void>();
  private readonly disposables: { dispose(): unknown }[];

  /** Fires when proposals have come or gone. */
  readonly onDidChange = this.changes.event;

  constructor(
    private readonly server: Server,
    private readonly bases: KnowledgeBases,
  ) {
    const refreshSoon = () => this.loop.refreshSoon();
    this.disposables = [
      this.loop,
      this.changes,
      bases.onDidChange(refreshSoon),
      server.onDidChangeState(refreshSoon),
      server.onDidChangeKnowledge(refreshSoon),
    ];
  }

  get count(): number {
    return [...this.byProject.values()].reduce((sum, each) => sum + each.length, 0);
  }

  /** Requests the proposals now if they are stale, and whenever they change, as long as somebody looks at them. */
  watch(isWatched: boolean): void {
    this.loop.watch(isWatched);
  }

  async refresh(): Promise<void> {
    await this.loop.refresh();
  }

  /** Returns the proposals of all projects, or of the one that a file is in. */
  async ask(file?: vscode.Uri): Promise<Proposed[]> {
    const projects = file === undefined ? this.bases.projects : [file];
    return (await Promise.all(projects.map((project) => pendingIn(this.server, project)))).flat();
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  /** Replaces the proposals; returns whether the request succeeded. */
  private async request(): Promise<boolean> {
    const received = new Map<string, readonly Proposed[]>();
    try {
      if (this.server.state === 'running')
        for (const project of this.bases.projects) received.set(project.toString(), await pendingIn(this.server, project));
      this.failure = undefined;
    } catch (error) {
      this.failure = error instanceof Error ? error.message : String(error);
      this.server.log.warn(`the knowledge base: ${this.failure}`);
    }
    if (this.failure === undefined) this.byProject = received;
    this.changes.fire();
    return this.failure === undefined;
  }
}

async function pendingIn(server: Server, project: vscode.Uri): Promise<Proposed[]> {
  const { pending } = await server.run<PendingProposals>('vibes.kbPending', { uri: server.toProtocolUri(project) });
  return pending.map((each) => ({ ...each, project: project.toString() }));
}
