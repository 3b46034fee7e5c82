// The server's life: found, started, asked, restarted, stopped. What it says is for others.

import * as vscode from 'vscode';
import {
  CloseAction,
  DidChangeConfigurationNotification,
  DocumentDiagnosticRequest,
  ExecuteCommandRequest,
  LanguageClient,
  RevealOutputChannelOn,
  State,
  type ErrorHandler,
} from 'vscode-languageclient/node';
import { REJECT_WITH_NOTE, type Provenance, type ProvenanceDelta } from '../protocol';
import { findProgram, namedProgram, type Program } from './location';
import { logLines } from './logging';
import { Typing } from './typing';

export type Life = 'stopped' | 'starting' | 'running' | 'missing' | 'failed';

export class Server implements vscode.Disposable {
  life: Life = 'stopped';
  program: Program | undefined;
  /** Why it does not run. */
  failure: string | undefined;
  /** Whether it was the user who had it started last. */
  isAskedFor = false;

  private client: LanguageClient | undefined;
  /** What the settings named when it was started last. */
  private named = '';
  private readonly typing = new Typing((error) => this.log.debug(`a change was not sent: ${String(error)}`));
  private lastStart: Promise<void> = Promise.resolve();
  private readonly lives = new vscode.EventEmitter<Life>();
  private readonly changes = new vscode.EventEmitter<string>();
  private readonly readings = new vscode.EventEmitter<void>();

  /** Fires when the server's life changes. */
  readonly onDidChangeLife = this.lives.event;
  /** Fires with the URI of a document about which earlier answers may be wrong now. */
  readonly onDidChangeProvenance = this.changes.event;
  /** Fires when the server has done what takes it long: it answers what it could not while it read a large trail. */
  readonly onDidFinishReading = this.readings.event;

  private readonly watching = vscode.workspace.onDidChangeConfiguration((event) => {
    if (!event.affectsConfiguration('vibes') || this.life !== 'running') return;
    this.client
      ?.sendNotification(DidChangeConfigurationNotification.type, { settings: null })
      .catch((error: unknown) => this.log.debug(`a change of settings was not sent: ${String(error)}`)); // it is being stopped, as a rule
  });

  constructor(
    readonly own: vscode.Uri,
    readonly log: vscode.LogOutputChannel,
  ) {}

  /** The server's version, by its own account. */
  get version(): string | undefined {
    return this.client?.initializeResult?.serverInfo?.version;
  }

  /** Starts the server unless it runs; never rejects, `life` says how it went. Starts come one after another. */
  start(): Promise<void> {
    this.lastStart = this.lastStart.then(() => this.startNow(true));
    return this.lastStart;
  }

