import { deepStrictEqual, strictEqual } from 'node:assert';
import { mock, test } from 'node:test';
import { Typing } from '../src/server/typing.ts';

const URI = 'file:///a.py';

function change(version: number, ...texts: string[]) {
  const range = { start: { line: 0, character: 0 }, end: { line: 0, character: 0 } };
  return { textDocument: { uri: URI, version }, contentChanges: texts.map((text) => ({ range, text })) };
}

/** Returns what takes messages, and those that went out: of changes, the version and the texts. */
function started() {
  const sent: unknown[] = [];
  const typing = new Typing((error) => sent.push(error));
  const next = (type: unknown, params: unknown) => {
    const { textDocument, contentChanges } = params as Partial<ReturnType<typeof change>>;
    sent.push(contentChanges === undefined ? type : [textDocument?.version, contentChanges.map(({ text }) => text).join('|')]);
    return Promise.resolve();
  };
  const notify = (type: string, params: object = {}) => void typing.middleware.sendNotification?.(type, next, params);
  const ask = (type: string) => void typing.middleware.sendRequest?.(type, {}, undefined, next);
  return { typing, sent, notify, ask };
}

const type = (notify: (type: string, params: object) => void, ...changes: object[]) =>
  changes.forEach((each) => notify('textDocument/didChange', each));

test('keys go together, before whatever comes next', () => {
  const { sent, notify, ask } = started();
  type(notify, change(2, 'a'), change(3, 'b'), change(4, 'c'));
  deepStrictEqual(sent, []);
  ask('textDocument/hover');
  deepStrictEqual(sent, [[4, 'a|b|c'], 'textDocument/hover']);
  type(notify, change(5, 'd'));
  notify('textDocument/didSave');
  deepStrictEqual(sent.slice(2), [[5, 'd'], 'textDocument/didSave']);
});

test('only changes of which each made a version go together', () => {
  const { sent, notify, ask } = started();
  const other = { ...change(2, 'o'), textDocument: { uri: 'file:///b.py', version: 2 } };
  type(notify, change(2, 'a'), change(3, 'b', 'c'), change(4, 'd'), change(5, 'e'), change(7, 'f'), other);
  ask('textDocument/hover');
  deepStrictEqual(sent, [[2, 'a'], [3, 'b|c'], [5, 'd|e'], [7, 'f'], [2, 'o'], 'textDocument/hover']);
});

test('problems are asked for once the keys are sent', async () => {
  const { typing, sent, notify, ask } = started();
  const pull = async () => {
    await typing.middleware.provideDiagnostics?.({} as never, undefined, {} as never, () => void sent.push('pull'));
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

test('a key that nothing follows goes by itself, and one that fails is told of', async () => {
  mock.timers.enable({ apis: ['setTimeout'] });
  const { typing, sent, notify } = started();
  type(notify, change(2, 'a'));
  mock.timers.tick(60_000);
  deepStrictEqual(sent, [[2, 'a']]);
  void typing.middleware.sendNotification?.('textDocument/didChange', () => Promise.reject(new Error('closed')), change(3, 'b'));
  mock.timers.tick(60_000);
  await Promise.resolve();
  await Promise.resolve();
  strictEqual(String(sent[1]), 'Error: closed');
  mock.timers.reset();
});
