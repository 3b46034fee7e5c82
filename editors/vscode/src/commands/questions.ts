// Input boxes and pick lists of the recording commands. Each throws `Cancelled` if the user dismisses it.

import * as vscode from 'vscode';
import { plain } from '../text';
import { Cancelled } from './register';

/** Asks for a line of text. */
export async function ask(title: string, value = '', isOptional = false, example?: string): Promise<string> {
  const placeHolder = isOptional ? 'optional' : example === undefined ? undefined : `for example ${example}`;
  const answer = await vscode.window.showInputBox({
    title,
    value,
    ...(placeHolder === undefined ? {} : { placeHolder }),
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

/** An entry of a pick list. Labels may contain untrusted text if it is `plain`. */
export interface Choice<Value> {
  label: string;
  description?: string;
  detail?: string;
  /** Name of an icon of the editor. */
  icon?: string;
  value: Value;
}

/** Asks for one of several values that have a description. */
export async function pickItem<Value>(title: string, choices: readonly Choice<Value>[]): Promise<Value> {
  const items = choices.map(({ icon, ...each }) => (icon === undefined ? each : { ...each, iconPath: new vscode.ThemeIcon(icon) })); // an icon in the label would be read out
  const answer = await vscode.window.showQuickPick(items, { title, matchOnDescription: true, matchOnDetail: true });
  if (answer === undefined) throw new Cancelled();
  return answer.value;
}
