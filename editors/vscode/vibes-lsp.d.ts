// What the extension `vibes-lsp.vibes-lsp` offers to other extensions. Copy this file into yours.
//
//   const vibes = await vscode.extensions.getExtension<VibesApi>('vibes-lsp.vibes-lsp')?.activate();
//   await vibes?.recordInlineCompletion({ ... });
//
// Every method rejects with an `Error` whose message is for people when the server does not run, when no audit trail owns the
// file, or when an argument is wrong; nothing was recorded then. The same `requestId` again changes nothing.

import type { Event, Position, Range, Uri } from 'vscode';

export interface VibesApi {
  /** Grows when something is added; what is there stays. */
  readonly version: 2;

  /** Records an inline completion when it was accepted, whole or in part. */
  recordInlineCompletion(completion: InlineCompletion): Promise<Recorded>;

  /** Records what an AI did with lines or a function of a document, in the text as it is now. */
  recordAnnotation(annotation: Annotation): Promise<Recorded>;

  /** Starts a session; give its id with everything that belongs to it. */
  startSession(session: SessionStart): Promise<{ sessionId: string; environmentHash: string }>;

  /** Ends a session that `startSession` started. Since version 2. */
  endSession(session: SessionEnd): Promise<void>;

  /** Fires with a visible document's URI when `provenanceAt` may have another answer for it. Since version 2. */
  readonly onDidChangeProvenance: Event<Uri>;

  /** Returns what is known of a line, the annotation that owns it first; empty when nothing is. */
  provenanceAt(uri: Uri, position: Position): Promise<Provenance[]>;
}

export interface Tool {
  name: string;
  version: string;
  extensions?: string[];
}

export interface Model {
  name: string;
  version: string;
  parameters?: Record<string, unknown>;
}

export interface Prompt {
  text: string;
  type: 'user_instruction' | 'edit_command' | 'chat_message' | 'inline_completion' | 'review_request' | 'refactor_request' | 'other';
  contextFiles?: string[];
}

export interface InlineCompletion {
  uri: Uri;
  /** Version of the document before the completion was accepted. */
  version: number;
  /** What the completion replaced, in the document at `version`. */
  range: Range;
  /** What was inserted in its place. */
  newText: string;
  tool: Tool;
  model: Model;
  prompt?: Prompt;
  /** Your own id of the completion; parts of one completion have the same. */
  completionId: string;
  /** For a completion that is accepted in parts: which part this is, from 1, and whether it is the last. */
  partial?: { part: number; final: boolean };
  sessionId?: string;
  requestId?: string;
}

export interface Annotation {
  uri: Uri;
  /** Version of the document that `range` is about; refused when another one is open. */
  version?: number;
  /** Either this or `function`. An end at character 0 does not count its line. */
  range?: Range;
  function?: { name: string; signature?: string };
  action: 'create' | 'modify' | 'delete' | 'review';
  /** Tool and model, or a session. */
  tool?: Tool;
  model?: Model;
  sessionId?: string;
  prompt?: Prompt;
  reasoning?: { text: string; tokenCount?: number; model?: string };
  command?: { text: string; type: string; exitCode?: number; outputSummary?: string; workingDirectory?: string };
  /** Context hashes, annotation ids, session ids, or files of the project. */
  informedBy?: string[];
  requestId?: string;
}

export interface SessionStart {
  /** A file or folder of the project. */
  uri: Uri;
  tool: Tool;
  model: Model;
  description?: string;
  parentSessionId?: string;
  agentName?: string;
  agentType?: string;
  requestId?: string;
}

export interface SessionEnd {
  /** A file or folder of the project. */
  uri: Uri;
  sessionId: string;
  requestId?: string;
}

export interface Recorded {
  /** Null when nothing was recorded: the file is not tracked, more parts of a completion are to come, or nothing of it is left. */
  annotationId: string | null;
  /** Ids of the edges that were recorded with it. */
  edges: string[];
  pending: boolean;
}

export interface Provenance {
  annotationId: string;
  state: 'exact' | 'moved' | 'edited' | 'lost' | 'unverified';
  tool: { name: string | null; version: string | null };
  model: { name: string | null; version: string | null };
  prompt?: string;
  band: 'low' | 'medium' | 'high' | 'critical' | null;
  review: { verdict: string | null; by: string | null; stale: boolean } | null;
  /** Where it is now; null when it could not be found. */
  range: Range | null;
}
