// Moves the cursor to the next or previous block of AI lines in the file.

import * as vscode from 'vscode';
import { blocksOf } from './blame/blocks';
import { showDone } from './commands/register';
import type { ProvenanceCache } from './provenance';

/** Moves the cursor to the next block of AI lines, or the previous one (-1). After the last comes the first. */
export async function goToChange(cache: ProvenanceCache, step: 1 | -1): Promise<void> {
  const editor = vscode.window.activeTextEditor;
  if (editor === undefined) throw new Error('no file is open');
  const provenance = await cache.latest(editor.document);
  const lines = blocksOf(provenance?.placements ?? []).map(({ lineStart }) => lineStart - 1);
  const number = nextOf(lines, editor.selection.active.line, step);
  const line = lines[number];
  if (line === undefined) {
    showDone('no AI changes in this file');
    return;
  }
  const position = new vscode.Position(line, editor.document.lineAt(line).firstNonWhitespaceCharacterIndex);
  editor.selection = new vscode.Selection(position, position);
  editor.revealRange(new vscode.Range(position, position), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
  showDone(`AI change ${number + 1} of ${lines.length}`);
}

/** Returns the index of the line after or before `line`, from the other end if there is none; -1 if the list is empty. */
export function nextOf(lines: readonly number[], line: number, step: 1 | -1): number {
  if (lines.length === 0) return -1;
  if (step === 1)
    return Math.max(
      0,
      lines.findIndex((each) => each > line),
    );
  const before = lines.findLastIndex((each) => each < line);
  return before === -1 ? lines.length - 1 : before;
}
