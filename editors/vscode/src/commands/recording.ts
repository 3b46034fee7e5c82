// Commands that record by hand: sessions, and what an AI did with the selection.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { Members, Recorded, Session } from '../protocol';
import type { Server } from '../server/server';
import { showDone, register } from './register';
import type { Authors } from './authors';
import { ask, choose } from './questions';
import { selected, type Selected } from './selection';

const MAX_OPTIONS = 9;
const ACTIONS = ['create', 'modify', 'delete', 'review'] as const;

export function registerRecordingCommands(server: Server, authors: Authors): vscode.Disposable {
  const record = async <Result>(command: string, members: Members): Promise<Result> =>
    await server.run<Result>(command, { requestId: randomUUID(), ...members });

  const annotate = async ({ location, description }: Selected, members: Members) => {
    const { annotationId } = await record<Recorded>('vibes.recordAnnotation', { ...location, ...members });
    showDone(annotationId === null ? `${description}: not a tracked file, nothing was recorded` : `${description} recorded`);
  };

  const startSession = async () => {
    const { uri } = selected(server).location;
    const author = await authors.askAuthor();
    const description = await ask('What is it about?', '', true);
    const { sessionId } = await record<Session>('vibes.startSession', { uri, ...author, ...optional('description', description) });
    await authors.setSession(sessionId);
    showDone('session started');
  };

  const endSession = async () => {
    await record('vibes.endSession', { uri: selected(server).location.uri, sessionId: authors.requireSession() });
    await authors.setSession(undefined);
    showDone('session ended');
  };

  const recordSelection = async () => {
    const selection = selected(server);
    const origin = await authors.origin();
    const action = await choose(`What was done with ${selection.description}?`, ACTIONS);
    if (action === 'delete' && selection.document.isDirty)
      throw new Error('save the file first: a deletion is recorded for the saved text');
    await annotate(selection, { action, ...origin, ...(await askPrompt()) });
  };

  const recordFunction = async () => {
    const selection = selected(server);
    const name = await ask('Name of the function', wordAtCursor());
    const origin = await authors.origin();
    const action = await choose(`What was done with ${name}?`, ['create', 'modify', 'review']);
    await annotate(selection, { action, function: { name }, ...origin, ...(await askPrompt()) });
  };

  const recordCommand = async () => {
    const sessionId = authors.requireSession();
    const text = await ask('Command that was run');
    const type = await choose('What kind of command?', ['shell', 'tool_use', 'api_call', 'file_write', 'file_delete', 'other']);
    await record('vibes.recordCommand', { uri: selected(server).location.uri, sessionId, command: { text, type } });
    showDone('command recorded');
  };

  const recordRead = async () => {
    const { document, location } = selected(server);
    await record('vibes.recordRead', { uri: location.uri, sessionId: authors.requireSession(), files: [document.uri.fsPath] });
    showDone('recorded that the session read this file');
  };

  const recordDecision = async () => {
    const selection = selected(server);
    const origin = await authors.origin();
    const action = await choose(`What was done with ${selection.description}?`, ['create', 'modify']);
    const decision = await askDecision();
    await annotate(selection, { action, ...origin, decision });
  };

  return vscode.Disposable.from(
    register('vibes.ui.startSession', server, startSession),
    register('vibes.ui.endSession', server, endSession),
    register('vibes.ui.recordSelection', server, recordSelection),
    register('vibes.ui.recordFunction', server, recordFunction),
    register('vibes.ui.recordCommand', server, recordCommand),
    register('vibes.ui.recordRead', server, recordRead),
    register('vibes.ui.recordDecision', server, recordDecision),
  );
}

async function askPrompt(): Promise<Members> {
  const text = await ask('What was the AI asked?', '', true);
  return text === '' ? {} : { prompt: { text, type: 'user_instruction' } };
}

async function askDecision(): Promise<Members> {
  const decisionPoint = await ask('What was decided?');
  const options = [await ask('First option'), await ask('Second option')];
  while (options.length < MAX_OPTIONS) {
    const another = await ask('Another option', '', true);
    if (another === '') break;
    options.push(another);
  }
  const chosen = await choose('Which one was chosen?', options);
  const rationale = await ask('Why?');
  const ids = options.map((description, index) => ({ id: `option-${index + 1}`, description }));
  return { decisionPoint, options: ids, selected: `option-${options.indexOf(chosen) + 1}`, rationale };
}

function wordAtCursor(): string {
  const editor = vscode.window.activeTextEditor;
  const word = editor?.document.getWordRangeAtPosition(editor.selection.active);
  return word === undefined ? '' : (editor?.document.getText(word) ?? '');
}

function optional(name: string, value: string): Members {
  return value === '' ? {} : { [name]: value };
}
