// What is typed goes to the server all at once, when somebody asks it something: each message wakes it up, and has it say in every short pause
// what is other now, which costs this process more than all there is to say.

import type { Disposable, DidChangeTextDocumentParams, Middleware } from 'vscode-languageclient/node';

/** Milliseconds that a key waits when nobody asks. Every question, and every other message, takes along what waits: none is about an older text. */
const LONGEST = 5000;
const CHANGE = 'textDocument/didChange';

interface Waiting {
  /** Whether each of its changes made a version: then more may go with them, and the server knows every version. */
  isCounted: boolean;
  params: DidChangeTextDocumentParams;
  send: (params: DidChangeTextDocumentParams) => Promise<void>;
}

export class Typing implements Disposable {
  private waiting: Waiting[] = [];
  private timer: NodeJS.Timeout | undefined;
  private patient: (() => void)[] = [];
  private readonly failed: (error: unknown) => void;

  /** What the client's messages go through, in their order. */
  readonly middleware: Pick<Middleware, 'sendNotification' | 'sendRequest' | 'provideDiagnostics'> = {
    sendNotification: async (type, next, params) => {
      if ((typeof type === 'string' ? type : type.method) === CHANGE) {
        const send = async (changes: DidChangeTextDocumentParams) => await next(type, changes as typeof params);
        this.hold(params as DidChangeTextDocumentParams, send);
      } else {
        this.send();
        await next(type, params);
      }
    },
    sendRequest: (type, params, token, next) => {
      this.send();
      return next(type, params, token);
    },
    // The server says in every pause between keys that problems may be others; nobody needs to know in the midst of a word.
    provideDiagnostics: async (document, previousResultId, token, next) => {
      if (this.waiting.length > 0) await new Promise<void>((resolve) => this.patient.push(resolve));
      return await next(document, previousResultId, token);
    },
  };

  constructor(failed: (error: unknown) => void) {
    this.failed = failed;
  }

  dispose(): void {
    this.waiting = [];
    this.send();
  }

  private hold(params: DidChangeTextDocumentParams, send: Waiting['send']): void {
    const isCounted = params.contentChanges.length === 1;
    const last = this.waiting.at(-1);
    if (last?.isCounted && isCounted && isNext(params.textDocument, last.params.textDocument)) {
      last.params.contentChanges.push(...params.contentChanges);
      last.params.textDocument.version = params.textDocument.version;
    } else this.waiting.push({ isCounted, params, send });
    this.timer ??= setTimeout(() => this.send(), LONGEST);
  }

  private send(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    for (const { params, send } of this.waiting.splice(0)) send(params).catch(this.failed);
    for (const resolve of this.patient.splice(0)) resolve();
  }
}

type Identified = DidChangeTextDocumentParams['textDocument'];

function isNext({ uri, version }: Identified, last: Identified): boolean {
  return uri === last.uri && version === last.version + 1;
}
