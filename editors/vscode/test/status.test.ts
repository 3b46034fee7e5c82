import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { Uri as RealUri } from 'vscode';
import { createApi } from '../src/api.ts';
import { Installer, watchServer } from '../src/server/status.ts';
import type { Server } from '../src/server/server.ts';
import { disk, EventEmitter, messages, Uri } from './vscode.ts';

/** A server whose program is missing. */
class Missing {
  state = 'stopped';
  isUserRequested = false;
  failure = 'vibes-lsp was not found';
  program = undefined;
  environment = Uri.file('/storage/server');
  log = { show: () => undefined, info: () => undefined, error: () => undefined };
  readonly states = new EventEmitter<string>();
  readonly onDidChangeState = this.states.event;

  start(isUserRequested = true): Promise<void> {
    this.isUserRequested = isUserRequested;
    for (const state of ['starting', 'missing']) this.states.fire((this.state = state));
    return Promise.resolve();
  }

  startIfStopped(): Promise<void> {
    return this.state === 'stopped' ? this.start(false) : Promise.resolve();
  }

  async replaceProgram(replace: () => Promise<void>): Promise<void> {
    this.state = 'stopped';
    try {
      await replace();
    } finally {
      await this.start(false);
    }
  }

  run(): Promise<never> {
    return Promise.reject(new Error(this.failure));
  }

  toProtocolUri = String;
}

const MAKER = { name: 'partner', version: '1' };
const PATH = process.env.PATH;
beforeEach(() => {
  disk.folders = [Uri.file('/shop')];
  disk.above = [];
  disk.files = [];
  messages.length = 0;
});
afterEach(() => {
  process.env.PATH = PATH;
});

function started(extension = '/extension') {
  const server = new Missing();
  const installer = new Installer(server as unknown as Server, Uri.file(extension) as unknown as RealUri);
  watchServer(server as unknown as Server, installer);
  const vibes = createApi(server as unknown as Server, () => undefined, new EventEmitter<never>().event as never);
  const record = () => vibes.startSession({ uri: Uri.file('/shop/a.py') as unknown as RealUri, tool: MAKER, model: MAKER });
  return { server, installer, record };
}

/** Waits for a number of messages and returns all that were shown. */
async function shownMessages(count: number): Promise<string[]> {
  while (messages.length < count) await new Promise(setImmediate);
  return messages.splice(0);
}

test('the installation is offered once for other extensions, and for each user command', async () => {
  const { server, record } = started();
  for (const attempt of [1, 2, 3]) await rejects(record, /was not found/, `attempt ${attempt}`);
  strictEqual((await shownMessages(1)).length, 1);
  await server.start();
  await server.start();
  strictEqual((await shownMessages(2)).length, 2);
});

test('the offer mentions a trail only if there is one', async () => {
  for (const hasTrail of [false, true]) {
    disk.above = hasTrail ? ['/shop/.ai-audit'] : [];
    const { server } = started();
    await server.startIfStopped();
    const [offer = ''] = await shownMessages(1);
    match(offer, /vibes-lsp was not found\. This build of the extension carries no server: install vibes-lsp on \w+ \w+, then choose it/);
    strictEqual(offer.includes('audit trail'), hasTrail);
  }
});

test('after a failed installation the server is started again, and not offered', async () => {
  process.env.PATH = '/nowhere';
  const extension = await fs.mkdtemp(path.join(os.tmpdir(), 'vibes-'));
  await fs.mkdir(path.join(extension, 'dist/wheels'), { recursive: true });
  for (const name of ['pip-26-py3-none-any.whl', 'vibes_lsp-0.1.0-py3-none-any.whl']) {
    await fs.writeFile(path.join(extension, 'dist/wheels', name), '');
  }
  const { server, installer } = started(extension);
  const states: string[] = [];
  server.onDidChangeState((state) => states.push(state));
  void installer.install();
  deepStrictEqual(await shownMessages(1), ['VIBES: the server was not installed: Python 3.11 or newer was not found on the path']);
  deepStrictEqual(states, ['starting', 'missing']);
  await fs.rm(extension, { recursive: true });
});
