// Delays `textDocument/didChange` and sends pending changes together before the next message. Each separate message would wake the server,
// which then publishes updates in every short pause; handling those costs the extension host more than one combined update.

import type { Disposable, DidChangeTextDocumentParams, Middleware } from 'vscode-languageclient/node';

/** Maximum milliseconds that a change waits. Every request and notification sends pending changes first, so none refers to an older text. */
const MAX_DELAY = 5000;
const CHANGE = 'textDocument/didChange';

interface PendingChange {
  /** Whether each content change increased the version by one. Only such changes are merged, so that the server sees every version. */
  isSingleChange: boolean;
  params: DidChangeTextDocumentParams;
  send: (params: DidChangeTextDocumentParams) => Promise<void>;
}

export class ChangeBatcher implements Disposable {
  private pending: PendingChange[] = [];
  private timer: NodeJS.Timeout | undefined;
  private diagnosticWaiters: (() => void)[] = [];
  private readonly onError: (error: unknown) => void;

  /** Middleware of the language client. It keeps the order of messages. */
  readonly middleware: Pick<Middleware, 'sendNotification' | 'sendRequest' | 'provideDiagnostics'> = {
    sendNotification: async (type, next, params) => {
      if ((typeof type === 'string' ? type : type.method) === CHANGE) {
        const send = async (changes: DidChangeTextDocumentParams) => await next(type, changes as typeof params);
        this.enqueue(params as DidChangeTextDocumentParams, send);
      } else {
        this.flush();
        await next(type, params);
      }
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

  constructor(onError: (error: unknown) => void) {
    this.onError = onError;
  }

  dispose(): void {
    this.pending = [];
    this.flush();
  }

  private enqueue(params: DidChangeTextDocumentParams, send: PendingChange['send']): void {
    const isSingleChange = params.contentChanges.length === 1;
    const last = this.pending.at(-1);
    if (last?.isSingleChange && isSingleChange && isNext(params.textDocument, last.params.textDocument)) {
      last.params.contentChanges.push(...params.contentChanges);
      last.params.textDocument.version = params.textDocument.version;
    } else this.pending.push({ isSingleChange, params, send });
    this.timer ??= setTimeout(() => this.flush(), MAX_DELAY);
  }

  private flush(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const { params, send } of this.pending.splice(0)) send(params).catch(this.onError);
    for (const resolve of this.diagnosticWaiters.splice(0)) resolve();
  }
}

type VersionedDocument = DidChangeTextDocumentParams['textDocument'];

function isNext({ uri, version }: VersionedDocument, last: VersionedDocument): boolean {
  return uri === last.uri && version === last.version + 1;
}
