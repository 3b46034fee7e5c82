// Blocks of lines that one annotation owns, in the order of the document, and what the blame column says of each line.

import type { Kind, PlacementWithRuns } from '../protocol';
import { plain } from '../text';
import { ageOf, ageStep, shortAge } from './ages';

export type Heat = 'age' | 'risk';

/** Consecutive AI lines of one annotation, 1-based and inclusive. Lines without an owner end a block. */
export interface Block {
  lineStart: number;
  lineEnd: number;
  placement: PlacementWithRuns;
  /** The kind of each line. */
  kinds: Kind[];
}

/** What the column shows beside one line. */
export interface Cell {
  /** The name of the heat colour, such as `age.month` or `band.high`; undefined for a line without an owner. */
  heat: string | undefined;
  /** Undefined for a line without an owner. */
  kind: Kind | undefined;
  /** Only on the first line of a block. */
  text: string | undefined;
}

const MAX_MODEL = 20;
/** Marks of kinds, as `vibes blame` prints them. A verified line has none. */
const MARKS: Record<Kind, string> = { ai: ' ', claimed: '?', edited: '~' };
/** The longest age and band. */
const LENGTHS = { age: 5, band: 8 };
export const NO_OWNER: Cell = { heat: undefined, kind: undefined, text: undefined };

/** Returns the blocks of a document, from top to bottom. */
export function blocksOf(placements: readonly PlacementWithRuns[]): Block[] {
  const runs = placements.flatMap((placement) => placement.runs.map((run) => ({ ...run, placement })));
  const blocks: Block[] = [];
  for (const { lineStart, lineEnd, kind, placement } of runs.sort((one, other) => one.lineStart - other.lineStart)) {
    const kinds = new Array<Kind>(lineEnd - lineStart + 1).fill(kind);
    const last = blocks.at(-1);
    if (last?.placement === placement && last.lineEnd + 1 === lineStart) {
      last.lineEnd = lineEnd;
      last.kinds.push(...kinds);
    } else blocks.push({ lineStart, lineEnd, placement, kinds });
  }
  return blocks;
}

/** Returns the characters that the column needs for these blocks. */
export function widthOf(blocks: readonly Block[]): number {
  return 1 + modelWidth(blocks) + 2 + LENGTHS.age + 2 + LENGTHS.band;
}

/** Returns a cell for each line of a document. */
export function cellsOf(blocks: readonly Block[], lineCount: number, heat: Heat, now: number): Cell[] {
  const cells = new Array<Cell>(lineCount).fill(NO_OWNER);
  const width = modelWidth(blocks);
  for (const { lineStart, lineEnd, placement, kinds } of blocks) {
    const age = ageOf(placement, now);
    const name = heat === 'age' ? `age.${ageStep(age) ?? 'older'}` : `band.${placement.band ?? 'none'}`;
    const parts = [modelOf(placement).padEnd(width), shortAge(age).padStart(LENGTHS.age), placement.band ?? ''];
    for (let line = lineStart; line <= Math.min(lineEnd, lineCount); line++) {
      const kind = kinds[line - lineStart] ?? 'ai';
      const text = line === lineStart ? `${MARKS[kind]}${parts.join('  ')}` : undefined;
      cells[line - 1] = { heat: name, kind, text };
    }
  }
  return cells;
}

/** Returns the mark of a line that has no text. */
export function markOf({ kind }: Cell): string {
  return kind === undefined ? ' ' : MARKS[kind];
}

/** Moves cells with a change of the text: removed lines lose theirs, new lines are a person's. */
export function shiftCells(cells: Cell[], start: { line: number; character: number }, endLine: number, newLines: number): Cell[] {
  const added = new Array<Cell>(newLines).fill(NO_OWNER);
  // A line break at the start of a line pushes the line itself down; elsewhere the new line follows it.
  const at = start.character === 0 && endLine === start.line ? start.line : start.line + 1;
  return [...cells.slice(0, at), ...added, ...cells.slice(at + endLine - start.line)];
}

function modelWidth(blocks: readonly Block[]): number {
  return blocks.reduce((width, { placement }) => Math.max(width, modelOf(placement).length), 0);
}

function modelOf({ model }: PlacementWithRuns): string {
  return plain(model.name ?? 'unknown', MAX_MODEL);
}
