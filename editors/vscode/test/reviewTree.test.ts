import { deepStrictEqual, match, notStrictEqual, strictEqual } from 'node:assert';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { QueueEntry } from '../src/protocol.ts';
import type { Server } from '../src/server/server.ts';
import { isQueueEntry, ReviewTree } from '../src/views/reviewTree.ts';
import { disk, EventEmitter, Uri, views, Watcher } from './vscode.ts';

interface PendingRequest {
  answer: (...ids: string[]) => Promise<void>;
  fail: (message: string) => Promise<void>;
}

beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout'] });
  disk.folders = [Uri.file('/shop')];
  disk.above = ['/shop/.ai-audit'];
  disk.files = [];
  Watcher.all = [];
});
afterEach(() => mock.timers.reset());

const entry = (uri: string, annotationId: string) =>
  ({ uri, annotationId, filePath: 'a.py', band: null, score: null, storedScore: null, model: {}, review: null }) as unknown as QueueEntry;

/** Returns a tree with a fake view and server, the ids that it lists, and the pending requests. */
function started() {
  const provenanceChanged = new EventEmitter<string>();
  const finished = new EventEmitter<undefined>();
  const requests: PendingRequest[] = [];
  const run = (_command: string, { uri }: { uri: string }) =>
    new Promise((resolve, reject) => {
      const placements = (ids: string[]) => ids.map((id) => entry(`${uri}/a.py`, id));
      requests.push({
        answer: (...ids) => settled(() => resolve({ placements: placements(ids), total: ids.length })),
        fail: (message) => settled(() => reject(new Error(message))),
      });
    });
  const server = {
    state: 'running',
    onDidChangeState: new EventEmitter().event,
    onDidChangeProvenance: provenanceChanged.event,
    onDidFinishReading: finished.event,
    log: { warn: () => undefined },
    toProtocolUri: String,
    run,
  };
  const tree = new ReviewTree(server as unknown as Server);
  const view = views.at(-1);
  if (view === undefined) throw new Error('there is no view');
  const next = (): PendingRequest => {
    const request = requests.shift();
    if (request === undefined) throw new Error('nothing was asked');
    return request;
  };
  const listed = () =>
    tree.getChildren().flatMap((group) => tree.getChildren(group).map((each) => (isQueueEntry(each) ? each.annotationId : '')));
  const show = (visible: boolean) => settled(() => view.show(visible));
  return { tree, view, requests, next, listed, show, provenanceChanged, finished };
}

/** Runs an action and its pending promises. */
async function settled(act: () => void): Promise<void> {
  act();
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

const wait = () => settled(() => mock.timers.tick(1000));

/** Simulates a write to a trail. */
const recorded = (trail: string) => {
  const isOf = ({ pattern }: Watcher) =>
    typeof pattern === 'string'
      ? trail.startsWith('/shop/')
      : (pattern.base as Uri).path === trail && pattern.pattern === 'annotations.jsonl';
  for (const watcher of Watcher.all.filter(isOf)) watcher.changed.fire(Uri.file(`${trail}/annotations.jsonl`));
  return wait();
};

test('the same annotation in a copy of the trail is a separate entry', () => {
  const { tree } = started();
  const [one, other] = ['file:///shop/a.py', 'file:///shop/worktree/a.py'].map((uri) => tree.getTreeItem(entry(uri, '1')).id);
  notStrictEqual(one, other);
});

test('new records are listed when the view is visible, else when it becomes visible', async () => {
  const { next, listed, requests, show } = started();
  await show(true);
  await next().answer('1');
  deepStrictEqual(listed(), ['1']);
  await recorded('/shop/.ai-audit');
  await next().answer('1', '2');
  deepStrictEqual(listed(), ['1', '2']);
  await show(false);
  await recorded('/shop/.ai-audit');
  strictEqual(requests.length, 0);
  await show(true);
  await next().answer('3');
  deepStrictEqual(listed(), ['3']);
  await show(false);
  await show(true);
  strictEqual(requests.length, 0, 'nothing was recorded meanwhile');
});

test('records of a trail above the folder are listed', async () => {
  disk.folders = [Uri.file('/above/shop')];
  disk.above = ['/above/.ai-audit'];
  const { next, listed, show } = started();
  await show(true);
  await next().answer('1');
  await recorded('/above/.ai-audit');
  await next().answer('2');
  deepStrictEqual(listed(), ['2']);
});

test('a failed request is repeated after reading ends, after a change, and when the view is shown', async () => {
  const { next, listed, requests, show, provenanceChanged, finished, view } = started();
  await show(true);
  for (const again of [() => finished.fire(undefined), () => provenanceChanged.fire('file:///shop/b.py')]) {
    await next().fail('still being read');
    match(view.message, /still being read/);
    await wait();
    deepStrictEqual([listed(), requests.length], [[], 0]);
    again();
    await wait();
  }
  await next().fail('still being read');
  await show(false);
  await show(true);
  await next().answer('1');
  deepStrictEqual([listed(), view.message], [['1'], '']);
  provenanceChanged.fire('file:///shop/b.py');
  await wait();
  await next().fail('busy');
  deepStrictEqual(listed(), ['1'], 'the list stays');
});

test('an older response never replaces a newer one', async () => {
  const { tree, next, listed, requests, show } = started();
  await show(true);
  const first = next();
  let isFresh = false;
  void tree.refresh().then(() => (isFresh = true));
  await wait();
  strictEqual(requests.length, 0, 'one request at a time');
  await first.answer('old');
  strictEqual(isFresh, false);
  await next().answer('new');
  strictEqual(isFresh, true);
  deepStrictEqual(listed(), ['new']);
});
