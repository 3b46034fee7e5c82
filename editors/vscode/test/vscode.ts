// A stub of the VS Code API, with the parts that the tested modules use. Tests fire events and inspect requests and messages.

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

class StubObject {
  readonly parts: unknown[];

  constructor(...parts: unknown[]) {
    this.parts = parts;
  }
}
export { StubObject as FileDecoration, StubObject as Position, StubObject as Range, StubObject as Selection, StubObject as ThemeColor };

export class ThemeIcon extends StubObject {
  static readonly File = new ThemeIcon('file');
}

export class TreeItem {
  constructor(readonly label: string) {}
}

export class CancellationTokenSource {
  readonly token = { isCancellationRequested: false };
  readonly cancel = () => undefined;
  readonly dispose = () => undefined;
}

export class MarkdownString {
  isTrusted: unknown;

  constructor(
    readonly value: string,
    readonly supportThemeIcons: boolean,
  ) {}
}
export const TreeItemCollapsibleState = { None: 0, Collapsed: 1, Expanded: 2 };
export const FileType = { Directory: 2 };

export class RelativePattern {
  constructor(
    readonly base: Uri | { uri: Uri },
    readonly pattern: string,
  ) {}
}

/** A file watcher whose events the test fires. */
export class Watcher {
  static all: Watcher[] = [];
  readonly changed = new EventEmitter<Uri>();
  readonly onDidCreate = this.changed.event;
  readonly onDidChange = this.changed.event;
  readonly onDidDelete = this.changed.event;

  constructor(readonly pattern: string | RelativePattern) {
    Watcher.all.push(this);
  }

  dispose(): void {
    this.changed.dispose();
  }
}

/** A tree view that the test shows or hides. */
export class View {
  visible = false;
  message = '';
  badge: { value: number } | undefined;
  private readonly shown = new EventEmitter<{ visible: boolean }>();
  readonly onDidChangeVisibility = this.shown.event;

  show(visible: boolean): void {
    this.visible = visible;
    this.shown.fire({ visible });
  }

  dispose(): void {
    this.shown.dispose();
  }
}

/** Events of the editor that tests fire. */
export const events = {
  changed: new EventEmitter<{ document: Document; contentChanges: object[] }>(),
  closed: new EventEmitter<Document>(),
  saved: new EventEmitter<Document>(),
  editors: new EventEmitter<undefined>(),
  folders: new EventEmitter<undefined>(),
  configured: new EventEmitter<{ affectsConfiguration(section: string): boolean }>(),
};

/** The workspace: its folders, other existing folders (`above`), and the results of `findFiles`. */
export const disk = { folders: [] as Uri[], above: [] as string[], files: [] as Uri[] };

export const workspace = {
  onDidChangeTextDocument: events.changed.event,
  onDidCloseTextDocument: events.closed.event,
  onDidSaveTextDocument: events.saved.event,
  onDidChangeConfiguration: events.configured.event,
  onDidChangeWorkspaceFolders: events.folders.event,
  textDocuments: [],
  isTrusted: true,
  get workspaceFolders() {
    return disk.folders.map((uri) => ({ uri }));
  },
  getWorkspaceFolder: (uri: Uri) => disk.folders.find(({ path }) => uri.path === path || uri.path.startsWith(`${path}/`)),
  getConfiguration: () => ({ get: (_name: string, fallback: unknown) => fallback }),
  findFiles: () => Promise.resolve(disk.files),
  createFileSystemWatcher: (pattern: string | RelativePattern) => new Watcher(pattern),
  fs: {
    stat: ({ path }: Uri) => (disk.above.includes(path) ? Promise.resolve({ type: FileType.Directory }) : Promise.reject(new Error(path))),
  },
};

export const views: View[] = [];

/** Messages that were shown. The user never answers. */
export const messages: string[] = [];
const say = (message: string) => {
  messages.push(message);
  return new Promise<undefined>(() => undefined);
};

export const window = {
  visibleTextEditors: [] as { document: Document }[],
  onDidChangeVisibleTextEditors: events.editors.event,
  createTreeView: () => {
    views.push(new View());
    return views.at(-1);
  },
  showInformationMessage: say,
  showErrorMessage: say,
  tabGroups: { onDidChangeTabs: new EventEmitter().event },
  withProgress: (_options: object, work: (progress: object, token: object) => unknown) =>
    work({ report: () => undefined }, { isCancellationRequested: false, onCancellationRequested: new EventEmitter().event }),
};

export const languages = { createLanguageStatusItem: () => ({ dispose: () => undefined }) };
export const LanguageStatusSeverity = {};
export const ProgressLocation = {};
export const env = { appRoot: '' };
export const extensions = { getExtension: () => undefined };
export const commands = { executeCommand: () => Promise.resolve(), registerCommand: () => ({ dispose: () => undefined }) };
