// The server's own messages and shapes, as docs/server.md describes them; only the members that this client reads.

import type { Range } from 'vscode-languageclient/node';

/** Offered by the server as a code action, since this client can ask for the note; its argument is that of `vibes.review`. */
export const REJECT_WITH_NOTE = 'vibes.ui.rejectWithNote';

export type Band = 'low' | 'medium' | 'high' | 'critical';

export interface Review {
  verdict: string | null;
  by: string | null;
  stale: boolean;
}

export interface Placement {
  annotationId: string;
  ids: string[];
  filePath: string;
  functionName?: string;
  range: Range | null;
  lineStart: number | null;
  lineEnd: number | null;
  ownedRanges: Range[];
  state: string;
  band: Band | null;
  score: number | null;
  storedScore: number | null;
  review: Review | null;
  tool: { name: string | null; version: string | null };
  model: { name: string | null; version: string | null };
  promptHash?: string;
  prompt?: string;
  sessionId?: string;
  action: string | null;
  captured?: true;
  label: string;
}

export interface LineKind {
  line: number;
  annotationId: string;
  kind: 'ai' | 'edited' | 'human';
}

export interface Provenance {
  uri: string;
  version: number | null;
  placements: Placement[];
  lines?: LineKind[];
  provisional?: boolean;
}

/** A placement of the review queue: as any other, and the document that it is in. */
export interface Waiting extends Placement {
  uri: string;
}

export interface Queue {
  placements: Waiting[];
  total: number;
}

export type Members = Record<string, unknown>;

export interface Shown {
  kind: string;
  id: string;
  record?: Members | null;
  entry?: Members | null;
  edges: { out: Members[]; in: Members[] };
}

export interface Recorded {
  annotationId: string | null;
  edges: string[];
  record: Members | null;
}

export interface Reviewed {
  reviewed: string[];
  edges: string[];
}

export interface Session {
  sessionId: string;
  environmentHash: string;
}

/** Returns whether a person still has to answer for a placement as it stands now. */
export function waits(placement: Placement): boolean {
  return placement.review === null || placement.review.stale;
}
