import { strictEqual, deepStrictEqual } from 'node:assert';
import { test } from 'node:test';
import { recognise, MAX_KEY_DELAY, MAX_TYPED_LENGTH, type Change } from '../src/capture/recognise.ts';

const URI = 'file:///a.py';
const at = (line: number, character: number) => ({ line, character });
const HERE = { start: at(3, 4), end: at(3, 4) };
const COMPLETION = 'return 2 * one\n';

function change(more: Partial<Change> = {}): Change {
  return { uri: URI, version: 7, at: 5000, isUndoOrRedo: false, edits: [{ range: HERE, text: COMPLETION }], ...more };
}

test('the text that the key inserted is the completion', () => {
  deepStrictEqual(recognise(change(), URI, 5000), { uri: URI, version: 7, range: HERE, newText: COMPLETION });
  strictEqual(recognise(change(), URI, 5000 + MAX_KEY_DELAY)?.newText, COMPLETION);
});

test('the replaced range is that of the text before', () => {
  const word = { start: at(3, 0), end: at(3, 4) };
  deepStrictEqual(recognise(change({ edits: [{ range: word, text: COMPLETION }] }), URI, 5000)?.range, word);
});

const NOT_COMPLETIONS: Record<string, Change | undefined> = {
  'no change at all': undefined,
  'a change of another document': change({ uri: 'file:///b.py' }),
  'a change long before, such as a paste': change({ at: 4999 - MAX_KEY_DELAY }),
  'undo and redo': change({ isUndoOrRedo: true }),
  'several pieces: a formatter, several cursors': change({
    edits: [
      { range: HERE, text: COMPLETION },
      { range: HERE, text: COMPLETION },
    ],
  }),
  'a change without edits': change({ edits: [] }),
  'a deletion': change({ edits: [{ range: { start: at(3, 0), end: at(3, 4) }, text: '' }] }),
  'white space, such as indentation': change({ edits: [{ range: HERE, text: '\n        ' }] }),
  'an auto-closed bracket': change({ edits: [{ range: HERE, text: '()' }] }),
};

for (const [what, last] of Object.entries(NOT_COMPLETIONS)) {
  test(`${what} is no completion`, () => strictEqual(recognise(last, URI, 5000), undefined));
}

test('the shortest completion is longer than typed text', () => {
  const long = 'x'.repeat(MAX_TYPED_LENGTH + 1);
  strictEqual(recognise(change({ edits: [{ range: HERE, text: long }] }), URI, 5000)?.newText, long);
});
