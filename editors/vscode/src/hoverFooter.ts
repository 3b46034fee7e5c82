// The actions below the server's hover. They are a part of their own, made from ids that this client holds, and trusted; what the server
// sends stays untrusted.

import * as vscode from 'vscode';
import { commandLink, isPlainId, trusted } from './commandLinks';
import type { PlacementWithRuns } from './protocol';
import type { ProvenanceCache } from './provenance';

const COMMANDS = [
  'vibes.ui.showPrompt',
  'vibes.ui.showHistory',
  'vibes.ui.approve',
  'vibes.ui.reject',
  'vibes.ui.showCommit',
  'vibes.ui.showProvenance',
] as const;
type Command = (typeof COMMANDS)[number];

/** Returns the server's hover with the actions of the annotation that owns the line. */
export function withFooter(
  hover: vscode.Hover | null | undefined,
  cache: ProvenanceCache,
  document: vscode.TextDocument,
  position: vscode.Position,
): vscode.Hover | null | undefined {
  const placement = hover ? cache.placementAt(document, position.line) : undefined;
  if (!hover || placement === undefined || !isPlainId(placement.annotationId)) return hover;
  return new vscode.Hover([...hover.contents, trusted(footerOf(document.uri, placement), COMMANDS)], hover.range);
}

export function footerOf(document: vscode.Uri, placement: PlacementWithRuns): string {
  const { annotationId, prompt, review, commitHash, waits } = placement;
  const argument = { uri: document.toString(), annotationId };
  const link = (label: string, title: string, command: Command) => commandLink(label, title, command, argument);
  const isHuman = review !== null && !review.stale && review.kind !== 'ai';
  return [
    ...(prompt === undefined ? [] : [link('Prompt', 'Show the whole prompt', 'vibes.ui.showPrompt')]),
    link('History', 'Show the records and reviews of these lines', 'vibes.ui.showHistory'),
    ...(waits || (isHuman && review.verdict === 'rejected') ? [link('Approve', 'Mark as reviewed', 'vibes.ui.approve')] : []),
    ...(waits || (isHuman && review.verdict === 'approved') ? [link('Reject', 'Reject these lines', 'vibes.ui.reject')] : []),
    ...(commitHash === undefined ? [] : [link('Commit', 'Compare the AI lines of the commit', 'vibes.ui.showCommit')]),
    link('Details', 'Show in the Provenance view', 'vibes.ui.showProvenance'),
  ].join(' · ');
}
