// Commands that record relations by hand: delegations, edges between records, and locations after a history rewrite.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import type { LookupResult, Members, Placement, ShowResult } from '../protocol';
import type { Server } from '../server/server';
import { plain } from '../text';
import { showDone, register } from './register';
import type { Authors } from './authors';
import { ask, pick, pickItem } from './questions';
import { selected, type Selected } from './selection';

/** Edge types that no other command records, each with its meaning and the question for its target. */
const RELATIONS = [
  ['depends_on', 'works only with it', 'What does it depend on?'],
  ['informed_by', 'was written with knowledge of it', 'What was it informed by?'],
  ['caused_by', 'was written because of it', 'What was it caused by?'],
  ['supersedes', 'replaces it', 'What does it supersede?'],
] as const;
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
    const choices = RELATIONS.map((value) => ({ label: value[0], description: value[1], value }));
    const [edgeType, , question] = await pickItem(`Relation of ${linesOf(source)}`, choices);
    const others = annotations.filter((each) => each !== source).map((each) => [titleOf(each), nodeOf(each)] as const);
    const session = authors.session === undefined ? [] : [['The session that is open', { ref: authors.session, type: 'session' }] as const];
    const elsewhere = ['Something else, by its id…', undefined] as const;
    const target = (await pick(question, [...session, ...others, elsewhere])) ?? (await askNode(selection));
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
    const noun = remapped.length === 1 ? 'annotation' : 'annotations';
    void vscode.window.showInformationMessage(`VIBES: ${remapped.length} ${noun} remapped, ${orphaned.length} no longer found.`);
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

function titleOf(placement: Placement): string {
  const { model, label, annotationId } = placement;
  return `${linesOf(placement)}: ${plain(model.name ?? 'unknown model', 40)} · ${label} (${annotationId.slice(0, 8)})`;
}

function linesOf({ lineStart, lineEnd }: Placement): string {
  if (lineStart === null) return 'lost lines';
  return lineEnd === null || lineEnd === lineStart ? `line ${lineStart}` : `lines ${lineStart}-${lineEnd}`;
}

function nodeOf({ annotationId }: Placement): Node {
  return { ref: annotationId, type: 'annotation' };
}
