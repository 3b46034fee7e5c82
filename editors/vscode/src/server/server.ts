// The server process: finds, starts, restarts and stops it, and sends requests.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import {
  CloseAction,
  DidChangeConfigurationNotification,
  DidChangeTextDocumentNotification,
  DocumentDiagnosticRequest,
  ExecuteCommandRequest,
  LanguageClient,
  ProgressType,
  RevealOutputChannelOn,
  State,
  type ErrorHandler,
  type StaticFeature,
} from 'vscode-languageclient/node';
import { KNOWLEDGE_COMMANDS, REJECT_WITH_NOTE, SHOW_ANNOTATIONS, type Provenance, type ProvenanceDelta } from '../protocol';
import { findProgram, programSettings, type Program } from './location';
import { logLines } from './logging';
import { ChangeBatcher } from './changeBatcher';

export type ServerState = 'stopped' | 'starting' | 'running' | 'missing' | 'failed';

export class Server implements vscode.Disposable {
  state: ServerState = 'stopped';
  program: Program | undefined;
  /** Why the server is not running. */
  failure: string | undefined;
  /** Whether a user command caused the last start. */
  isUserRequested = false;

  /** Completes the server's hovers. */
  completeHover:
    | ((hover: vscode.Hover | null | undefined, ...at: [vscode.TextDocument, vscode.Position]) => Promise<vscode.Hover | null | undefined>)
    | undefined;
  /** Commands of the server that this client carries out in its own way when the user runs them. */
  readonly commandOverrides = new Map<string, (argument: unknown) => Promise<unknown>>();

  private client: LanguageClient | undefined;
  /** `programSettings()` at the last start. */
  private startedSettings = '';
  private lastStart: Promise<void> = Promise.resolve();
  private readonly stateChanges = new vscode.EventEmitter<ServerState>();
  private readonly provenanceChanges = new vscode.EventEmitter<string>();
  private readonly knowledgeChanges = new vscode.EventEmitter<string>();
  private readonly readEnds = new vscode.EventEmitter<void>();

  /** Fires when `state` changes. */
  readonly onDidChangeState = this.stateChanges.event;
  /** Fires with the URI of a document whose provenance may have changed. */
  readonly onDidChangeProvenance = this.provenanceChanges.event;
  /** Fires with the URI of a project whose knowledge base has changed. */
  readonly onDidChangeKnowledge = this.knowledgeChanges.event;
  /** Fires when long work of the server has ended. While it reads a large trail, it rejects some requests. */
  readonly onDidFinishReading = this.readEnds.event;

  private readonly settingsListener = vscode.workspace.onDidChangeConfiguration((event) => {
    if (!event.affectsConfiguration('vibes') || this.state !== 'running') return;
    this.client
      ?.sendNotification(DidChangeConfigurationNotification.type, { settings: null })
      .catch((error: unknown) => this.log.debug(`a change of settings was not sent: ${String(error)}`)); // usually because the server is stopping
  });

  constructor(
    readonly environment: vscode.Uri,
    readonly log: vscode.LogOutputChannel,
  ) {}

  /** Version that the server reports. */
  get version(): string | undefined {
    return this.client?.initializeResult?.serverInfo?.version;
  }

  /** Starts the server unless it is running. Never rejects: check `state`. Starts and stops run one after another. */
  start(): Promise<void> {
    this.lastStart = this.lastStart.then(() => this.startNow(true));
    return this.lastStart;
  }

