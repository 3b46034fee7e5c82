import { strictEqual, deepStrictEqual } from 'node:assert';
import { test } from 'node:test';
import { recognise, SOON, TYPED, type Change } from '../src/capture/recognising.ts';

const URI = 'file:///a.py';
const at = (line: number, character: number) => ({ line, character });
const HERE = { start: at(3, 4), end: at(3, 4) };
const COMPLETION = 'return 2 * one\n';

function change(more: Partial<Change> = {}): Change {
  return { uri: URI, version: 7, at: 5000, isUndoOrRedo: false, edits: [{ range: HERE, text: COMPLETION }], ...more };
}

test('the piece of text that the key put in is the completion', () => {
  deepStrictEqual(recognise(change(), URI, 5000), { uri: URI, version: 7, range: HERE, newText: COMPLETION });
  strictEqual(recognise(change(), URI, 5000 + SOON)?.newText, COMPLETION);
});

test('what it replaced is said as it was before', () => {
  const word = { start: at(3, 0), end: at(3, 4) };
  deepStrictEqual(recognise(change({ edits: [{ range: word, text: COMPLETION }] }), URI, 5000)?.range, word);
});

const NOT: Record<string, Change | undefined> = {
  'no change at all': undefined,
  'a change of another document': change({ uri: 'file:///b.py' }),
  'a change long before, such as a paste': change({ at: 4999 - SOON }),
  'undo and redo': change({ isUndoOrRedo: true }),
  'several pieces: a formatter, several cursors': change({
    edits: [
      { range: HERE, text: COMPLETION },
      { range: HERE, text: COMPLETION },
    ],
  }),
  'a change that says nothing': change({ edits: [] }),
  'a deletion': change({ edits: [{ range: { start: at(3, 0), end: at(3, 4) }, text: '' }] }),
  'white space, such as indentation': change({ edits: [{ range: HERE, text: '\n        ' }] }),
  'a bracket that closed itself': change({ edits: [{ range: HERE, text: '()' }] }),
};

for (const [what, last] of Object.entries(NOT)) {
  test(`${what} is none`, () => strictEqual(recognise(last, URI, 5000), undefined));
}

test('the shortest one is longer than what may have been typed', () => {
  const long = 'x'.repeat(TYPED + 1);
  strictEqual(recognise(change({ edits: [{ range: HERE, text: long }] }), URI, 5000)?.newText, long);
});
