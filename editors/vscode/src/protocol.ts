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
  label: string;
  lineText: string;
  waits: boolean;
}

/** Whose a line is: an AI's and verified, claimed to be an AI's, edited since, or a person's. */
export type Kind = 'ai' | 'claimed' | 'edited' | 'human';

/** Lines that a placement owns, 1-based and inclusive, all of one kind. */
export interface Run {
  lineStart: number;
  lineEnd: number;
  kind: Kind;
}

/** A placement with the lines that it owns. */
export interface Painted extends Placement {
  runs: Run[];
}

export interface Provenance {
  uri: string;
  version: number | null;
  placements: Painted[];
  resultId: string;
}

/** An answer that leaves out what is as in the one before: placements without any change, and members of the others. */
export interface ProvenanceDelta extends Omit<Provenance, 'placements'> {
  since: string;
  placements: (Partial<Painted> & Pick<Painted, 'annotationId'>)[];
}

/** What `vibes.lookup` answers. */
export interface Lookup {
  placements: Placement[];
}

/** A placement of the review queue: the document that it is in, and what is common to all answers. */
export interface Waiting extends Omit<Placement, 'label' | 'lineText' | 'waits'> {
  uri: string;
}

export interface Queue {
  placements: Waiting[];
  total: number;
}

/** What an error of the server has as its data: which one it is. */
export interface Refusal {
  code?: string;
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
