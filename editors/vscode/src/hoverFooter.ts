// The actions below the server's hover. They are a part of their own, made from ids that this client holds, and trusted; what the server
// sends stays untrusted.

import * as vscode from 'vscode';
import { commandLink, isPlainId, trusted } from './commandLinks';
import type { PlacementWithRuns } from './protocol';
import type { ProvenanceCache } from './provenance';
import type { KnowledgeFooter } from './knowledge/footer';

const COMMANDS = [
  'vibes.ui.showPrompt',
  'vibes.ui.showHistory',
  'vibes.ui.approve',
  'vibes.ui.reject',
  'vibes.ui.showCommit',
  'vibes.ui.showProvenance',
] as const;
type Command = (typeof COMMANDS)[number];

/** Returns the server's hover with the actions of the annotation that owns the line, and of the claims about it. */
export async function withFooter(
  hover: vscode.Hover | null | undefined,
  cache: ProvenanceCache,
  knowledge: KnowledgeFooter,
  document: vscode.TextDocument,
  position: vscode.Position,
): Promise<vscode.Hover | null | undefined> {
  if (!hover) return hover;
  const placement = cache.placementAt(document, position.line);
  const ofAnnotation = placement !== undefined && isPlainId(placement.annotationId) ? [footerOf(document.uri, placement)] : [];
  const footers = [...ofAnnotation.map((footer) => trusted(footer, COMMANDS)), ...(await knowledge.at(document, position.line))];
  return footers.length === 0 ? hover : new vscode.Hover([...hover.contents, ...footers], hover.range);
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
