// Input boxes and pick lists of the recording commands. Each throws `Cancelled` if the user dismisses it.

import * as vscode from 'vscode';
import { plain } from '../text';
import { Cancelled } from './register';

/** Asks for a line of text. */
export async function ask(title: string, value = '', isOptional = false): Promise<string> {
  const answer = await vscode.window.showInputBox({
    title,
    value,
    ...(isOptional ? { placeHolder: 'optional' } : {}),
    validateInput: (text) => (isOptional || text.trim() !== '' ? undefined : 'enter a value'),
  });
  if (answer === undefined) throw new Cancelled();
  return answer.trim();
}

/** Asks for one of several words. */
export async function choose<Choice extends string>(title: string, choices: readonly Choice[]): Promise<Choice> {
  const answer = await vscode.window.showQuickPick([...choices], { title });
  if (answer === undefined) throw new Cancelled();
  return answer as Choice;
}

/** Asks for one of several values. Labels may contain untrusted text from a trail. */
export async function pick<Value>(title: string, choices: readonly (readonly [line: string, value: Value])[]): Promise<Value> {
  const items = choices.map(([line, value]) => ({ label: plain(line), value }));
  const answer = await vscode.window.showQuickPick(items, { title });
  if (answer === undefined) throw new Cancelled();
  return answer.value;
}