  /** Starts the server unless that was tried: one that is missing or failed is tried again when the user asks for something. */
  startUnlessTried(): Promise<void> {
    this.lastStart = this.lastStart.then(() => (this.life === 'stopped' ? this.startNow() : undefined));
    return this.lastStart;
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  /** Starts what the settings name now, if that is another program: VS Code tells of a setting once for each file that has it. */
  async follow(): Promise<void> {
    this.lastStart = this.lastStart.then(async () => {
      if (this.life === 'stopped' || namedProgram() === this.named) return;
      await this.stopNow();
      await this.startNow();
    });
    await this.lastStart;
  }

  /** Replaces the program: nothing starts it meanwhile, and it is started afterwards, however that went. Rejects with what went wrong. */
  async renew(replace: () => Promise<void>): Promise<void> {
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

  /** Resolves with whether the server runs, once a start that is under way has ended. */
  async ready(): Promise<boolean> {
    await this.lastStart;
    return this.life === 'running';
  }

  /** Asks where each annotation of a document is now; of what an earlier answer said, only what is other than then. */
  async provenance(uri: vscode.Uri, previousResultId?: string): Promise<Provenance | ProvenanceDelta> {
    const params = { textDocument: { uri: this.toWire(uri) }, runs: true, ...(previousResultId === undefined ? {} : { previousResultId }) };
    return await this.running().sendRequest<Provenance | ProvenanceDelta>('vibes/provenance', params);
  }

  /** Asks for the problems of the visible documents, where the server is one to be asked. */
  askForProblems(document: vscode.TextDocument): void {
    const feature = this.client?.getFeature(DocumentDiagnosticRequest.method);
    feature?.getProvider(document)?.onDidChangeDiagnosticsEmitter.fire();
  }

  /** Carries out one of the server's commands. */
  async run<Result>(command: string, args: object): Promise<Result> {
    const params = { command, arguments: [args] };
    return (await this.running().sendRequest(ExecuteCommandRequest.type, params)) as Result;
  }

  /** Returns a URI as the server knows it. */
  toWire(uri: vscode.Uri): string {
    return this.client?.code2ProtocolConverter.asUri(uri) ?? uri.toString();
  }

  async dispose(): Promise<void> {
    await this.stop();
    this.typing.dispose();
    this.watching.dispose();
    this.lives.dispose();
    this.changes.dispose();
    this.readings.dispose();
  }

  private running(): LanguageClient {
    if (this.client === undefined || this.life !== 'running') throw new Error(this.failure ?? 'the VIBES server is not running');
    return this.client;
  }

  private async startNow(isAskedFor = false): Promise<void> {
    if (this.client !== undefined) return;
    this.isAskedFor = isAskedFor;
    this.become('starting');
    try {
      this.program = undefined;
      this.named = namedProgram();
      this.program = await findProgram(this.own);
      if (this.program === undefined) {
        this.become('missing', 'vibes-lsp was not found');
        return;
      }
      this.log.info(`starting ${this.program.command} (${this.program.origin})`);
      this.client = this.newClient(this.program);
      await this.client.start();
      this.become('running');
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      this.log.error(reason);
      await this.stopNow();
      this.become('failed', reason);
    }
  }

  private newClient(program: Program): LanguageClient {
    let usual: ErrorHandler | undefined;
    const client: LanguageClient = new LanguageClient(
      'vibes',
      'VIBES',
      { command: program.command, args: program.args },
      {
        documentSelector: [{ scheme: 'file' }],
        initializationOptions: vscode.workspace.getConfiguration('vibes'),
        errorHandler: {
          error: (...what) => (usual ??= client.createDefaultErrorHandler()).error(...what),
          // One that ended before it ran would do so again.
          closed: () =>
            this.life === 'running'
              ? (usual ??= client.createDefaultErrorHandler()).closed()
              : { action: CloseAction.DoNotRestart, handled: true },
        },
        middleware: {
          ...this.typing.middleware,
          handleWorkDoneProgress: (token, params, next) => {
            next(token, params);
            if (params.kind === 'end') this.readings.fire();
          },
        },
        diagnosticPullOptions: { onChange: false, onSave: true }, // after a pause: what is in the list of problems moves with the text meanwhile
        outputChannel: this.log,
        stdioOptions: { stdout: logLines, stderr: logLines },
        revealOutputChannelOn: RevealOutputChannelOn.Never,
      },
    );
    client.registerFeature({
      fillClientCapabilities: (capabilities) => {
        capabilities.experimental = { vibes: { commands: [REJECT_WITH_NOTE], resolvedLenses: true } }; // none waits for a scroll to be asked for
      },
      initialize: () => undefined,
      getState: () => ({ kind: 'static' }),
      clear: () => undefined,
    });
    client.onNotification('vibes/provenanceChanged', ({ uri }: { uri: string }) =>
      this.changes.fire(client.protocol2CodeConverter.asUri(uri).toString()),
    );
    client.onDidChangeState(({ newState }) => {
      if (client !== this.client) return;
      if (newState === State.Running) this.become('running');
      else if (this.life === 'running') this.become(newState === State.Starting ? 'starting' : 'failed', 'the server ended; see the log');
    });
    return client;
  }

  private async stopNow(): Promise<void> {
    const client = this.client;
    this.client = undefined;
    if (client?.needsStop()) await client.stop().catch((error: unknown) => this.log.warn(String(error)));
    await client?.dispose().catch((error: unknown) => this.log.debug(String(error)));
    this.become('stopped');
  }

  private become(life: Life, failure?: string): void {
    this.failure = life === 'running' ? undefined : failure;
    if (life === this.life) return;
    this.life = life;
    this.lives.fire(life);
  }
}
