// What the server last said about each visible document; asked again only when it says so, or after an edit.

import * as vscode from 'vscode';
import type { Painted, Provenance, ProvenanceDelta, Refusal, Run } from './protocol';
import type { Server } from './server/server';

/** Milliseconds without an edit after which the server is asked again: longer than between two keys. What is painted moves with the text meanwhile. */
const PAUSE = 500;
/** What the server calls the reasons for which a document has no placements: no trail owns it, or it cannot be read. */
const NOTHING = ['audit-dir-not-found', 'unreadable-file'];

export class KnownProvenance implements vscode.Disposable {
  private readonly known = new Map<string, Provenance>();
  private readonly timers = new Map<string, NodeJS.Timeout>();
  private readonly changes = new vscode.EventEmitter<vscode.TextDocument>();
  private readonly parts: { dispose(): unknown }[];

  /** Fires when there is something new about a document, or nothing any more. */
  readonly onDidChange = this.changes.event;

  constructor(private readonly server: Server) {
    this.parts = [
      this.changes,
      server.onDidChangeLife((life) => {
        if (life === 'running') this.askAboutVisible();
        else this.forgetAll();
      }),
      server.onDidChangeProvenance((uri) => {
        const document = visible().find((each) => each.uri.toString() === uri);
        if (document === undefined) this.known.delete(uri);
        else if (!this.timers.has(uri)) void this.ask(document); // else it is about to be asked
      }),
      vscode.window.onDidChangeVisibleTextEditors(() => this.askAboutVisible()),
      vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
        if (contentChanges.length > 0 && this.known.has(document.uri.toString())) this.askSoon(document);
      }),
      vscode.workspace.onDidCloseTextDocument((document) => this.forget(document.uri.toString())),
    ];
  }

  /** Returns what is known of a document, in the text as it is now; undefined while the server has yet to answer. */
  of(document: vscode.TextDocument): Provenance | undefined {
    const found = this.known.get(document.uri.toString());
    return found?.version === document.version ? found : undefined;
  }

  /** Whether there was an answer about an earlier text, and there will be one about this. */
  isAwaited(document: vscode.TextDocument): boolean {
    return this.known.has(document.uri.toString()) && this.of(document) === undefined;
  }

  /** Returns the annotation that an AI wrote a 0-based line by; a person's line among them has none. */
  authorOf(document: vscode.TextDocument, line: number): Painted | undefined {
    const holds = ({ lineStart, lineEnd, kind }: Run) => kind !== 'human' && lineStart <= line + 1 && line + 1 <= lineEnd;
    return this.of(document)?.placements.find(({ runs }) => runs.some(holds));
  }

  /** Returns what a 0-based line belongs to, else a function or an earlier edit that it lies in. */
  at(document: vscode.TextDocument, line: number): Painted | undefined {
    const lies = ({ range }: Painted) => range !== null && range.start.line <= line && line < range.end.line;
    const owns = ({ runs }: Painted) => runs.some(({ lineStart, lineEnd }) => lineStart <= line + 1 && line + 1 <= lineEnd);
    const placements = this.of(document)?.placements;
    return placements?.find(owns) ?? placements?.find(lies);
  }

  dispose(): void {
    for (const timer of this.timers.values()) clearTimeout(timer);
    vscode.Disposable.from(...this.parts).dispose();
  }

  private askAboutVisible(): void {
    for (const document of visible()) if (this.of(document) === undefined) void this.ask(document);
  }

  private askSoon(document: vscode.TextDocument): void {
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
        this.server.askForProblems(document);
        void this.ask(document);
      }, PAUSE),
    );
  }

  private async ask(document: vscode.TextDocument): Promise<void> {
    const isGone = () => document.isClosed; // for good: opened again, it is another one
    if (this.server.life !== 'running' || isGone()) return;
    const uri = document.uri.toString();
    const before = this.known.get(uri);
    try {
      const answer = await this.server.provenance(document.uri, before?.resultId);
      if (isGone()) return;
      this.known.set(uri, 'since' in answer ? merged(before, answer) : answer);
      if (answer.version !== document.version) {
        this.askSoon(document);
        return;
      }
    } catch (error) {
      this.server.log.debug(`nothing about ${uri}: ${String(error)}`);
      if (isGone() || !isFinal(error)) return; // marks stay: the next change asks again
      this.known.delete(uri);
    }
    this.changes.fire(document);
  }

  private forget(uri: string): void {
    clearTimeout(this.timers.get(uri));
    this.timers.delete(uri);
    this.known.delete(uri);
  }

  private forgetAll(): void {
    this.known.clear();
    for (const document of visible()) this.changes.fire(document);
  }
}

/** Whether an error says that there is nothing, and not only that there is no answer now. */
function isFinal(error: unknown): boolean {
  return error instanceof Error && 'data' in error && NOTHING.includes((error.data as Refusal | undefined)?.code ?? '');
}

/** Returns the whole of an answer that says only what is other than before. */
function merged(before: Provenance | undefined, { placements: changed, ...answer }: ProvenanceDelta): Provenance {
  const news = new Map(changed.map((each) => [each.annotationId, each]));
  const placements = before?.placements.map((each) => ({ ...each, ...news.get(each.annotationId) }));
  return { ...answer, placements: placements ?? [] };
}

function visible(): vscode.TextDocument[] {
  const documents = vscode.window.visibleTextEditors.map((editor) => editor.document).filter(({ uri }) => uri.scheme === 'file');
  return [...new Set(documents)];
}
