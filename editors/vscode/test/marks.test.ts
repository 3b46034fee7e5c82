import { deepStrictEqual, notStrictEqual, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { partsOf } from '../src/marks/marks.ts';
import { BANDS, drawingOf, MODELS, type Part } from '../src/marks/shapes.ts';
import type { PlacementWithRuns, Run } from '../src/protocol.ts';
import { summaryOf } from '../src/statusBar.ts';

const run = (lineStart: number, lineEnd: number, kind: Run['kind']): Run => ({ lineStart, lineEnd, kind });
const placement = (runs: Run[], waits = false, name = 'claude') => ({ runs, waits, model: { name, version: null } }) as PlacementWithRuns;

test('each kind of line has its own part', () => {
  const runs = [run(2, 4, 'ai'), run(5, 5, 'edited'), run(7, 8, 'claimed')];
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

test('the first line of a claimed range has its own mark', () => {
  const parts = (...runs: Run[]) => partsOf(runs).map(([part]) => part);
  deepStrictEqual(parts(run(1, 3, 'claimed')), ['firstClaimed', 'claimed']);
  deepStrictEqual(parts(run(1, 1, 'claimed'), run(2, 2, 'ai')), ['firstClaimed', 'ai']);
  deepStrictEqual(parts(), []);
});

test('claimed marks differ from verified ones and are not filled', () => {
  for (const style of [...Object.values(BANDS), ...MODELS]) {
    const drawings = (['first', 'firstClaimed', 'ai', 'claimed', 'edited'] as Part[]).map((part) => drawingOf(style, part));
    strictEqual(new Set(drawings).size, drawings.length);
    notStrictEqual(drawingOf(style, 'firstClaimed'), style.shape);
    ok(drawingOf(style, 'firstClaimed').includes('fill="none"') && drawingOf(style, 'firstClaimed').includes('dasharray'));
  }
});

test('only verified lines count towards the AI share', () => {
  const known = { placements: [placement([run(1, 4, 'ai'), run(6, 6, 'edited')], true), placement([run(8, 9, 'claimed')], false, 'gpt')] };
  const { text: short, sentence, models } = summaryOf(known, 10);
  strictEqual(short, 'AI 40% · 20% claimed · 1 to review');
  strictEqual(sentence, "4 of 10 lines are verified as an AI's, 2 only claimed, 1 edited since; edits to review: 1");
  deepStrictEqual(models, [
    ['claude', 5],
    ['gpt', 2],
  ]);
  strictEqual(summaryOf({ placements: [placement([run(1, 10, 'ai')])] }, 10).text, 'AI 100%');
});
