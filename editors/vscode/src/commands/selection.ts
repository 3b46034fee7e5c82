// What a command of an editor is about: the document and the selection, or the line of the cursor.

import * as vscode from 'vscode';
import type { Range } from 'vscode-languageclient/node';
import type { Server } from '../server/server';

export interface Selected {
  document: vscode.TextDocument;
  /** Where to say it: URI, version and range, in the server's words. */
  place: { uri: string; version: number; range: Range };
  /** In words for people, 1-based. */
  words: string;
}

/** Returns the selection of the active editor; whole lines, the cursor's when nothing is selected. Throws when no file is open. */
export function selected(server: Server): Selected {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== 'file') throw new Error('open a file first');
  const { document, selection } = editor;
  const last = selection.end.character === 0 && selection.end.line > selection.start.line ? selection.end.line - 1 : selection.end.line;
  const [from, to] = [selection.start.line + 1, last + 1];
  return {
    document,
    place: { uri: server.toWire(document.uri), version: document.version, range: wholeLines(from, to) },
    words: from === to ? `line ${from}` : `lines ${from} to ${to}`,
  };
}

/** Returns 1-based lines, both inclusive, as the server takes them. */
export function wholeLines(from: number, to: number): Range {
  return { start: { line: from - 1, character: 0 }, end: { line: to, character: 0 } };
}
