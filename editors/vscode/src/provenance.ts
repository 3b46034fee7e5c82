// The latest `vibes/provenance` response for each visible document. It is requested again after an edit, and when the server reports a change.

import * as vscode from 'vscode';
import type { PlacementWithRuns, Provenance, ProvenanceDelta, ErrorData, Run } from './protocol';
import type { Server } from './server/server';

/** Milliseconds between the last edit and the next request. It exceeds the time between two keys; decorations move with the text meanwhile. */
const REQUEST_DELAY = 500;
/** Error codes for a document without placements: no trail owns it, or the server cannot read it. */
const NO_PLACEMENTS = ['audit-dir-not-found', 'unreadable-file'];

export class ProvenanceCache implements vscode.Disposable {
  private readonly answers = new Map<string, Provenance>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly changes = new vscode.EventEmitter<vscode.TextDocument>();
  private readonly disposables: { dispose(): unknown }[];

  /** Fires when the response for a document has changed or was dropped. */
  readonly onDidChange = this.changes.event;

  constructor(private readonly server: Server) {
    this.disposables = [
      this.changes,
      server.onDidChangeState((life) => {
        if (life === 'running') this.requestVisible();
        else this.clear();
      }),
      server.onDidChangeProvenance((uri) => {
        const document = visibleDocuments().find((each) => each.uri.toString() === uri);
        if (document === undefined) this.answers.delete(uri);
        else if (!this.timers.has(uri)) void this.request(document); // else a request is already scheduled
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.requestVisible()),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && this.answers.has(document.uri.toString())) this.requestSoon(document);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => this.drop(document.uri.toString())),
    ];
  }

  /** Returns the response for the current version of a document; undefined until the server has answered. */
  get(document: vscode.TextDocument): Provenance | undefined {
    const found = this.answers.get(document.uri.toString());
    return found?.version === document.version ? found : undefined;
  }

  /** Returns the response for the current version, and requests it if necessary; undefined if there is none. */
  async latest(document: vscode.TextDocument): Promise<Provenance | undefined> {
    if (this.get(document) === undefined) await this.request(document);
    return this.get(document);
  }

  /** Whether only a response for an earlier version exists. A response for the current one will follow. */
  isPending(document: vscode.TextDocument): boolean {
    return this.answers.has(document.uri.toString()) && this.get(document) === undefined;
  }

  /** Returns the placement that owns a 0-based line; undefined for a line without an owner. */
  authorAt(document: vscode.TextDocument, line: number): PlacementWithRuns | undefined {
    const isOwner = ({ lineStart, lineEnd }: Run) => lineStart <= line + 1 && line + 1 <= lineEnd;
    return this.get(document)?.placements.find(({ runs }) => runs.some(isOwner));
  }

  /** Returns the placement that owns a 0-based line, else one whose range encloses it, such as a function or an earlier edit. */
  placementAt(document: vscode.TextDocument, line: number): PlacementWithRuns | undefined {
    const encloses = ({ range }: PlacementWithRuns) => range !== null && range.start.line <= line && line < range.end.line;
    const isOwner = ({ runs }: PlacementWithRuns) => runs.some(({ lineStart, lineEnd }) => lineStart <= line + 1 && line + 1 <= lineEnd);
    const placements = this.get(document)?.placements;
    return placements?.find(isOwner) ?? placements?.find(encloses);
  }

  /** Returns the placements on a 0-based line: its owner first, then those whose range encloses it. */
  placementsAt(document: vscode.TextDocument, line: number): PlacementWithRuns[] {
    const owner = this.placementAt(document, line);
    const encloses = ({ range }: PlacementWithRuns) => range !== null && range.start.line <= line && line < range.end.line;
    const others = this.get(document)?.placements.filter((each) => each !== owner && encloses(each)) ?? [];
    return owner === undefined ? others : [owner, ...others];
  }

  dispose(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private requestVisible(): void {
    for (const document of visibleDocuments()) if (this.get(document) === undefined) void this.request(document);
  }

  private requestSoon(document: vscode.TextDocument): void {
    const uri = document.uri.toString();
    const timer = this.timers.get(uri);
    if (timer !== undefined) {
      timer.refresh();
      return;
    }
    this.timers.set(
      uri,
      setTimeout(() => {
        this.timers.delete(uri);
        this.server.pullDiagnostics(document);
        void this.request(document);
      }, REQUEST_DELAY),
    );
  }

  private async request(document: vscode.TextDocument): Promise<void> {
    const isClosed = () => document.isClosed; // reopening creates a new document object
    if (this.server.state !== 'running' || isClosed()) return;
    const uri = document.uri.toString();
    const before = this.answers.get(uri);
    try {
      const answer = await this.server.provenance(document.uri, before?.resultId);
      if (isClosed()) return;
      this.answers.set(uri, 'since' in answer ? merge(before, answer) : answer);
      if (answer.version !== document.version) {
        this.requestSoon(document);
        return;
      }
    } catch (error) {
      this.server.log.debug(`no provenance of ${uri}: ${String(error)}`);
      if (isClosed() || !meansNoPlacements(error)) return; // marks stay until the next request
      this.answers.delete(uri);
    }
    this.changes.fire(document);
  }

  private drop(uri: string): void {
    clearTimeout(this.timers.get(uri));
    this.timers.delete(uri);
    this.answers.delete(uri);
  }

  private clear(): void {
    this.answers.clear();
    for (const document of visibleDocuments()) this.changes.fire(document);
  }
}

/** Whether an error means that the document has no placements, not that the request failed. */
function meansNoPlacements(error: unknown): boolean {
  return error instanceof Error && 'data' in error && NO_PLACEMENTS.includes((error.data as ErrorData | undefined)?.code ?? '');
}

/** Applies a delta to the previous response. */
function merge(before: Provenance | undefined, { placements: changed, ...answer }: ProvenanceDelta): Provenance {
  const updates = new Map(changed.map((each) => [each.annotationId, each]));
  const placements = before?.placements.map((each) => ({ ...each, ...updates.get(each.annotationId) }));
  return { ...answer, placements: placements ?? [] };
}

function visibleDocuments(): vscode.TextDocument[] {
  const documents = vscode.window.visibleTextEditors.map((editor) => editor.document).filter(({ uri }) => uri.scheme === 'file');
  return [...new Set(documents)];
}
