// Sends changes of documents, in place of the language client: pending ones together before the next message. Each separate message would wake
// the server, which then publishes updates in every short pause. What the client does for each key costs more than all else that happens here.

import type { TextDocument, TextDocumentChangeEvent, TextDocumentContentChangeEvent } from 'vscode';
import type { DidChangeTextDocumentParams, Middleware } from 'vscode-languageclient/node';

/** Maximum milliseconds that a change waits. Every request and notification sends pending changes first, so none refers to an older text. */
const MAX_DELAY = 5000;
const CHANGE = 'textDocument/didChange';

/** Returns the parameters of `textDocument/didChange`. */
type Convert = (document: TextDocument, changes: TextDocumentContentChangeEvent[], version: number) => DidChangeTextDocumentParams;

interface PendingChange {
  document: TextDocument;
  version: number;
  changes: TextDocumentContentChangeEvent[];
  /** Whether each content change increased the version by one. Only such changes are merged, so that the server sees every version. */
  isSingleChange: boolean;
}

export class ChangeBatcher {
  private pending: PendingChange[] = [];
  private timer: NodeJS.Timeout | undefined;
  private diagnosticWaiters: (() => void)[] = [];
  private readonly convert: Convert;
  private readonly onError: (error: unknown) => void;
  /** Sends a notification at once; the client's own method would send it after the message that it must come before. */
  private send: ((type: string, params: object) => Promise<void>) | undefined;

  /** Middleware of the language client. It keeps the order of messages. */
  readonly middleware: Pick<Middleware, 'sendNotification' | 'sendRequest' | 'provideDiagnostics'> = {
    sendNotification: (type, next, params) => {
      this.send = (method, given) => next(method, given as typeof params);
      this.flush();
      return next(type, params);
    },
    sendRequest: (type, params, token, next) => {
      this.flush();
      return next(type, params, token);
    },
    // The server asks for a diagnostics refresh in every pause between keys. Wait until pending changes are sent.
    provideDiagnostics: async (document, previousResultId, token, next) => {
      if (this.pending.length > 0) await new Promise<void>((resolve) => this.diagnosticWaiters.push(resolve));
      return await next(document, previousResultId, token);
    },
  };

  constructor(convert: Convert, onError: (error: unknown) => void) {
    this.convert = convert;
    this.onError = onError;
  }

  /** Sends a change, later. */
  add({ document, contentChanges }: TextDocumentChangeEvent): void {
    if (contentChanges.length === 0) return; // only whether the document is saved has changed
    const { version } = document;
    const isSingleChange = contentChanges.length === 1;
    const last = this.pending.at(-1);
    if (last?.isSingleChange && isSingleChange && last.document === document && version === last.version + 1) {
      last.changes.push(...contentChanges);
      last.version = version;
    } else this.pending.push({ document, version, changes: [...contentChanges], isSingleChange });
    this.timer ??= setTimeout(() => this.flush(), MAX_DELAY);
  }

  /** Drops what was not sent. */
  clear(): void {
    this.pending = [];
    this.flush();
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const { document, version, changes } of this.pending.splice(0)) {
      this.send?.(CHANGE, this.convert(document, changes, version)).catch(this.onError);
    }
    for (const resolve of this.diagnosticWaiters.splice(0)) resolve();
  }
}
