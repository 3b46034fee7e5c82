import { deepStrictEqual, strictEqual } from 'node:assert';
import { mock, test } from 'node:test';
import { ChangeBatcher } from '../src/server/changeBatcher.ts';

const URI = 'file:///a.py';

type Change = Parameters<ChangeBatcher['add']>[0];

/** Returns a function that makes changes of one document, as VS Code tells of them. */
function changesOf(uri: string) {
  const document = { uri, version: 1 };
  return (version: number, ...texts: string[]) =>
    () => {
      document.version = version;
      return { document, contentChanges: texts.map((text) => ({ text })) } as unknown as Change;
    };
}

const change = changesOf(URI);

/** Returns a batcher and the messages that it sent: of a change, the version and the texts. */
function started() {
  const sent: unknown[] = [];
  const batcher = new ChangeBatcher(
    ({ uri }, changes, version) => ({ textDocument: { uri: String(uri), version }, contentChanges: changes }),
    (error) => sent.push(error),
  );
  const next = (type: unknown, params: unknown) => {
    const { textDocument, contentChanges } = params as Partial<{ textDocument: { version: number }; contentChanges: { text: string }[] }>;
    sent.push(contentChanges === undefined ? type : [textDocument?.version, contentChanges.map(({ text }) => text).join('|')]);
    return Promise.resolve();
  };
  const notify = (type: string, send = next) => void batcher.middleware.sendNotification?.(type, send, {}).catch(() => undefined);
  const ask = (type: string) => void batcher.middleware.sendRequest?.(type, {}, undefined, next);
  const type = (...changes: (() => Change)[]) => {
    for (const each of changes) batcher.add(each());
  };
  notify('textDocument/didOpen');
  sent.length = 0;
  return { batcher, sent, notify, ask, type };
}

test('changes are sent together before the next message', () => {
  const { sent, notify, ask, type } = started();
  type(change(2, 'a'), change(3, 'b'), change(4, 'c'));
  deepStrictEqual(sent, []);
  ask('textDocument/hover');
  deepStrictEqual(sent, [[4, 'a|b|c'], 'textDocument/hover']);
  type(change(5, 'd'));
  notify('textDocument/didSave');
  deepStrictEqual(sent.slice(2), [[5, 'd'], 'textDocument/didSave']);
});

test('only changes with consecutive versions are merged', () => {
  const { sent, ask, type } = started();
  type(change(2, 'a'), change(3, 'b', 'c'), change(4, 'd'), change(5, 'e'), change(7, 'f'), changesOf('file:///b.py')(2, 'o'));
  ask('textDocument/hover');
  deepStrictEqual(sent, [[2, 'a'], [3, 'b|c'], [5, 'd|e'], [7, 'f'], [2, 'o'], 'textDocument/hover']);
});

test('diagnostics are pulled after pending changes are sent', async () => {
  const { batcher, sent, ask, type } = started();
  const pull = async () => {
    await batcher.middleware.provideDiagnostics?.({} as never, undefined, {} as never, () => void sent.push('pull'));
  };
  await pull();
  deepStrictEqual(sent, ['pull']);
  type(change(2, 'a'));
  const pulled = pull();
  await Promise.resolve();
  deepStrictEqual(sent, ['pull']);
  ask('textDocument/hover');
  await pulled;
  deepStrictEqual(sent, ['pull', [2, 'a'], 'textDocument/hover', 'pull']);
});

test('a change without a following message is sent after a delay, and an error is reported', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { sent, notify, type } = started();
  type(change(2, 'a'));
  mock.timers.tick(60_000);
  deepStrictEqual(sent, [[2, 'a']]);
  notify('textDocument/didOpen', () => Promise.reject(new Error('closed')));
  type(change(3, 'b'));
  mock.timers.tick(60_000);
  await Promise.resolve();
  await Promise.resolve();
  strictEqual(String(sent[1]), 'Error: closed');
  mock.timers.reset();
});
