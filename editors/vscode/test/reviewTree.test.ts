import { deepStrictEqual, match, notStrictEqual, strictEqual } from 'node:assert';
import { afterEach, beforeEach, mock, test } from 'node:test';
import type { Waiting } from '../src/protocol.ts';
import type { Server } from '../src/server/server.ts';
import { isWaiting, ReviewTree } from '../src/views/reviewTree.ts';
import { disk, EventEmitter, Uri, views, Watcher } from './vscode.ts';

interface Question {
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

const waiting = (uri: string, annotationId: string) =>
  ({ uri, annotationId, filePath: 'a.py', band: null, score: null, storedScore: null, model: {}, review: null }) as unknown as Waiting;

/** Returns a view and its server: both the test's own; what the view lists, by id; and the questions that wait for an answer. */
function started() {
  const told = new EventEmitter<string>();
  const finished = new EventEmitter<undefined>();
  const questions: Question[] = [];
  const run = (_command: string, { uri }: { uri: string }) =>
    new Promise((resolve, reject) => {
      const placements = (ids: string[]) => ids.map((id) => waiting(`${uri}/a.py`, id));
      questions.push({
        answer: (...ids) => settled(() => resolve({ placements: placements(ids), total: ids.length })),
        fail: (message) => settled(() => reject(new Error(message))),
      });
    });
  const server = {
    life: 'running',
    onDidChangeLife: new EventEmitter().event,
    onDidChangeProvenance: told.event,
    onDidFinishReading: finished.event,
    log: { warn: () => undefined },
    toWire: String,
    run,
  };
  const tree = new ReviewTree(server as unknown as Server);
  const view = views.at(-1);
  if (view === undefined) throw new Error('there is no view');
  const next = (): Question => {
    const question = questions.shift();
    if (question === undefined) throw new Error('nothing was asked');
    return question;
  };
  const listed = () =>
    tree.getChildren().flatMap((group) => tree.getChildren(group).map((each) => (isWaiting(each) ? each.annotationId : '')));
  const show = (visible: boolean) => settled(() => view.show(visible));
  return { tree, view, questions, next, listed, show, told, finished };
}

/** Does something, and what comes of it at once. */
async function settled(act: () => void): Promise<void> {
  act();
  for (let turn = 0; turn < 50; turn++) await Promise.resolve();
}

const wait = () => settled(() => mock.timers.tick(1000));

/** Has somebody record something in a trail. */
const recorded = (trail: string) => {
  const isOf = ({ pattern }: Watcher) =>
    typeof pattern === 'string'
      ? trail.startsWith('/shop/')
      : (pattern.base as Uri).path === trail && pattern.pattern === 'annotations.jsonl';
  for (const watcher of Watcher.all.filter(isOf)) watcher.changed.fire(Uri.file(`${trail}/annotations.jsonl`));
  return wait();
};

test('the same annotation in a copy of the trail is an entry of its own', () => {
  const { tree } = started();
  const [one, other] = ['file:///shop/a.py', 'file:///shop/worktree/a.py'].map((uri) => tree.getTreeItem(waiting(uri, '1')).id);
  notStrictEqual(one, other);
});

test('what anybody records is listed when the view is seen, else once it is', async () => {
  const { next, listed, questions, show } = started();
  await show(true);
  await next().answer('1');
  deepStrictEqual(listed(), ['1']);
  await recorded('/shop/.ai-audit');
  await next().answer('1', '2');
  deepStrictEqual(listed(), ['1', '2']);
  await show(false);
  await recorded('/shop/.ai-audit');
  strictEqual(questions.length, 0);
  await show(true);
  await next().answer('3');
  deepStrictEqual(listed(), ['3']);
  await show(false);
  await show(true);
  strictEqual(questions.length, 0, 'nothing was recorded meanwhile');
});

test('what is recorded in a trail above the folder is listed, too', async () => {
  disk.folders = [Uri.file('/above/shop')];
  disk.above = ['/above/.ai-audit'];
  const { next, listed, show } = started();
  await show(true);
  await next().answer('1');
  await recorded('/above/.ai-audit');
  await next().answer('2');
  deepStrictEqual(listed(), ['2']);
});

test('a question that failed is asked again when the trail is read, when something is told, and when the view is shown, not before', async () => {
  const { next, listed, questions, show, told, finished, view } = started();
  await show(true);
  for (const again of [() => finished.fire(undefined), () => told.fire('file:///shop/b.py')]) {
    await next().fail('still being read');
    match(view.message, /still being read/);
    await wait();
    deepStrictEqual([listed(), questions.length], [[], 0]);
    again();
    await wait();
  }
  await next().fail('still being read');
  await show(false);
  await show(true);
  await next().answer('1');
  deepStrictEqual([listed(), view.message], [['1'], '']);
  told.fire('file:///shop/b.py');
  await wait();
  await next().fail('busy');
  deepStrictEqual(listed(), ['1'], 'what is listed stays');
});

test('an answer is never overtaken by one to an earlier question', async () => {
  const { tree, next, listed, questions, show } = started();
  await show(true);
  const first = next();
  let isFresh = false;
  void tree.refresh().then(() => (isFresh = true));
  await wait();
  strictEqual(questions.length, 0, 'one question at a time');
  await first.answer('old');
  strictEqual(isFresh, false);
  await next().answer('new');
  strictEqual(isFresh, true);
  deepStrictEqual(listed(), ['new']);
});
