// Commands that record relations by hand: delegations, edges between records, and locations after a history rewrite.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { LookupResult, Members, Placement, ShowResult } from '../protocol';
import type { Server } from '../server/server';
import { plain } from '../text';
import { showDone, register } from './register';
import type { Authors } from './authors';
import { ask, choose, pick } from './questions';
import { selected, type Selected } from './selection';

/** Edge types that no other command records. */
const RELATIONS = ['depends_on', 'informed_by', 'caused_by', 'supersedes'] as const;
const NODE_TYPES: Record<string, string> = { record: 'annotation', entry: 'context', session: 'session' };

interface Node {
  ref: string;
  type: string;
}

export function registerRelationCommands(server: Server, authors: Authors): vscode.Disposable {
  const record = async <Result>(command: string, members: Members): Promise<Result> =>
    await server.run<Result>(command, { requestId: randomUUID(), ...members });

  const recordDelegation = async () => {
    const { uri } = selected(server).location;
    const parentSessionId = authors.requireSession();
    const taskDescription = await ask('What is the task?');
    const agentName = await ask('Name of the agent that does it', '', true);
    const author = await authors.askAuthor();
    const agent = agentName === '' ? {} : { agentName };
    const members = { uri, parentSessionId, taskDescription, ...agent, ...author };
    const { childSessionId } = await record<{ childSessionId: string }>('vibes.recordDelegation', members);
    showDone('delegation recorded');
    const copy = await vscode.window.showInformationMessage(`VIBES: the agent's session is ${childSessionId}.`, 'Copy Id');
    if (copy) await vscode.env.clipboard.writeText(childSessionId);
  };

  const recordEdge = async () => {
    const selection = selected(server);
    const annotations = await annotationsOf(selection);
    const overlapping = annotations.filter(({ range }) => range !== null && overlaps(range, selection));
    const source = await chooseAnnotation('Which annotation?', overlapping, `nothing is recorded for ${selection.description}`);
    const edgeType = await choose(`What about it? ${plain(titleOf(source), 80)}`, RELATIONS);
    const others = annotations.filter((each) => each !== source).map((each) => [titleOf(each), nodeOf(each)] as const);
    const session = authors.session === undefined ? [] : [['The session that is open', { ref: authors.session, type: 'session' }] as const];
    const elsewhere = ['Something else, by its id…', undefined] as const;
    const target = (await pick(`${edgeType} what?`, [...session, ...others, elsewhere])) ?? (await askNode(selection));
    const { ref, type } = nodeOf(source);
    const nodes = { sourceRef: ref, sourceType: type, targetRef: target.ref, targetType: target.type };
    await record('vibes.recordEdge', { uri: selection.location.uri, edgeType, ...nodes });
    showDone('relation recorded');
  };

  const annotationsOf = async ({ location }: Selected): Promise<Placement[]> =>
    (await server.run<LookupResult>('vibes.lookup', { uri: location.uri })).placements;

  const askNode = async ({ location }: Selected): Promise<Node> => {
    const id = await ask('Its id, or the beginning of it');
    const shown = await server.run<ShowResult>('vibes.show', { uri: location.uri, id });
    return { ref: shown.id, type: NODE_TYPES[shown.kind] ?? 'annotation' };
  };

  const remap = async () => {
    const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
    const about = vscode.window.activeTextEditor?.document.uri ?? folder;
    if (about === undefined) throw new Error('open a file or a folder first');
    const { remapped, orphaned } = await record<{ remapped: string[]; orphaned: string[] }>('vibes.remap', {
      uri: server.toProtocolUri(about),
    });
    void vscode.window.showInformationMessage(`VIBES: ${remapped.length} annotations remapped, ${orphaned.length} no longer found.`);
  };

  return vscode.Disposable.from(
    register('vibes.ui.recordDelegation', server, recordDelegation),
    register('vibes.ui.recordEdge', server, recordEdge),
    register('vibes.ui.remap', server, remap),
  );
}

async function chooseAnnotation(title: string, placements: readonly Placement[], none: string): Promise<Placement> {
  const [first, ...others] = placements;
  if (first === undefined) throw new Error(none);
  if (others.length === 0) return first;
  return await pick(
    title,
    placements.map((each) => [titleOf(each), each] as const),
  );
}

function overlaps(range: NonNullable<Placement['range']>, { location }: Selected): boolean {
  return range.start.line < location.range.end.line && location.range.start.line < range.end.line;
}

function titleOf({ lineStart, lineEnd, model, label, annotationId }: Placement): string {
  const where = lineStart === null ? 'lost' : `Lines ${lineStart}-${lineEnd ?? lineStart}`;
  return `${where}: ${plain(model.name ?? 'unknown model', 40)} · ${label} (${annotationId.slice(0, 8)})`;
}

function nodeOf({ annotationId }: Placement): Node {
  return { ref: annotationId, type: 'annotation' };
}
