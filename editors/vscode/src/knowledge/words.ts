// Claims in words. Their texts are untrusted: each is one line of plain text.

import type { CitedClaim, PendingAt } from '../protocol';
import { plain } from '../text';

/** The types of a claim, the usual one first. */
export const CLAIM_TYPES = [
  ['fact', 'what the code does or is'],
  ['decision', 'what was chosen'],
  ['warning', 'what to take care of'],
  ['workflow', 'how something is done'],
  ['preference', 'what is wanted'],
  ['observation', 'what was seen'],
  ['question', 'what is not known'],
] as const;

export const CONFIDENCES = [
  ['High', 0.9],
  ['Medium', 0.7],
  ['Low', 0.4],
] as const;

/** Returns the confidence in words; empty if there is none. */
export function confidenceOf(confidence: unknown): string {
  return typeof confidence === 'number' ? `confidence ${Math.round(100 * confidence)}%` : '';
}

/** Returns what is said about a claim beside its text. */
export function claimDetails({ type, status, confidence, ageText, stateText }: CitedClaim): string {
  return [plain(type, 20), plain(status, 20), confidenceOf(confidence), plain(ageText, 40), plain(stateText, 60)]
    .filter(Boolean)
    .join(' · ');
}

export function pendingDetails({ kind, proposedBy }: Pick<PendingAt, 'kind' | 'proposedBy'>): string {
  return `proposed ${plain(kind, 20)} · by ${plain(proposedBy, 40)} · waits for a decision`;
}

/** Whether the lines of evidence were edited or are gone; lines that only moved still show the claim. */
export function isStale({ state }: Pick<CitedClaim, 'state'>): boolean {
  return state === 'edited' || state === 'lost';
}

/** Returns the icon of a claim: verified only where the captured source proves the lines. */
export function iconOf({ state }: Pick<CitedClaim, 'state'>): string {
  if (state === 'exact' || state === 'moved') return 'verified';
  return isStale({ state }) ? 'warning' : 'unverified';
}
