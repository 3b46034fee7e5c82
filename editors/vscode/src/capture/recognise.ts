// Decides whether a document change was an accepted completion. Independent of the VS Code API.

import type { Range } from 'vscode-languageclient/node';

/** One change event of a document. */
export interface Change {
  uri: string;
  /** Version of the document before the change. */
  version: number;
  /** Time of the event, in milliseconds of a monotonic clock. */
  at: number;
  isUndoOrRedo: boolean;
  edits: readonly { range: Range; text: string }[];
}

/** An accepted completion, with the members of `vibes.recordInlineCompletion`. */
export interface Accepted {
  uri: string;
  version: number;
  range: Range;
  newText: string;
}

/** Maximum milliseconds between the change and the command of the key. Generous: a busy machine delays both. */
export const MAX_KEY_DELAY = 2000;
/** Maximum length of typed text: one character, or a bracket and its closing bracket. */
export const MAX_TYPED_LENGTH = 2;

/**
 * Returns the completion that the key inserted: the last change, if it has exactly one edit that is too long to be typed.
 * With several edits, the ones that belong to the completion cannot be told apart.
 */
export function recognise(last: Change | undefined, uri: string, now: number): Accepted | undefined {
  if (last?.uri !== uri || now - last.at > MAX_KEY_DELAY || last.isUndoOrRedo) return undefined;
  const [edit, ...others] = last.edits;
  if (edit === undefined || others.length > 0 || edit.text.trim().length <= MAX_TYPED_LENGTH) return undefined;
  return { uri, version: last.version, range: edit.range, newText: edit.text };
}
