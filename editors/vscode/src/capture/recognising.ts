// Which change of a document was a completion being accepted. It knows nothing of the editor; the key that accepts says when to ask.

import type { Range } from 'vscode-languageclient/node';

/** What an event of the editor says about one change of a document. */
export interface Change {
  uri: string;
  /** Version of the document before. */
  version: number;
  /** When it was seen, in milliseconds of a clock that never goes back. */
  at: number;
  isUndoOrRedo: boolean;
  edits: readonly { range: Range; text: string }[];
}

/** What was put in, and in place of what: as `vibes.recordInlineCompletion` has it. */
export interface Accepted {
  uri: string;
  version: number;
  range: Range;
  newText: string;
}

/** Milliseconds by which the change may come before the word that the key was pressed: both are on the same way, on a busy machine, too. */
export const SOON = 2000;
/** Characters that a person types at once: one, or a bracket with the one that closes it. */
export const TYPED = 2;

/**
 * Returns the completion that the key put in: the last change before the key's word, when it put in one piece of text.
 * Of several pieces nobody could say which are the completion's; what may have been typed is left out rather than claimed.
 */
export function recognise(last: Change | undefined, uri: string, now: number): Accepted | undefined {
  if (last?.uri !== uri || now - last.at > SOON || last.isUndoOrRedo) return undefined;
  const [edit, ...others] = last.edits;
  if (edit === undefined || others.length > 0 || edit.text.trim().length <= TYPED) return undefined;
  return { uri, version: last.version, range: edit.range, newText: edit.text };
}
