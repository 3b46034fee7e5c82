// Approves or rejects an entry of the review view, or the annotations at the cursor or in the selection.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { REJECT_WITH_NOTE, type Members, type Reviewed } from '../protocol';
import type { Server } from '../server/server';
import { isQueueEntry } from '../views/reviewTree';
import { Cancelled, showDone, register } from './register';
import { selected } from './selection';

type Verdict = 'approved' | 'rejected';

export function registerReviewCommands(server: Server, refresh: () => Promise<void>): vscode.Disposable {
  const reviewWith = (verdict: Verdict, isInView: boolean) => async (node: unknown) => {
    const location = isInView ? entryMembers(node) : selected(server).location;
    await send(server, { ...location, verdict, ...(await askNote(verdict)) });
    await refresh();
  };
  return vscode.Disposable.from(
    register('vibes.ui.approve', server, reviewWith('approved', false)),
    register('vibes.ui.reject', server, reviewWith('rejected', false)),
    register('vibes.ui.approveListed', server, reviewWith('approved', true)),
    register('vibes.ui.rejectListed', server, reviewWith('rejected', true)),
    register(REJECT_WITH_NOTE, server, async (argument) => {
      await send(server, { ...(argument as Members), ...(await askNote('rejected')) });
      await refresh();
    }),
  );
}

/** Returns the annotation of an entry of the review view. Throws rather than use the cursor: the list may have changed under the mouse. */
function entryMembers(node: unknown): Members {
  if (!isQueueEntry(node)) throw new Error('the list has just changed: try again');
  return { uri: node.uri, annotationIds: [node.annotationId] };
}

async function askNote(verdict: Verdict): Promise<Members> {
  const note = await vscode.window.showInputBox({
    title: verdict === 'approved' ? 'Mark reviewed' : 'Reject',
    prompt: verdict === 'approved' ? 'Note for the record' : 'Reason for the rejection',
    placeHolder: 'Note (optional)',
  });
  if (note === undefined) throw new Cancelled();
  return note.trim() === '' ? {} : { note: note.trim() };
}

async function send(server: Server, members: Members): Promise<void> {
  const { reviewed } = await server.run<Reviewed>('vibes.review', { requestId: randomUUID(), ...members });
  showDone(`${reviewed.length} ${reviewed.length === 1 ? 'annotation' : 'annotations'} ${String(members.verdict)}`);
}
