import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert';
import { afterEach, beforeEach, test } from 'node:test';
import type { Uri as RealUri } from 'vscode';
import { createApi } from '../src/api.ts';
import { Installer, watchServer } from '../src/server/status.ts';
import type { Server } from '../src/server/server.ts';
import { disk, EventEmitter, said, Uri } from './vscode.ts';

/** A server that is nowhere to be found: each start says so. */
class Missing {
  life = 'stopped';
  isAskedFor = false;
  failure = 'vibes-lsp was not found';
  program = undefined;
  own = Uri.file('/storage/server');
  log = { show: () => undefined, info: () => undefined };
  readonly lives = new EventEmitter<string>();
  readonly onDidChangeLife = this.lives.event;

  start(isAskedFor = true): Promise<void> {
    this.isAskedFor = isAskedFor;
    for (const life of ['starting', 'missing']) this.lives.fire((this.life = life));
    return Promise.resolve();
  }

  startUnlessTried(): Promise<void> {
    return this.life === 'stopped' ? this.start(false) : Promise.resolve();
  }

  async renew(replace: () => Promise<void>): Promise<void> {
    this.life = 'stopped';
    try {
      await replace();
    } finally {
      await this.start(false);
    }
  }

  run(): Promise<never> {
    return Promise.reject(new Error(this.failure));
  }

  toWire = String;
}

const MAKER = { name: 'partner', version: '1' };
const PATH = process.env.PATH;
beforeEach(() => {
  disk.folders = [Uri.file('/shop')];
  disk.above = [];
  disk.files = [];
  said.length = 0;
});
afterEach(() => {
  process.env.PATH = PATH;
});

function started() {
  const server = new Missing();
  const installer = new Installer(server as unknown as Server);
  watchServer(server as unknown as Server, installer);
  const vibes = createApi(server as unknown as Server, () => undefined);
  const record = () => vibes.startSession({ uri: Uri.file('/shop/a.py') as unknown as RealUri, tool: MAKER, model: MAKER });
  return { server, installer, record };
}

/** Returns what was said, once all is said. */
async function heard(): Promise<string[]> {
  await new Promise(setImmediate);
  return said.splice(0);
}

test('the server is offered once, however often other extensions need it, and whenever the user asks for something', async () => {
  const { server, record } = started();
  for (const attempt of [1, 2, 3]) await rejects(record, /was not found/, `attempt ${attempt}`);
  strictEqual((await heard()).length, 1);
  await server.start();
  await server.start();
  strictEqual((await heard()).length, 2);
});

test('the offer speaks of a trail only where there is one', async () => {
  for (const hasTrail of [false, true]) {
    disk.above = hasTrail ? ['/shop/.ai-audit'] : [];
    const { server } = started();
    await server.startUnlessTried();
    const [offer = ''] = await heard();
    match(offer, /vibes-lsp was not found\. Install it/);
    strictEqual(offer.includes('audit trail'), hasTrail);
  }
});

test('after an installation that came to nothing the server is tried again, before anybody reads why, and not offered', async () => {
  process.env.PATH = '/nowhere';
  const { server, installer } = started();
  const lives: string[] = [];
  server.onDidChangeLife((life) => lives.push(life));
  void installer.install();
  for (let turn = 0; turn < 100 && !lives.includes('missing'); turn++) await new Promise(setImmediate);
  deepStrictEqual(lives, ['starting', 'missing']);
  deepStrictEqual(await heard(), ['VIBES: the server was not installed: Python 3.11 or newer was not found on the path']);
});
