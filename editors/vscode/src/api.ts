// The API for other extensions; vibes-lsp.d.ts documents it.

import * as vscode from 'vscode';
import type { Range as WireRange } from 'vscode-languageclient/node';
import type { Annotation, InlineCompletion, Provenance, Recorded, SessionEnd, SessionStart, VibesApi } from '../vibes-lsp';
import type { LookupResult, Members, Placement, Session } from './protocol';
import type { Server } from './server/server';

interface RecordResult {
  annotationId?: string | null;
  edges?: string[];
  pending?: boolean;
}

/**
 * Returns the API.
 *
 * @param onReport Is called with each document for which an extension records something.
 * @param onDidChange Fires when the provenance of a visible document has changed.
 */
export function createApi(
  server: Server,
  onReport: (uri: vscode.Uri) => void,
  onDidChange: vscode.Event<{ readonly uri: vscode.Uri }>,
): VibesApi {
  const run = async <Result>(command: string, members: object): Promise<Result> => {
    await server.startIfStopped();
    return await server.run<Result>(command, toProtocol(members, server));
  };
  const record = async (command: string, members: InlineCompletion | Annotation): Promise<Recorded> => {
    onReport(members.uri);
    const { annotationId = null, edges = [], pending = false } = await run<RecordResult>(command, members);
    return { annotationId, edges, pending };
  };
  return {
    version: 2,
    recordInlineCompletion: (completion: InlineCompletion) => record('vibes.recordInlineCompletion', completion),
    recordAnnotation: (annotation: Annotation) => record('vibes.recordAnnotation', annotation),
    startSession: (session: SessionStart) => run<Session>('vibes.startSession', session),
    endSession: async (session: SessionEnd) => {
      await run('vibes.endSession', session);
    },
    onDidChangeProvenance: (listener, thisArgs, disposables) =>
      onDidChange(({ uri }) => listener.call(thisArgs, uri) as unknown, undefined, disposables),
    provenanceAt: async (uri: vscode.Uri, position: vscode.Position) => {
      const range = new vscode.Range(position.line, 0, position.line, 0);
      const { placements } = await run<LookupResult>('vibes.lookup', { uri, range });
      const owns = ({ ownedRanges }: Placement) =>
        ownedRanges.some(({ start, end }) => start.line <= position.line && position.line < end.line);
      return [...placements.filter(owns), ...placements.filter((each) => !owns(each))].map(toProvenance);
    },
  };
}

/** Converts `vscode` objects in command arguments to their LSP form. */
function toProtocol(members: object, server: Server): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]: [string, unknown]) => {
      if (value instanceof vscode.Uri) return [name, server.toProtocolUri(value)];
      if (value instanceof vscode.Range) return [name, { start: toPosition(value.start), end: toPosition(value.end) } satisfies WireRange];
      return [name, value];
    }),
  );
}

function toPosition({ line, character }: vscode.Position): WireRange['start'] {
  return { line, character };
}

function toProvenance(placement: Placement): Provenance {
  const { annotationId, state, tool, model, prompt, band, review, range } = placement;
  return {
    annotationId,
    state: state as Provenance['state'],
    tool,
    model,
    ...(prompt === undefined ? {} : { prompt }),
    band,
    review,
    range: range && new vscode.Range(range.start.line, range.start.character, range.end.line, range.end.character),
  };
}
