// The server's own messages (docs/server.md), reduced to the members that this client reads.

import type { Range } from 'vscode-languageclient/node';

/** A command of this client that the server offers as a code action. It takes the argument of `vibes.review`. */
export const REJECT_WITH_NOTE = 'vibes.ui.rejectWithNote';
/** A command of this client that lenses have: it takes `{uri, annotationIds}`. */
export const SHOW_ANNOTATIONS = 'vibes.ui.showAnnotations';
/** Commands of this client that code actions and lenses of the knowledge base have, because they ask for a text or show a list. */
export const KNOWLEDGE_COMMANDS = [
  'vibes.ui.kbPropose',
  'vibes.ui.kbReject',
  'vibes.ui.kbSupersede',
  'vibes.ui.kbContradict',
  'vibes.ui.kbShow',
] as const;

export type Band = 'low' | 'medium' | 'high' | 'critical';

export interface Review {
  verdict: string | null;
  by: string | null;
  kind: string;
  at: string | null;
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
  commitHash?: string;
  commitSubject?: string;
  factors?: Members[];
  displayName: string;
  age: string | null;
  stateText: string;
  reasons: string[];
  timestamp: string | null;
  label: string;
  lineText: string;
  waits: boolean;
}

/** Origin of a line that an annotation owns: AI (verified), AI (claimed only), or edited since. */
export type Kind = 'ai' | 'claimed' | 'edited';

/** Lines that a placement owns, 1-based and inclusive, all of one kind. */
export interface Run {
  lineStart: number;
  lineEnd: number;
  kind: Kind;
}

/** A placement and the lines that it owns. */
export interface PlacementWithRuns extends Placement {
  runs: Run[];
}

export interface Provenance {
  uri: string;
  version: number | null;
  placements: PlacementWithRuns[];
  resultId: string;
}

/** A response with only the placements, and of those only the members, that differ from the previous response. */
export interface ProvenanceDelta extends Omit<Provenance, 'placements'> {
  since: string;
  placements: (Partial<PlacementWithRuns> & Pick<PlacementWithRuns, 'annotationId'>)[];
}

/** Result of `vibes.lookup`. */
export interface LookupResult {
  placements: Placement[];
}

/** A placement in the review queue, with its document. */
export interface QueueEntry extends Omit<Placement, 'stateText' | 'label' | 'lineText' | 'waits'> {
  uri: string;
}

/** A part of the review queue: what waits in some files, and how many annotations are reviewed there. */
export interface QueuePart {
  placements: QueueEntry[];
  reviewed: number;
}

/** The response after all parts. It has placements only if a row that was sent is no longer in the queue. */
export interface QueueEnd extends QueuePart {
  total: number;
  isWhole?: boolean;
}

/** Result of `vibes.showPrompt` and `vibes.showHistory`. */
export interface ShownText {
  text: string;
}

/** An entry of the result of `vibes.files`: a file that has annotations. */
export interface FileSummary {
  uri: string;
  lines: number;
  verifiedLines: number;
  claimedLines: number;
  editedLines: number;
  /** Verified AI lines, 0 to 1. */
  share: number;
  /** Annotations in the review queue. */
  waiting: number;
  /** Their highest band. */
  band: Band | null;
}

/** AI lines of one annotation in a change, 1-based and inclusive. */
export interface ChangedRange {
  annotationId: string;
  lineStart: number;
  lineEnd: number;
  unreviewed: boolean;
}

export interface ChangedFile {
  uri: string;
  filePath: string;
  changedLines: number;
  verifiedLines: number;
  claimedLines: number;
  editedLines: number;
  unreviewedLines: number;
  ranges: ChangedRange[];
  /** The versions in git as documents. */
  baseUri?: string;
  headUri?: string;
}

/** Result of `vibes.changes`. */
export interface Changes {
  files: ChangedFile[];
  total: Pick<ChangedFile, 'changedLines' | 'verifiedLines' | 'claimedLines' | 'editedLines'>;
}

/** `data` of an error response: the code of the error. */
export interface ErrorData {
  code?: string;
}

export type Members = Record<string, unknown>;

export interface ShowResult {
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

/** A claim of a knowledge base, with evidence for lines of a document. */
export interface CitedClaim {
  claimId: string;
  text: string;
  type: string;
  status: string;
  confidence: number;
  evidenceId: string;
  locator: string;
  quote?: string | null;
  /** Where the lines are now; null if they are gone. */
  range: Range | null;
  state: string;
  stateText: string;
  ageText: string;
}

/** A proposal with evidence for lines of a document. */
export interface PendingAt {
  proposalId: string;
  kind: string;
  text: string;
  proposedBy: string;
  range: Range | null;
}

/** Result of `vibes.kbAt`. */
export interface KnowledgeAt {
  /** The version of the document that the ranges are in. */
  version?: number | null;
  claims: CitedClaim[];
  pending: PendingAt[];
}

/** A proposal that waits for a decision. */
export interface Proposal {
  proposalId: string;
  kind: string;
  text: string;
  type?: string | null;
  confidence?: number | null;
  proposedBy: string;
  proposedAt: string | null;
  rationale?: string | null;
  /** The first lines that it cites, where they are now. */
  uri?: string | null;
  filePath?: string | null;
  lineStart?: number | null;
  lineEnd?: number | null;
}

/** Result of `vibes.kbPending`. */
export interface PendingProposals {
  pending: Proposal[];
}

/** A claim as the methods of the knowledge base have it, in its own words. */
export interface ClaimObject {
  id: string;
  text: string;
  type: string;
  status: string;
}