  /** Starts the server if it is stopped. One that is missing or failed is started again only by a user command. */
  startIfStopped(): Promise<void> {
    this.lastStart = this.lastStart.then(() => (this.state === 'stopped' ? this.startNow() : undefined));
    return this.lastStart;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Restarts the server if the settings now name another program. VS Code reports one change several times, once for each settings file. */
  async restartIfChanged(): Promise<void> {
    this.lastStart = this.lastStart.then(async () => {
      if (this.state === 'stopped' || programSettings() === this.startedSettings) return;
      await this.stopNow();
      await this.startNow();
    });
    await this.lastStart;
  }

  /** Stops the server, runs `replace`, and starts the server even if `replace` failed. Rejects with its error. */
  async replaceProgram(replace: () => Promise<void>): Promise<void> {
    const renewed = this.lastStart.then(async () => {
      await this.stopNow();
      await replace();
    });
    const start = () => this.startNow();
    this.lastStart = renewed.then(start, start);
    await renewed;
  }

  async stop(): Promise<void> {
    this.lastStart = this.lastStart.then(() => this.stopNow());
    await this.lastStart;
  }

  /** Waits for pending starts and stops. Resolves to whether the server is running. */
  async ready(): Promise<boolean> {
    await this.lastStart;
    return this.state === 'running';
  }

  /** Requests the placements of a document: all of them, or what has changed since `previousResultId`. */
  async provenance(uri: vscode.Uri, previousResultId?: string): Promise<Provenance | ProvenanceDelta> {
    const params = {
      textDocument: { uri: this.toProtocolUri(uri) },
      runs: true,
      ...(previousResultId === undefined ? {} : { previousResultId }),
    };
    return await this.running().sendRequest<Provenance | ProvenanceDelta>('vibes/provenance', params);
  }

  /** Pulls diagnostics of the visible documents, if the server supports that. */
  pullDiagnostics(document: vscode.TextDocument): void {
    const feature = this.client?.getFeature(DocumentDiagnosticRequest.method);
    feature?.getProvider(document)?.onDidChangeDiagnosticsEmitter.fire();
  }

  /** Executes a command of the server. */
  async run<Result>(command: string, args: object): Promise<Result> {
    const params = { command, arguments: [args] };
    return (await this.running().sendRequest(ExecuteCommandRequest.type, params)) as Result;
  }

  /** Calls a method of the knowledge base that a file or folder is in, as the person at the editor. */
  async callKnowledge<Result>(uri: vscode.Uri, method: string, params: object): Promise<Result> {
    return await this.run<Result>('vibes.kb', { uri: this.toProtocolUri(uri), method, params });
  }

  /** Executes a command of the server that sends its result in parts; `onPart` gets each before the response. */
  async runInParts<Result>(
    command: string,
    args: object,
    onPart: (part: object) => void,
    cancellation: vscode.CancellationToken,
  ): Promise<Result> {
    const client = this.running();
    const partialResultToken = randomUUID();
    const listener = client.onProgress(new ProgressType<object>(), partialResultToken, onPart);
    try {
      const params = { command, arguments: [{ ...args, partialResultToken }] };
      return (await client.sendRequest(ExecuteCommandRequest.type, params, cancellation)) as Result;
    } finally {
      listener.dispose();
    }
  }

  /** Converts a URI to the form that the LSP client sends. */
  toProtocolUri(uri: vscode.Uri): string {
    return this.client?.code2ProtocolConverter.asUri(uri) ?? uri.toString();
  }

  async dispose(): Promise<void> {
    await this.stop();
    this.settingsListener.dispose();
    this.stateChanges.dispose();
    this.provenanceChanges.dispose();
    this.knowledgeChanges.dispose();
    this.readEnds.dispose();
  }

  private running(): LanguageClient {
    if (this.client === undefined || this.state !== 'running') throw new Error(this.failure ?? 'the VIBES server is not running');
    return this.client;
  }

  private async startNow(isUserRequested = false): Promise<void> {
    if (this.client !== undefined) return;
    this.isUserRequested = isUserRequested;
    this.setState('starting');
    try {
      this.program = undefined;
      this.startedSettings = programSettings();
      this.program = await findProgram(this.environment);
      if (this.program === undefined) {
        this.setState('missing', 'vibes-lsp was not found');
        return;
      }
      this.log.info(`starting ${this.program.command} (${this.program.origin})`);
      this.client = this.newClient(this.program);
      await this.client.start();
      this.setState('running');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.log.error(reason);
      await this.stopNow();
      this.setState('failed', reason);
    }
  }

  private newClient(program: Program): LanguageClient {
    let defaultHandler: ErrorHandler | undefined;
    const changeBatcher = new ChangeBatcher(
      (document, contentChanges, version) => {
        const event = { document, contentChanges, reason: undefined };
        return client.code2ProtocolConverter.asChangeTextDocumentParams(event, document.uri, version);
      },
      (error) => this.log.debug(`a change was not sent: ${String(error)}`),
    );
    const client: LanguageClient = new LanguageClient(
      'vibes',
      'VIBES',
      { command: program.command, args: program.args },
      {
        documentSelector: [{ scheme: 'file' }],
        initializationOptions: vscode.workspace.getConfiguration('vibes'),
        errorHandler: {
          error: (...what) => (defaultHandler ??= client.createDefaultErrorHandler()).error(...what),
          // A server that ends before it is running would end again.
          closed: () =>
            this.state === 'running'
              ? (defaultHandler ??= client.createDefaultErrorHandler()).closed()
              : { action: CloseAction.DoNotRestart, handled: true },
        },
        middleware: {
          ...changeBatcher.middleware,
          provideHover: async (document, position, token, next) => {
            const hover = await next(document, position, token);
            return (await this.completeHover?.(hover, document, position)) ?? hover;
          },
          executeCommand: async (command, args: unknown[], next) =>
            this.commandOverrides.has(command)
              ? await this.commandOverrides.get(command)?.(args[0])
              : ((await next(command, args)) as unknown),
          handleWorkDoneProgress: (token, params, next) => {
            next(token, params);
            if (params.kind === 'end') this.readEnds.fire();
          },
        },
        diagnosticPullOptions: { onChange: false, onSave: true }, // `pullDiagnostics` pulls after a pause; until then diagnostics move with the text
        outputChannel: this.log,
        stdioOptions: { stdout: logLines, stderr: logLines },
        revealOutputChannelOn: RevealOutputChannelOn.Never,
      },
    );
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = {
          vibes: { commands: [REJECT_WITH_NOTE, SHOW_ANNOTATIONS, ...KNOWLEDGE_COMMANDS], resolvedLenses: true, lineText: true },
        }; // VS Code would resolve lenses only when they are scrolled into view
      },
      initialize: () => undefined,
      getState: () => ({ kind: 'static' }),
      clear: () => undefined,
    });
    client.registerFeature(this.changeSender(client, changeBatcher));
    client.onNotification('vibes/provenanceChanged', ({ uri }: { uri: string }) =>
      this.provenanceChanges.fire(client.protocol2CodeConverter.asUri(uri).toString()),
    );
    client.onNotification('vibes/knowledgeChanged', ({ uri }: { uri: string }) =>
      this.knowledgeChanges.fire(client.protocol2CodeConverter.asUri(uri).toString()),
    );
    client.onDidChangeState(({ newState }) => {
      if (client !== this.client) return;
      if (newState === State.Running) this.setState('running');
      else if (this.state === 'running')
        this.setState(newState === State.Starting ? 'starting' : 'failed', 'the server ended; see the log');
    });
    return client;
  }

  /** Returns a feature that sends changes in place of the client's own, which it takes out whenever the client has put it in. */
  private changeSender(client: LanguageClient, changeBatcher: ChangeBatcher): StaticFeature {
    let listener: vscode.Disposable | undefined;
    return {
      fillClientCapabilities: () => undefined,
      initialize: () => {
        client.getFeature(DidChangeTextDocumentNotification.method).clear();
        listener = vscode.workspace.onDidChangeTextDocument((event) => {
          if (event.document.uri.scheme === 'file') changeBatcher.add(event);
        });
      },
      getState: () => ({ kind: 'static' }),
      clear: () => {
        listener?.dispose();
        changeBatcher.clear();
      },
    };
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop()) await client.stop().catch((error: unknown) => this.log.warn(String(error)));
    await client?.dispose().catch((error: unknown) => this.log.debug(String(error)));
    this.setState('stopped');
  }

  private setState(state: ServerState, failure?: string): void {
    this.failure = state === 'running' ? undefined : failure;
    if (state === this.state) return;
    this.state = state;
    this.stateChanges.fire(state);
  }
}
