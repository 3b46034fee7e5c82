// The actions below a hover that shows claims. They are made from ids that this client checks; what the server sends stays untrusted.

import type * as vscode from 'vscode';
import { commandLink, isObjectId, trusted } from '../commandLinks';
import type { KnowledgeAt } from '../protocol';
import type { Server } from '../server/server';
import { wholeLines } from '../commands/selection';
import type { KnowledgeBases } from './knowledgeBases';
import { isStale } from './words';

const COMMANDS = [
  'vibes.ui.kbApprove',
  'vibes.ui.kbReject',
  'vibes.ui.kbConfirm',
  'vibes.ui.kbSupersede',
  'vibes.ui.kbArchive',
  'vibes.ui.kbReanchor',
  'vibes.ui.kbShow',
] as const;
type Command = (typeof COMMANDS)[number];

export class KnowledgeFooter {
  constructor(
    private readonly server: Server,
    private readonly bases: KnowledgeBases,
  ) {}

  /** Returns the actions of the claims and proposals on a 0-based line; nothing outside of every knowledge base. */
  async at(document: vscode.TextDocument, line: number): Promise<vscode.MarkdownString[]> {
    if (!this.bases.contains(document.uri)) return [];
    try {
      const range = wholeLines(line + 1, line + 1);
      const found = await this.server.run<KnowledgeAt>('vibes.kbAt', { uri: this.server.toProtocolUri(document.uri), range });
      const footer = knowledgeFooterOf(document.uri, found);
      return footer === '' ? [] : [trusted(footer, COMMANDS)];
    } catch (error) {
      this.server.log.debug(`vibes.kbAt: ${String(error)}`); // the hover is shown without actions
      return [];
    }
  }
}

/** Returns the actions of the one claim or proposal on a line; of several, the list of them. */
export function knowledgeFooterOf(document: vscode.Uri, { claims, pending }: KnowledgeAt): string {
  const uri = document.toString();
  const link = (label: string, title: string, command: Command, argument: object) =>
    commandLink(label, title, command, { uri, ...argument });
  const claimIds = [...new Set(claims.map(({ claimId }) => claimId))].filter(isObjectId);
  const proposalIds = [...new Set(pending.map(({ proposalId }) => proposalId))].filter(isObjectId);
  const [claimId] = claimIds;
  const [proposalId] = proposalIds;
  if (claimIds.length + proposalIds.length > 1) {
    const counts = [counted(claimIds.length, 'claim'), counted(proposalIds.length, 'proposal')].filter(Boolean).join(', ');
    return link(`Act on ${counts}`, 'Choose a claim and what to do', 'vibes.ui.kbShow', { claimIds, proposalIds });
  }
  if (proposalId !== undefined)
    return `Proposal: ${[
      link('Approve', 'Make it a claim', 'vibes.ui.kbApprove', { proposalId }),
      link('Reject', 'Reject it with a reason', 'vibes.ui.kbReject', { proposalId }),
    ].join(' · ')}`;
  if (claimId === undefined) return '';
  const evidenceId = claims.find(isStale)?.evidenceId;
  return `Claim: ${[
    link('Confirm', 'Record that it still holds', 'vibes.ui.kbConfirm', { claimId }),
    ...(isObjectId(evidenceId)
      ? [link('Re-anchor', 'Cite the lines as they are now', 'vibes.ui.kbReanchor', { claimId, evidenceId })]
      : []),
    link('Supersede', 'Choose the claim that replaces it', 'vibes.ui.kbSupersede', { claimId }),
    link('Archive', 'Take it out of contexts', 'vibes.ui.kbArchive', { claimId }),
  ].join(' · ')}`;
}

function counted(count: number, noun: string): string {
  return count === 0 ? '' : `${count} ${noun}${count === 1 ? '' : 's'}`;
}
