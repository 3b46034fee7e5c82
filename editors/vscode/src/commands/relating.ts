// Recording by hand what relates things: a task that was delegated, an edge between an annotation and something else, a history rewritten.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { Lookup, Members, Placement, Shown } from '../protocol';
import type { Server } from '../server/server';
import { plain } from '../text';
import { done, register } from './attempt';
import type { Authors } from './authors';
import { ask, choose, pick } from './questions';
import { selected, type Selected } from './selection';

/** The relations that no command of its own records. */
const RELATIONS = ['depends_on', 'informed_by', 'caused_by', 'supersedes'] as const;
const NODES: Record<string, string> = { record: 'annotation', entry: 'context', session: 'session' };

interface End {
  ref: string;
  type: string;
}

export function registerRelatingCommands(server: Server, authors: Authors): vscode.Disposable {
  const record = async <Result>(command: string, members: Members): Promise<Result> =>
    await server.run<Result>(command, { requestId: randomUUID(), ...members });

  const recordDelegation = async () => {
    const { uri } = selected(server).place;
    const parentSessionId = authors.needed();
    const taskDescription = await ask('What is the task?');
    const agentName = await ask('Name of the agent that does it', '', true);
    const author = await authors.askFor();
    const agent = agentName === '' ? {} : { agentName };
    const members = { uri, parentSessionId, taskDescription, ...agent, ...author };
    const { childSessionId } = await record<{ childSessionId: string }>('vibes.recordDelegation', members);
    done('delegation recorded');
    const copy = await vscode.window.showInformationMessage(`VIBES: the agent's session is ${childSessionId}.`, 'Copy Id');
    if (copy) await vscode.env.clipboard.writeText(childSessionId);
  };

  const recordEdge = async () => {
    const what = selected(server);
    const all = await annotationsOf(what);
    const here = all.filter(({ range }) => range !== null && touches(range, what));
    const source = await one('Which annotation?', here, `nothing is recorded for ${what.words}`);
    const edgeType = await choose(`What about it? ${plain(lineOf(source), 80)}`, RELATIONS);
    const others = all.filter((each) => each !== source).map((each) => [lineOf(each), endOf(each)] as const);
    const session = authors.session === undefined ? [] : [['The session that is open', { ref: authors.session, type: 'session' }] as const];
    const elsewhere = ['Something else, by its id…', undefined] as const;
    const target = (await pick(`${edgeType} what?`, [...session, ...others, elsewhere])) ?? (await named(what));
    const { ref, type } = endOf(source);
    const ends = { sourceRef: ref, sourceType: type, targetRef: target.ref, targetType: target.type };
    await record('vibes.recordEdge', { uri: what.place.uri, edgeType, ...ends });
    done('relation recorded');
  };

  const annotationsOf = async ({ place }: Selected): Promise<Placement[]> =>
    (await server.run<Lookup>('vibes.lookup', { uri: place.uri })).placements;

  const named = async ({ place }: Selected): Promise<End> => {
    const id = await ask('Its id, or the beginning of it');
    const shown = await server.run<Shown>('vibes.show', { uri: place.uri, id });
    return { ref: shown.id, type: NODES[shown.kind] ?? 'annotation' };
  };

  const remap = async () => {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const about = vscode.window.activeTextEditor?.document.uri ?? folder;
    if (about === undefined) throw new Error('open a file or a folder first');
    const { remapped, orphaned } = await record<{ remapped: string[]; orphaned: string[] }>('vibes.remap', { uri: server.toWire(about) });
    void vscode.window.showInformationMessage(`VIBES: ${remapped.length} annotations remapped, ${orphaned.length} no longer found.`);
  };

  return vscode.Disposable.from(
    register('vibes.ui.recordDelegation', server, recordDelegation),
    register('vibes.ui.recordEdge', server, recordEdge),
    register('vibes.ui.remap', server, remap),
  );
}

async function one(title: string, placements: readonly Placement[], none: string): Promise<Placement> {
  const [first, ...others] = placements;
  if (first === undefined) throw new Error(none);
  if (others.length === 0) return first;
  return await pick(
    title,
    placements.map((each) => [lineOf(each), each] as const),
  );
}

function touches(range: NonNullable<Placement['range']>, { place }: Selected): boolean {
  return range.start.line < place.range.end.line && place.range.start.line < range.end.line;
}

function lineOf({ lineStart, lineEnd, label, annotationId }: Placement): string {
  const where = lineStart === null ? 'lost' : `Lines ${lineStart}-${lineEnd ?? lineStart}`;
  return `${where}: ${label} (${annotationId.slice(0, 8)})`;
}

function endOf({ annotationId }: Placement): End {
  return { ref: annotationId, type: 'annotation' };
}
