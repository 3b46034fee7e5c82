// Links of trusted Markdown that run our commands. Labels and titles are our own words, arguments only ids and URIs: never the text of a trail.

import * as vscode from 'vscode';

/** An annotation in a file: the argument of commands that links run. */
export interface AnnotationRef {
  uri: string;
  annotationId: string;
}

/** Records of other tools may have any text as their id. */
const PLAIN_ID = /^[\w-]{1,128}$/;

/** Whether an id has only letters, digits, `_` and `-`. No link is made for another one. */
export function isPlainId(id: unknown): id is string {
  return typeof id === 'string' && PLAIN_ID.test(id);
}

/** Ids of a knowledge base: letters and digits of any script, `-`, `_` and `.`. */
const OBJECT_ID = /^[\p{L}\p{N}][\p{L}\p{M}\p{N}._-]{0,199}$/u;

/** Whether an id can be one of a knowledge base. No link is made for another one. */
export function isObjectId(id: unknown): id is string {
  return typeof id === 'string' && OBJECT_ID.test(id);
}

export function isAnnotationRef(argument: unknown): argument is AnnotationRef {
  const { uri, annotationId } = (argument ?? {}) as Partial<AnnotationRef>;
  return typeof uri === 'string' && isPlainId(annotationId);
}

/** Returns a Markdown link that runs a command. `label` and `title` are words of this extension. */
export function commandLink(label: string, title: string, command: string, argument: object): string {
  return `[${label}](command:${command}?${encode([argument])} "${title}")`;
}

/** Returns Markdown whose links may run these commands, and no others. */
export function trusted(markdown: string, commands: readonly string[]): vscode.MarkdownString {
  const text = new vscode.MarkdownString(markdown, true);
  text.isTrusted = { enabledCommands: commands };
  return text;
}

/** `encodeURIComponent` leaves characters that would end a Markdown link. */
function encode(value: unknown): string {
  return encodeURIComponent(JSON.stringify(value)).replace(
    /[!'()*~]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
