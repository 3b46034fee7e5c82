// The document and lines that an editor command applies to.

import * as vscode from 'vscode';
import type { Range } from 'vscode-languageclient/node';
import type { Server } from '../server/server';

export interface Selected {
  document: vscode.TextDocument;
  /** The document and range as LSP parameters. */
  location: { uri: string; version: number; range: Range };
  /** The lines in words, 1-based. */
  description: string;
}

/** Returns the selected lines of the active editor, else the cursor's line. Throws if no file is open. */
export function selected(server: Server): Selected {
  const editor = vscode.window.activeTextEditor;
  if (editor?.document.uri.scheme !== 'file') throw new Error('open a file first');
  const { document, selection } = editor;
  const last = selection.end.character === 0 && selection.end.line > selection.start.line ? selection.end.line - 1 : selection.end.line;
  const [from, to] = [selection.start.line + 1, last + 1];
  return {
    document,
    location: { uri: server.toProtocolUri(document.uri), version: document.version, range: wholeLines(from, to) },
    description: from === to ? `line ${from}` : `lines ${from} to ${to}`,
  };
}

/** Converts 1-based inclusive lines to an LSP range. */
export function wholeLines(from: number, to: number): Range {
  return { start: { line: from - 1, character: 0 }, end: { line: to, character: 0 } };
}
