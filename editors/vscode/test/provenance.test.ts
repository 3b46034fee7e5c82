import { deepStrictEqual, strictEqual } from 'node:assert';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { TextDocument } from 'vscode';
import { ProvenanceCache } from '../src/provenance.ts';
import type { Server } from '../src/server/server.ts';
import { EventEmitter, events, Uri, window, type Document } from './vscode.ts';

interface PendingRequest {
  answer: (version: number) => Promise<void>;
  fail: (error: Error) => Promise<void>;
}

beforeEach(() => mock.timers.enable({ apis: ['setTimeout'] }));
afterEach(() => mock.timers.reset());

/** Returns a cache with a fake server, its pending requests, and the documents that it reported as changed. */
function started() {
  const changes = new EventEmitter<string>();
  const requests: PendingRequest[] = [];
  const problems: string[] = [];
  const provenance = (uri: Uri) =>
    new Promise((resolve, reject) => {
      requests.push({
        answer: (version) => settled(() => resolve({ uri: uri.toString(), version, placements: [], resultId: String(version) })),
        fail: (error) => settled(() => reject(error)),
      });
    });
  const server = {
    state: 'running',
    onDidChangeState: new EventEmitter().event,
    onDidChangeProvenance: changes.event,
    pullDiagnostics: ({ uri }: Document) => problems.push(uri.toString()),
    log: { debug: () => undefined },
    provenance,
  };
  const cache = new ProvenanceCache(server as unknown as Server);
  const changed: string[] = [];
  cache.onDidChange(({ uri }) => changed.push(uri.toString()));
  const next = (): PendingRequest => {
    const request = requests.shift();
    if (request === undefined) throw new Error('nothing was asked');
    return request;
  };
  const version = (document: Document) => cache.get(document as unknown as TextDocument)?.version;
  return { cache, changes, requests, problems, changed, next, version };
}

async function settled(settle: () => void): Promise<void> {
  settle();
  for (let turn = 0; turn < 5; turn++) await Promise.resolve();
}

function opened(version = 1): Document {
  const document = { uri: Uri.file('/a.py'), version, isClosed: false };
  window.visibleTextEditors = [{ document }];
  events.editors.fire(undefined);
  return document;
}

function close(document: Document): void {
  document.isClosed = true;
  window.visibleTextEditors = [];
  events.closed.fire(document);
}

function edit(document: Document): void {
  document.version += 1;
  events.changed.fire({ document, contentChanges: [{}] });
}

const refusal = (code: string) => Object.assign(new Error(code), { code: -32803, data: { code } });

test('a response for a document that was closed meanwhile is dropped', async () => {
  const { requests, next, changed, version } = started();
  close(opened());
  await next().answer(1);
  const again = opened();
  strictEqual(version(again), undefined);
  strictEqual(requests.length, 1, 'it is requested again');
  await next().answer(1);
  strictEqual(version(again), 1);
  deepStrictEqual(changed, ['file:///a.py']);
});

test('an outdated response for a closed document causes no further request', async () => {
  const { requests, problems, next } = started();
  const document = opened();
  edit(document);
  close(document);
  await next().answer(1);
  mock.timers.tick(60_000);
  deepStrictEqual([...requests, ...problems], []);
});

test('an error for a closed document does not affect the reopened one', async () => {
  const { next, version } = started();
  close(opened());
  const first = next();
  const again = opened();
  await next().answer(1);
  await first.fail(refusal('audit-dir-not-found'));
  strictEqual(version(again), 1);
});

test('marks stay when a request fails, until the next response', async () => {
  const { cache, next, changed } = started();
  const document = opened();
  await next().answer(1);
  edit(document);
  mock.timers.tick(1000);
  await next().fail(new Error('cancelled'));
  strictEqual(cache.isPending(document as unknown as TextDocument), true);
  strictEqual(changed.length, 1, 'no change is reported');
  edit(document);
  mock.timers.tick(1000);
  await next().answer(3);
  strictEqual(changed.length, 2);
});

test('marks are removed when the server reports no placements', async () => {
  for (const code of ['audit-dir-not-found', 'unreadable-file']) {
    const { cache, changes, next, changed } = started();
    const document = opened();
    await next().answer(1);
    changes.fire('file:///a.py');
    await next().fail(refusal(code));
    strictEqual(cache.get(document as unknown as TextDocument), undefined);
    strictEqual(cache.isPending(document as unknown as TextDocument), false);
    strictEqual(changed.length, 2);
    cache.dispose();
    close(document);
  }
});
