import { deepStrictEqual, strictEqual } from 'node:assert';
import { mock, test } from 'node:test';
import { ChangeBatcher } from '../src/server/changeBatcher.ts';

const URI = 'file:///a.py';

function change(version: number, ...texts: string[]) {
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  return { textDocument: { uri: URI, version }, contentChanges: texts.map((text) => ({ range, text })) };
}

/** Returns a batcher and the messages that it sent: of a change, the version and the texts. */
function started() {
  const sent: unknown[] = [];
  const batcher = new ChangeBatcher((error) => sent.push(error));
  const next = (type: unknown, params: unknown) => {
    const { textDocument, contentChanges } = params as Partial<ReturnType<typeof change>>;
    sent.push(contentChanges === undefined ? type : [textDocument?.version, contentChanges.map(({ text }) => text).join('|')]);
    return Promise.resolve();
  };
  const notify = (type: string, params: object = {}) => void batcher.middleware.sendNotification?.(type, next, params);
  const ask = (type: string) => void batcher.middleware.sendRequest?.(type, {}, undefined, next);
  return { batcher, sent, notify, ask };
}

const type = (notify: (type: string, params: object) => void, ...changes: object[]) =>
  changes.forEach((each) => notify('textDocument/didChange', each));

test('changes are sent together before the next message', () => {
  const { sent, notify, ask } = started();
  type(notify, change(2, 'a'), change(3, 'b'), change(4, 'c'));
  deepStrictEqual(sent, []);
  ask('textDocument/hover');
  deepStrictEqual(sent, [[4, 'a|b|c'], 'textDocument/hover']);
  type(notify, change(5, 'd'));
  notify('textDocument/didSave');
  deepStrictEqual(sent.slice(2), [[5, 'd'], 'textDocument/didSave']);
});

test('only changes with consecutive versions are merged', () => {
  const { sent, notify, ask } = started();
  const other = { ...change(2, 'o'), textDocument: { uri: 'file:///b.py', version: 2 } };
  type(notify, change(2, 'a'), change(3, 'b', 'c'), change(4, 'd'), change(5, 'e'), change(7, 'f'), other);
  ask('textDocument/hover');
  deepStrictEqual(sent, [[2, 'a'], [3, 'b|c'], [5, 'd|e'], [7, 'f'], [2, 'o'], 'textDocument/hover']);
});

test('diagnostics are pulled after pending changes are sent', async () => {
  const { batcher, sent, notify, ask } = started();
  const pull = async () => {
    await batcher.middleware.provideDiagnostics?.({} as never, undefined, {} as never, () => void sent.push('pull'));
  };
  await pull();
  deepStrictEqual(sent, ['pull']);
  type(notify, change(2, 'a'));
  const pulled = pull();
  await Promise.resolve();
  deepStrictEqual(sent, ['pull']);
  ask('textDocument/hover');
  await pulled;
  deepStrictEqual(sent, ['pull', [2, 'a'], 'textDocument/hover', 'pull']);
});

test('a change without a following message is sent after a delay, and an error is reported', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { batcher, sent, notify } = started();
  type(notify, change(2, 'a'));
  mock.timers.tick(60_000);
  deepStrictEqual(sent, [[2, 'a']]);
  void batcher.middleware.sendNotification?.('textDocument/didChange', () => Promise.reject(new Error('closed')), change(3, 'b'));
  mock.timers.tick(60_000);
  await Promise.resolve();
  await Promise.resolve();
  strictEqual(String(sent[1]), 'Error: closed');
  mock.timers.reset();
});
