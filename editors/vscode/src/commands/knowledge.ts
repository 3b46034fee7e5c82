// Commands of the knowledge base: propose a claim about lines, decide on proposals, and keep claims up to date. Each takes the argument of a
// code action, lens or link, a row of the review view, or what is at the cursor.

import * as vscode from 'vscode';
import { isObjectId } from '../commandLinks';
import { isProposed, type Proposals, type Proposed } from '../knowledge/proposals';
import { CLAIM_TYPES, CONFIDENCES, claimDetails, iconOf, isStale, pendingDetails } from '../knowledge/words';
import type { CitedClaim, ClaimObject, KnowledgeAt, PendingAt } from '../protocol';
import type { Server } from '../server/server';
import { plain } from '../text';
import { ask, pickItem } from './questions';
import { register, showDone } from './register';
import { selected } from './selection';

/** States of a claim that no other can replace or confirm. */
const CLOSED = ['superseded', 'archived', 'redacted'];

/** What an argument may name. */
interface Subject {
  uri?: string;
  range?: unknown;
  /** The version of the document that the range is in. */
  version?: unknown;
  claimId?: string;
  evidenceId?: string;
  proposalId?: string;
  claimIds?: unknown;
  proposalIds?: unknown;
}
type Claim = Pick<CitedClaim, 'claimId' | 'text'> & Partial<CitedClaim>;
interface Named<Value> {
  file: vscode.Uri;
  value: Value;
}

export class KnowledgeCommands implements vscode.Disposable {
  private readonly registered: vscode.Disposable;

  constructor(
    private readonly server: Server,
    private readonly proposals: Proposals,
  ) {
    const commands: Record<string, (subject: Subject) => Promise<void>> = {
      'vibes.ui.kbPropose': (subject) => this.propose(subject),
      'vibes.ui.kbApprove': async (subject) => this.approve(await this.proposalOf(subject, 'Approve')),
      'vibes.ui.kbReject': async (subject) => this.reject(await this.proposalOf(subject, 'Reject')),
      'vibes.ui.kbApproveListed': async (node) => this.approve(rowOf(node)),
      'vibes.ui.kbRejectListed': async (node) => this.reject(rowOf(node)),
      'vibes.ui.kbConfirm': async (subject) => this.confirm(await this.claimOf(subject, 'Confirm')),
      'vibes.ui.kbSupersede': async (subject) => this.supersede(await this.claimOf(subject, 'Supersede')),
      'vibes.ui.kbContradict': async (subject) => this.contradict(await this.claimOf(subject, 'Contradict')),
      'vibes.ui.kbArchive': async (subject) => this.archive(await this.claimOf(subject, 'Archive')),
      'vibes.ui.kbReanchor': (subject) => this.reanchor(subject),
      'vibes.ui.kbShow': (subject) => this.show(subject),
    };
    const all = Object.entries(commands).map(([id, run]) =>
      register(id, server, async (argument) => {
        await vscode.commands.executeCommand('editor.action.hideHover'); // it would say what is no longer true
        await run(argument ?? {});
        await proposals.refresh();
      }),
    );
    this.registered = vscode.Disposable.from(...all);
  }

  dispose(): void {
    this.registered.dispose();
  }

  private async propose({ uri, range, version }: Subject): Promise<void> {
    const here = uri === undefined || range === undefined ? selected(this.server) : undefined;
    const title = here === undefined ? 'Propose a claim about these lines' : `Propose a claim about ${here.description}`;
    const text = await ask(title);
    const type = await pickItem(
      'Type of the claim',
      CLAIM_TYPES.map(([label, description]) => ({ label, description, value: label })),
    );
    const confidence = await pickItem(
      'Confidence in the claim',
      CONFIDENCES.map(([label, value]) => ({ label, description: `${Math.round(100 * value)}%`, value })),
    );
    const place = here === undefined ? { uri, range, version } : here.location; // the lines may change while the person answers
    await this.server.run('vibes.kbPropose', { ...place, text, type, confidence });
    showDone('claim proposed; it waits for a decision');
  }

