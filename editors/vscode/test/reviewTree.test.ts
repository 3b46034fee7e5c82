import { deepStrictEqual, match, notStrictEqual, strictEqual } from 'node:assert';
import { afterEach, beforeEach, mock, test } from 'node:test';
import { KnowledgeBases } from '../src/knowledge/knowledgeBases.ts';
import { isProposed, Proposals } from '../src/knowledge/proposals.ts';
import type { Proposal, QueueEntry, QueueEnd } from '../src/protocol.ts';
import { ReviewQueue, type Waiting } from '../src/reviewQueue.ts';
import type { Server } from '../src/server/server.ts';
import { isWaiting, ReviewTree } from '../src/views/reviewTree.ts';
import { disk, EventEmitter, Uri, views, Watcher } from './vscode.ts';

interface PendingRequest {
  send: (...ids: string[]) => Promise<void>;
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
  ({
    uri,
    annotationId,
    filePath: 'a.py',
    displayName: 'x = 1',
    lineStart: 1,
    lineEnd: 2,
    band: null,
    score: null,
    storedScore: null,
    model: {},
    tool: {},
    review: null,
  }) as unknown as QueueEntry;

/** Returns a tree with a fake view and server, the ids that it lists, and the pending requests. */
function started() {
  const provenanceChanged = new EventEmitter<string>();
  const finished = new EventEmitter<undefined>();
  const knowledgeChanged = new EventEmitter<string>();
  const pending = new Map<string, Proposal[]>();
  const requests: PendingRequest[] = [];
  const runInParts = (_command: string, { uri }: { uri: string }, onPart: (part: object) => void) =>
    new Promise<QueueEnd>((resolve, reject) => {
      const send = (ids: string[]) => onPart({ placements: ids.map((id) => entry(`${uri}/a.py`, id)), reviewed: 1 });
      requests.push({
        send: (...ids) => settled(() => send(ids)),
        answer: (...ids) =>
          settled(() => {
            send(ids);
            resolve({ placements: [], total: ids.length, reviewed: 1 });
          }),
        fail: (message) => settled(() => reject(new Error(message))),
      });
    });
  const server = {
    state: 'running',
    onDidChangeState: new EventEmitter().event,
    onDidChangeProvenance: provenanceChanged.event,
    onDidFinishReading: finished.event,
    onDidChangeKnowledge: knowledgeChanged.event,
    run: (_command: string, { uri }: { uri: string }) => Promise.resolve({ pending: pending.get(uri) ?? [] }),
    log: { warn: () => undefined },
    toProtocolUri: String,
    runInParts,
  };
  const queue = new ReviewQueue(server as unknown as Server);
  const proposals = new Proposals(server as unknown as Server, new KnowledgeBases(server as unknown as Server));
  const tree = new ReviewTree(server as unknown as Server, queue, proposals);
  const view = views.at(-1);
  if (view === undefined) throw new Error('there is no view');
  const next = (): PendingRequest => {
    const request = requests.shift();
    if (request === undefined) throw new Error('nothing was asked');
    return request;
  };
  const listed = () =>
    tree.getChildren().flatMap((group) => tree.getChildren(group).map((each) => (isWaiting(each) ? each.annotationId : '')));
  const show = (visible: boolean) => settled(() => view.show(visible));
  return { tree, queue, view, requests, next, listed, show, provenanceChanged, finished, knowledgeChanged, pending };
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
      ? pattern.includes('.ai-audit/annotations.jsonl,') && trail.startsWith('/shop/')
      : (pattern.base as Uri).path === trail && pattern.pattern === 'annotations.jsonl';
  for (const watcher of Watcher.all.filter(isOf)) watcher.changed.fire(Uri.file(`${trail}/annotations.jsonl`));
  return wait();
};

test('the same annotation in a copy of the trail is a separate entry', () => {
  const { tree } = started();
  const row = { annotationId: '1', name: 'x', filePath: 'a.py', lineStart: 1, lineEnd: 2, band: null, score: null };
  const [one, other] = ['file:///shop/a.py', 'file:///shop/worktree/a.py'].map((uri) => tree.getTreeItem({ ...row, uri } as Waiting).id);
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
  deepStrictEqual([listed(), view.message], [['1'], '1 to review']);
  provenanceChanged.fire('file:///shop/b.py');
  await wait();
  await next().fail('busy');
  deepStrictEqual(listed(), ['1'], 'the list stays');
});

test('an older response never replaces a newer one', async () => {
  const { queue, next, listed, requests, show } = started();
  await show(true);
  const first = next();
  let isFresh = false;
  void queue.refresh().then(() => (isFresh = true));
  await wait();
  strictEqual(requests.length, 0, 'one request at a time');
  await first.answer('old');
  strictEqual(isFresh, false);
  await next().answer('new');
  strictEqual(isFresh, true);
  deepStrictEqual(listed(), ['new']);
});

test('rows are shown as they come, and old ones stay until all new ones have come', async () => {
  const { queue, next, listed, show, view } = started();
  await show(true);
  const first = next();
  await first.send('1');
  deepStrictEqual(listed(), ['1']);
  match(view.message, /1 to review so far/);
  await first.answer('2');
  deepStrictEqual([listed(), view.message, view.badge?.value], [['1', '2'], '2 to review', 2]);
  void queue.refresh();
  await wait();
  const second = next();
  await second.send('3');
  deepStrictEqual(listed(), ['1', '2']);
  await second.answer();
  deepStrictEqual(listed(), ['3']);
});

test('a large group is listed in pages', async () => {
  const { tree, next, show } = started();
  await show(true);
  await next().answer(...Array.from({ length: 20_000 }, (_, number) => String(number)));
  const [group, ...others] = tree.getChildren();
  const rows = tree.getChildren(group);
  deepStrictEqual([others.length, rows.length], [0, 201]);
  const more = rows.at(-1);
  strictEqual(more && tree.getTreeItem(more).label, 'Show 200 more of 19800');
});

test('proposals are a group of their own before the edits, and part of the one count', async () => {
  disk.above = ['/shop/.ai-audit', '/shop/.vouch'];
  const { tree, next, show, view, knowledgeChanged, pending } = started();
  const proposal = { kind: 'claim', text: 'Passwords are hashed', proposedBy: 'codex', proposedAt: null };
  pending.set('file:///shop', [{ ...proposal, proposalId: 'p1', uri: 'file:///shop/a.py', filePath: 'a.py', lineStart: 4, lineEnd: 6 }]);
  await show(true);
  await next().answer('1');
  await wait();
  const texts = () => tree.getChildren().map((each) => tree.getTreeItem(each).accessibilityInformation?.label);
  deepStrictEqual(texts(), ['Knowledge base, 1 to review', 'a.py, 1 to review']);
  deepStrictEqual([view.message, view.badge?.value], ['2 to review: 1 proposal', 2]);
  const [row] = tree.getChildren(tree.getChildren()[0]);
  if (!isProposed(row)) throw new Error('no proposal is listed');
  const item = tree.getTreeItem(row);
  strictEqual(item.accessibilityInformation?.label, 'Passwords are hashed, claim, proposed by codex, lines 4-6 of a.py');
  deepStrictEqual([item.description, item.contextValue, item.command?.command], ['codex · a.py:4', 'proposal', 'vscode.open']);
  pending.delete('file:///shop');
  knowledgeChanged.fire('file:///shop');
  await wait();
  deepStrictEqual([texts(), view.message, view.badge?.value], [['a.py, 1 to review'], '1 to review', 1]);
});

test('nothing is asked about a knowledge base where there is none', async () => {
  const { tree, next, show, pending, knowledgeChanged } = started();
  pending.set('file:///shop', [{ proposalId: 'p1', kind: 'claim', text: 'x', proposedBy: 'y', proposedAt: null }]);
  await show(true);
  await next().answer();
  knowledgeChanged.fire('file:///shop');
  await wait();
  deepStrictEqual(tree.getChildren(), []);
});
