import { deepStrictEqual, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { ageOf, ageStep, shortAge } from '../src/blame/ages.ts';
import { blocksOf, cellsOf, NO_OWNER, shiftCells, widthOf, type Cell } from '../src/blame/blocks.ts';
import { nextOf } from '../src/navigation.ts';
import type { PlacementWithRuns, Run } from '../src/protocol.ts';
import { countsOf } from '../src/views/commitTree.ts';
import { decorationOf } from '../src/views/fileBadges.ts';

const NOW = Date.parse('2026-06-15T12:00:00Z');
const HOUR = 3_600_000;
const run = (lineStart: number, lineEnd: number, kind: Run['kind']): Run => ({ lineStart, lineEnd, kind });
const placement = (name: string | null, timestamp: string, runs: Run[], band: string | null = null) =>
  ({ model: { name, version: null }, timestamp, runs, band }) as unknown as PlacementWithRuns;

test('an age is short, and its step is the same in every file', () => {
  const hours = [0, 0.5, 5, 30, 200, 800, 5000, 20000];
  deepStrictEqual(
    hours.map((each) => shortAge(each * HOUR)),
    ['now', '30min', '5h', '1d', '8d', '1mo', '6mo', '2y'],
  );
  deepStrictEqual(
    hours.map((each) => ageStep(each * HOUR)),
    ['day', 'day', 'day', 'week', 'month', 'year', 'year', 'older'],
  );
  strictEqual(ageOf({ timestamp: '2026-06-15T11:00:00Z' }, NOW), HOUR);
  strictEqual(ageOf({ timestamp: '2027-01-01T00:00:00Z' }, NOW), 0);
  for (const timestamp of ['yesterday', '', null]) strictEqual(shortAge(ageOf({ timestamp }, NOW)), '?');
});

test('a block ends where another annotation begins or a line has no owner, and says whose it is once', () => {
  const one = placement('claude', '2026-06-15T09:00:00Z', [run(2, 3, 'ai'), run(4, 4, 'edited'), run(6, 6, 'ai')], 'high');
  const other = placement(null, 'nonsense', [run(7, 8, 'claimed')]);
  const blocks = blocksOf([other, one]);
  deepStrictEqual(
    blocks.map(({ lineStart, lineEnd, kinds }) => [lineStart, lineEnd, kinds.join()]),
    [
      [2, 4, 'ai,ai,edited'],
      [6, 6, 'ai'],
      [7, 8, 'claimed,claimed'],
    ],
  );
  const cells = cellsOf(blocks, 9, 'risk', NOW);
  deepStrictEqual(
    cells.map(({ heat, kind }) => [heat, kind].join()),
    [',', 'band.high,ai', 'band.high,ai', 'band.high,edited', ',', 'band.high,ai', 'band.none,claimed', 'band.none,claimed', ','],
  );
  deepStrictEqual(
    cells.map(({ text }) => text?.replace(/ +/g, ' ')),
    [undefined, ' claude 3h high', undefined, undefined, undefined, ' claude 3h high', '?unknown ? ', undefined, undefined],
  );
  strictEqual(cellsOf(blocks, 9, 'age', NOW)[1]?.heat, 'age.day');
  strictEqual(cellsOf(blocks, 3, 'age', NOW).length, 3);
  const longest = Math.max(...cells.map(({ text }) => text?.length ?? 0));
  strictEqual(longest <= widthOf(blocks), true);
});

test('a name from a trail is cut and shows no invisible characters', () => {
  const cells = cellsOf(blocksOf([placement('a\u202e'.repeat(40), '', [run(1, 1, 'ai')])]), 1, 'age', NOW);
  const text = cells.map((cell) => cell.text ?? '').join('');
  strictEqual(text.includes('\u202e'), false);
  strictEqual(text.length > 10 && text.length < 40, true);
});

test('cells move with the text, and a new line is a person’s', () => {
  const cells = ['a', 'b', 'c'].map((text): Cell => ({ heat: 'x', kind: 'ai', text }));
  const moved = (...change: [{ line: number; character: number }, number, number]) =>
    shiftCells(cells, ...change).map(({ text }) => text ?? '-');
  deepStrictEqual(moved({ line: 1, character: 4 }, 1, 1), ['a', 'b', '-', 'c']);
  deepStrictEqual(moved({ line: 1, character: 0 }, 1, 2), ['a', '-', '-', 'b', 'c']);
  deepStrictEqual(moved({ line: 0, character: 2 }, 1, 0), ['a', 'c']);
  deepStrictEqual(moved({ line: 0, character: 0 }, 2, 0), ['a']);
  deepStrictEqual(moved({ line: 0, character: 3 }, 2, 1), ['a', '-']);
  strictEqual(shiftCells(cells, { line: 2, character: 1 }, 2, 1)[3], NO_OWNER);
});

test('after the last change comes the first', () => {
  deepStrictEqual(
    [-1, 3, 4, 9, 20].map((line) => nextOf([3, 9], line, 1)),
    [0, 1, 1, 0, 0],
  );
  deepStrictEqual(
    [0, 3, 4, 9, 20].map((line) => nextOf([3, 9], line, -1)),
    [1, 1, 0, 0, 1],
  );
  strictEqual(nextOf([], 1, 1), -1);
});

test('a badge has two characters, and says more in words', () => {
  const file = {
    uri: '',
    lines: 27,
    verifiedLines: 12,
    claimedLines: 0,
    editedLines: 0,
    share: 0.444,
    waiting: 2,
    band: 'critical' as const,
  };
  const shown = (members: object, badge: 'waiting' | 'share' | 'off') =>
    (decorationOf({ ...file, ...members }, badge) as unknown as { parts: unknown[] } | undefined)?.parts.slice(0, 2);
  deepStrictEqual(shown({}, 'waiting'), ['✦2', '2 AI edits to review, risk up to critical']);
  deepStrictEqual(shown({ waiting: 12, band: null }, 'waiting'), ['✦+', '12 AI edits to review']);
  strictEqual(shown({ waiting: 0 }, 'waiting'), undefined);
  deepStrictEqual(shown({}, 'share'), ['44', '44% AI: 12 of 27 lines verified']);
  deepStrictEqual(shown({ share: 1, claimedLines: 3 }, 'share'), ['AI', '100% AI: 12 of 27 lines verified, 3 only claimed']);
  strictEqual(shown({}, 'off'), undefined);
});

test('the lines of a commit are counted over its files', () => {
  const file = { verifiedLines: 10, claimedLines: 0, editedLines: 2, unreviewedLines: 6 };
  strictEqual(countsOf([file, file]), '24, 12 unreviewed');
  strictEqual(countsOf([{ ...file, claimedLines: 3, unreviewedLines: 0 }]), '15 (3 only claimed)');
  strictEqual(countsOf([]), '0');
});
