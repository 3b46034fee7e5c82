// Questions that recording commands ask; each throws `Cancelled` when the user turns away.

import * as vscode from 'vscode';
import { plain } from '../text';
import { Cancelled } from './attempt';

/** Asks for a line of text. */
export async function ask(title: string, value = '', isOptional = false): Promise<string> {
  const answer = await vscode.window.showInputBox({
    title,
    value,
    ...(isOptional ? { placeHolder: 'optional' } : {}),
    validateInput: (text) => (isOptional || text.trim() !== '' ? undefined : 'something is needed here'),
  });
  if (answer === undefined) throw new Cancelled();
  return answer.trim();
}

/** Asks for one of some words. */
export async function choose<Word extends string>(title: string, words: readonly Word[]): Promise<Word> {
  const answer = await vscode.window.showQuickPick([...words], { title });
  if (answer === undefined) throw new Cancelled();
  return answer as Word;
}

/** Asks for one of some things, each with a line that may come from a trail. */
export async function pick<Value>(title: string, things: readonly (readonly [line: string, value: Value])[]): Promise<Value> {
  const items = things.map(([line, value]) => ({ label: plain(line), value }));
  const answer = await vscode.window.showQuickPick(items, { title });
  if (answer === undefined) throw new Cancelled();
  return answer.value;
}
