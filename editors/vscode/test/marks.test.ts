import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { partsOf } from '../src/marks/marks.ts';
import { BANDS, drawingOf, MODELS, type Part } from '../src/marks/shapes.ts';
import type { Band, Painted, Run } from '../src/protocol.ts';
import { wordsOf } from '../src/statusBar.ts';

const run = (lineStart: number, lineEnd: number, kind: Run['kind']): Run => ({ lineStart, lineEnd, kind });
const placement = (runs: Run[], waits = false, band: Band | null = null) => ({ runs, waits, band }) as Painted;

test('each kind of line has a part of its own, and a line of a person has none', () => {
  const runs = [run(1, 1, 'human'), run(2, 4, 'ai'), run(5, 5, 'edited'), run(6, 6, 'human'), run(7, 8, 'claimed')];
  deepStrictEqual(
    partsOf(runs).map(([part, { lineStart, lineEnd }]) => [part, lineStart, lineEnd]),
    [
      ['first', 2, 2],
      ['ai', 3, 4],
      ['edited', 5, 5],
      ['claimed', 7, 8],
    ],
  );
});

test('the first line of a range that is only claimed is marked so', () => {
  const parts = (...runs: Run[]) => partsOf(runs).map(([part]) => part);
  deepStrictEqual(parts(run(1, 3, 'claimed')), ['firstClaimed', 'claimed']);
  deepStrictEqual(parts(run(1, 1, 'claimed'), run(2, 2, 'ai')), ['firstClaimed', 'ai']);
  deepStrictEqual(parts(), []);
});

test('no mark of what is only claimed looks like one of what is verified, or is filled', () => {
  for (const look of [...Object.values(BANDS), ...MODELS]) {
    const drawings = (['first', 'firstClaimed', 'ai', 'claimed', 'edited'] as Part[]).map((part) => drawingOf(look, part));
    strictEqual(new Set(drawings).size, drawings.length);
    notStrictEqual(drawingOf(look, 'firstClaimed'), look.shape);
    ok(drawingOf(look, 'firstClaimed').includes('fill="none"') && drawingOf(look, 'firstClaimed').includes('dasharray'));
  }
});

test('only verified lines count in the share, and the rest is said', () => {
  const known = {
    placements: [placement([run(1, 4, 'ai'), run(5, 5, 'human'), run(6, 6, 'edited')], true, 'high'), placement([run(8, 9, 'claimed')])],
  };
  const { text: short, sentence } = wordsOf(known, 10);
  strictEqual(short, 'AI 40% · 20% claimed · 1 to review');
  strictEqual(
    sentence,
    "4 of 10 lines are verified as an AI's, 2 only claimed, 1 edited since; unreviewed ranges of high or critical risk: 1",
  );
  strictEqual(wordsOf({ placements: [placement([run(1, 10, 'ai')])] }, 10).text, 'AI 100%');
});