  private async approve({ file, value: { proposalId, text } }: Named<ProposalRef>): Promise<void> {
    await this.server.callKnowledge(file, 'kb.approve', { proposal_id: proposalId });
    showDone(`approved: ${plain(text, 60)}`);
  }

  private async reject({ file, value: { proposalId, text } }: Named<ProposalRef>): Promise<void> {
    const reason = await ask(`Reject “${plain(text, 60)}”: the reason`);
    await this.server.callKnowledge(file, 'kb.reject', { proposal_id: proposalId, reason });
    showDone(`rejected: ${plain(text, 60)}`);
  }

  private async confirm({ file, value: { claimId, text } }: Named<Claim>): Promise<void> {
    await this.server.callKnowledge(file, 'kb.confirm', { id: claimId });
    showDone(`confirmed: ${plain(text, 60)}`);
  }

  private async supersede(claim: Named<Claim>): Promise<void> {
    const newId = await this.chooseOther(claim, 'replaces');
    await this.server.callKnowledge(claim.file, 'kb.supersede', { old_id: claim.value.claimId, new_id: newId });
    showDone(`superseded: ${plain(claim.value.text, 60)}`);
  }

  private async contradict(claim: Named<Claim>): Promise<void> {
    const otherId = await this.chooseOther(claim, 'contradicts');
    await this.server.callKnowledge(claim.file, 'kb.contradict', { a_id: claim.value.claimId, b_id: otherId });
    showDone(`contested: ${plain(claim.value.text, 60)}`);
  }

  /** Returns the id of another open claim, which the user chooses. */
  private async chooseOther({ file, value: { claimId, text } }: Named<Claim>, verb: 'replaces' | 'contradicts'): Promise<string> {
    const claims = await this.server.callKnowledge<ClaimObject[]>(file, 'kb.list_claims', {});
    const others = claims.filter(({ id, status }) => id !== claimId && !CLOSED.includes(status));
    if (others.length === 0) throw new Error(`no other claim is approved: propose the one that ${verb} it first`);
    return await pickItem(
      `Which claim ${verb} “${plain(text, 60)}”?`,
      others.map((each) => ({ label: plain(each.text), description: plain(each.type, 20), value: each.id })),
    );
  }

  private async archive({ file, value: { claimId, text } }: Named<Claim>): Promise<void> {
    const reason = await ask(`Archive “${plain(text, 60)}”: the reason`, '', true);
    await this.server.callKnowledge(file, 'kb.archive', { id: claimId, ...(reason === '' ? {} : { reason }) });
    showDone(`archived: ${plain(text, 60)}`);
  }

  /** Makes new evidence of the selected lines, else of those where the evidence is now. */
  private async reanchor(subject: Subject): Promise<void> {
    const { file, lines } = placeOf(subject, this.server);
    const inFile = await this.knowledgeAt(file);
    const isNamed = ({ claimId, evidenceId }: CitedClaim) =>
      claimId === subject.claimId && (subject.evidenceId === undefined || evidenceId === subject.evidenceId);
    const stale = subject.claimId === undefined ? inFile.claims.filter(isStale) : inFile.claims.filter(isNamed);
    const atCursor = stale.filter(({ range }) => range !== null && lines !== undefined && overlap(range, lines));
    const claim = await chooseClaim(
      'Re-anchor the evidence of',
      atCursor.length > 0 ? atCursor : stale,
      'no evidence in this file is stale',
    );
    const editor = vscode.window.activeTextEditor;
    const isSelected = subject.claimId === undefined && editor !== undefined && !editor.selection.isEmpty;
    const { range, version } = isSelected ? selected(this.server).location : { range: claim.range, version: inFile.version };
    if (range === null) throw new Error('its lines are gone: select the lines that show it now, then run Re-anchor Evidence again');
    const { claimId, evidenceId } = claim;
    await this.server.run('vibes.kbReanchor', { uri: this.server.toProtocolUri(file), claimId, evidenceId, range, version });
    showDone(`evidence re-anchored: ${plain(claim.text, 60)}`);
  }

