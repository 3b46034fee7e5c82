// Stands in for VS Code: of its interface, what the tested modules use. A test fires the events, and reads what was asked and shown.

type Listener<T> = (event: T) => unknown;

export class EventEmitter<T> {
  private readonly listeners = new Set<Listener<T>>();

  readonly event = (listener: Listener<T>) => {
    this.listeners.add(listener);
    return { dispose: () => this.listeners.delete(listener) };
  };

  fire(event: T): void {
    for (const listener of [...this.listeners]) listener(event);
  }

  dispose(): void {
    this.listeners.clear();
  }
}

export const Disposable = { from: (...parts: { dispose(): unknown }[]) => ({ dispose: () => parts.forEach((part) => part.dispose()) }) };

export class Uri {
  readonly scheme = 'file';

  constructor(readonly path: string) {}

  static file(path: string): Uri {
    return new Uri(path);
  }

  static parse(uri: string): Uri {
    return new Uri(uri.replace('file://', ''));
  }

  static joinPath(base: Uri, ...parts: string[]): Uri {
    return new Uri(new URL(parts.join('/'), `file://${base.path}/`).pathname.replace(/(?<=.)\/$/, ''));
  }

  get fsPath(): string {
    return this.path;
  }

  toString(): string {
    return `file://${this.path}`;
  }
}

export interface Document {
  uri: Uri;
  version: number;
  isClosed: boolean;
}

/** All that a test may fire. */
export const events = {
  changed: new EventEmitter<{ document: Document; contentChanges: object[] }>(),
  closed: new EventEmitter<Document>(),
  saved: new EventEmitter<Document>(),
  editors: new EventEmitter<undefined>(),
  configured: new EventEmitter<{ affectsConfiguration(section: string): boolean }>(),
};

export const workspace = {
  onDidChangeTextDocument: events.changed.event,
  onDidCloseTextDocument: events.closed.event,
  onDidSaveTextDocument: events.saved.event,
  onDidChangeConfiguration: events.configured.event,
};

export const window = { visibleTextEditors: [] as { document: Document }[], onDidChangeVisibleTextEditors: events.editors.event };
