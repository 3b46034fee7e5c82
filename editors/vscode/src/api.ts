// What other extensions may ask of this one; vibes-lsp.d.ts describes it.

import * as vscode from 'vscode';
import type { Range as WireRange } from 'vscode-languageclient/node';
import type { Annotation, InlineCompletion, Provenance, Recorded, SessionStart, VibesApi } from '../vibes-lsp';
import type { Lookup, Members, Placement, Session } from './protocol';
import type { Server } from './server/server';

interface Answer {
  annotationId?: string | null;
  edges?: string[];
  pending?: boolean;
}

/** Returns the API; `told` is called with every document that an extension records in. */
export function createApi(server: Server, told: (uri: vscode.Uri) => void): VibesApi {
  const run = async <Result>(command: string, members: object): Promise<Result> => {
    await server.startUnlessTried();
    return await server.run<Result>(command, onWire(members, server));
  };
  const record = async (command: string, members: InlineCompletion | Annotation): Promise<Recorded> => {
    told(members.uri);
    const { annotationId = null, edges = [], pending = false } = await run<Answer>(command, members);
    return { annotationId, edges, pending };
  };
  return {
    version: 1,
    recordInlineCompletion: (completion: InlineCompletion) => record('vibes.recordInlineCompletion', completion),
    recordAnnotation: (annotation: Annotation) => record('vibes.recordAnnotation', annotation),
    startSession: (session: SessionStart) => run<Session>('vibes.startSession', session),
    provenanceAt: async (uri: vscode.Uri, position: vscode.Position) => {
      const range = new vscode.Range(position.line, 0, position.line, 0);
      const { placements } = await run<Lookup>('vibes.lookup', { uri, range });
      const owns = ({ ownedRanges }: Placement) =>
        ownedRanges.some(({ start, end }) => start.line <= position.line && position.line < end.line);
      return [...placements.filter(owns), ...placements.filter((each) => !owns(each))].map(ofPlacement);
    },
  };
}

/** Returns arguments as the server takes them: the editor's own objects turned into plain ones. */
function onWire(members: object, server: Server): Members {
  return Object.fromEntries(
    Object.entries(members).map(([name, value]: [string, unknown]) => {
      if (value instanceof vscode.Uri) return [name, server.toWire(value)];
      if (value instanceof vscode.Range) return [name, { start: place(value.start), end: place(value.end) } satisfies WireRange];
      return [name, value];
    }),
  );
}

function place({ line, character }: vscode.Position): WireRange['start'] {
  return { line, character };
}

function ofPlacement(placement: Placement): Provenance {
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