  /** Lists claims and proposals, then what can be done with the chosen one. */
  private async show(subject: Subject): Promise<void> {
    const { file, lines } = placeOf(subject, this.server);
    const found = await this.knowledgeAt(file);
    const { claimIds, proposalIds } = subject;
    const isListed = (ids: unknown, id: string, range: CitedClaim['range']) =>
      Array.isArray(ids) ? ids.includes(id) : range !== null && lines !== undefined && overlap(range, lines);
    const claims = distinct(found.claims).filter(({ claimId, range }) => isListed(claimIds, claimId, range));
    const pending = found.pending.filter(({ proposalId, range }) => isListed(proposalIds, proposalId, range));
    if (claims.length + pending.length === 0) throw new Error('no claim and no proposal is about these lines');
    const chosen = await pickItem<CitedClaim | PendingAt>('Claims about these lines', [
      ...claims.map((claim) => ({ label: plain(claim.text, 200), detail: claimDetails(claim), icon: iconOf(claim), value: claim })),
      ...pending.map((each) => ({ label: plain(each.text, 200), detail: pendingDetails(each), icon: 'question', value: each })),
    ]);
    if ('proposalId' in chosen) await this.decide({ file, value: chosen });
    else await this.change({ file, value: chosen });
  }

  private async decide(proposal: Named<PendingAt>): Promise<void> {
    const decide = await pickItem(plain(proposal.value.text, 80), [
      { label: 'Approve', icon: 'check', description: 'make it a claim', value: () => this.approve(proposal) },
      { label: 'Reject…', icon: 'x', description: 'with a reason', value: () => this.reject(proposal) },
      { label: 'Go to Its Lines', icon: 'go-to-file', value: () => goTo(proposal.file, proposal.value.range) },
    ]);
    await decide();
  }

  private async change(claim: Named<CitedClaim>): Promise<void> {
    const { file, value } = claim;
    const { claimId, evidenceId } = value;
    const reanchor = () => this.reanchor({ uri: file.toString(), claimId, evidenceId });
    const change = await pickItem(plain(value.text, 80), [
      { label: 'Confirm', icon: 'check', description: 'it still holds', value: () => this.confirm(claim) },
      ...(isStale(value)
        ? [{ label: 'Re-anchor Evidence', icon: 'pin', description: 'cite the lines as they are now', value: reanchor }]
        : []),
      { label: 'Supersede…', icon: 'replace', description: 'another claim replaces it', value: () => this.supersede(claim) },
      { label: 'Contradict…', icon: 'diff', description: 'another claim contradicts it', value: () => this.contradict(claim) },
      { label: 'Archive…', icon: 'archive', description: 'take it out of contexts', value: () => this.archive(claim) },
      { label: 'Go to Its Lines', icon: 'go-to-file', value: () => goTo(file, value.range) },
    ]);
    await change();
  }

  /** Returns the proposal that an argument names, else the one at the cursor, else one that the user chooses of all that wait. */
  private async proposalOf({ uri, proposalId }: Subject, verb: string): Promise<Named<ProposalRef>> {
    const all = await this.proposals.ask(uri === undefined ? undefined : vscode.Uri.parse(uri));
    const named = (each: Proposed) => ({ file: vscode.Uri.parse(each.project), value: each });
    if (proposalId !== undefined) {
      const found = all.find((each) => each.proposalId === proposalId);
      if (found === undefined) throw new Error('this proposal waits no longer: somebody has decided on it');
      return named(found);
    }
    const editor = vscode.window.activeTextEditor;
    const here = editor?.document.uri.scheme === 'file' ? await this.atCursor().catch(() => undefined) : undefined;
    const atCursor = all.filter((each) => here?.pending.some((pending) => pending.proposalId === each.proposalId));
    const choices = atCursor.length > 0 ? atCursor : all;
    const [first, ...others] = choices;
    if (first === undefined) throw new Error('no proposal waits for a decision');
    if (atCursor.length > 0 && others.length === 0) return named(first);
    const label = (each: Proposed) => ({ label: plain(each.text, 200), detail: pendingDetails(each), value: named(each) });
    return await pickItem(`${verb} which proposal?`, choices.map(label));
  }

  /** Returns the claim that an argument names, else the one at the cursor. */
  private async claimOf(subject: Subject, verb: string): Promise<Named<Claim>> {
    const { file } = placeOf(subject, this.server);
    if (subject.claimId === undefined) {
      const { claims } = await this.atCursor();
      return { file, value: await chooseClaim(`${verb} which claim?`, distinct(claims), 'no claim is about this line') };
    }
    if (!isObjectId(subject.claimId)) throw new Error('the claim has no valid id');
    const claim = await this.server.callKnowledge<ClaimObject | null>(file, 'kb.read_claim', { id: subject.claimId });
    if (claim === null) throw new Error(`there is no claim ${plain(subject.claimId, 60)}`);
    return { file, value: { claimId: claim.id, text: claim.text } };
  }

  private async atCursor(): Promise<KnowledgeAt> {
    const { uri, range } = selected(this.server).location;
    return await this.server.run<KnowledgeAt>('vibes.kbAt', { uri, range });
  }

  private async knowledgeAt(file: vscode.Uri): Promise<KnowledgeAt> {
    return await this.server.run<KnowledgeAt>('vibes.kbAt', { uri: this.server.toProtocolUri(file) });
  }
}

type ProposalRef = Pick<PendingAt, 'proposalId' | 'text'>;
type Lines = NonNullable<CitedClaim['range']>;

/** Returns the proposal of a row of the review view. Throws rather than use the cursor: the list may have changed under the mouse. */
function rowOf(node: unknown): Named<Proposed> {
  if (!isProposed(node)) throw new Error('the list has just changed: try again');
  return { file: vscode.Uri.parse(node.project), value: node };
}

/** Returns the file that a command is about, and the lines at the cursor if it is the active one. */
function placeOf({ uri }: Subject, server: Server): { file: vscode.Uri; lines: Lines | undefined } {
  const editor = vscode.window.activeTextEditor;
  const isActive = uri === undefined || vscode.Uri.parse(uri).toString() === editor?.document.uri.toString();
  if (!isActive) return { file: vscode.Uri.parse(uri), lines: undefined };
  const { document, location } = selected(server);
  return { file: document.uri, lines: location.range };
}

async function chooseClaim(title: string, claims: readonly CitedClaim[], none: string): Promise<CitedClaim> {
  const [first, ...others] = claims;
  if (first === undefined) throw new Error(none);
  if (others.length === 0) return first;
  return await pickItem(
    title,
    claims.map((claim) => ({ label: plain(claim.text, 200), detail: claimDetails(claim), value: claim })),
  );
}

/** Returns each claim once, with its stale evidence first. */
function distinct(claims: readonly CitedClaim[]): CitedClaim[] {
  const found = new Map<string, CitedClaim>();
  for (const each of [...claims].sort((one, other) => Number(isStale(other)) - Number(isStale(one))))
    if (!found.has(each.claimId)) found.set(each.claimId, each);
  return [...found.values()];
}

async function goTo(file: vscode.Uri, range: CitedClaim['range']): Promise<void> {
  if (range === null) throw new Error('the lines of this evidence were not found');
  const selection = new vscode.Range(range.start.line, 0, range.start.line, 0);
  await vscode.window.showTextDocument(file, { selection });
}

function overlap(one: Lines, other: Lines): boolean {
  return one.start.line < lastLine(other) && other.start.line < lastLine(one);
}

/** The line after the last one of a range. */
function lastLine({ start, end }: Lines): number {
  return end.character === 0 && end.line > start.line ? end.line : end.line + 1;
}
