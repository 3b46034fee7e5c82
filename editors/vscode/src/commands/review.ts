// Approve and reject: the entry of the review view that was clicked, or what is under the cursor or the selection.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { REJECT_WITH_NOTE, type Members, type Reviewed } from '../protocol';
import type { Server } from '../server/server';
import { isWaiting } from '../views/reviewTree';
import { Cancelled, done, register } from './attempt';
import { selected } from './selection';

type Verdict = 'approved' | 'rejected';

export function registerReviewCommands(server: Server, refresh: () => Promise<void>): vscode.Disposable {
  const give = (verdict: Verdict, isInView: boolean) => async (node: unknown) => {
    const place = isInView ? listed(node) : selected(server).place;
    await send(server, { ...place, verdict, ...(await askNote(verdict)) });
    await refresh();
  };
  return vscode.Disposable.from(
    register('vibes.ui.approve', server, give('approved', false)),
    register('vibes.ui.reject', server, give('rejected', false)),
    register('vibes.ui.approveListed', server, give('approved', true)),
    register('vibes.ui.rejectListed', server, give('rejected', true)),
    register(REJECT_WITH_NOTE, server, async (argument) => {
      await send(server, { ...(argument as Members), ...(await askNote('rejected')) });
      await refresh();
    }),
  );
}

/** Returns what an entry of the review view is about; never what the cursor is on, for the list may have changed under the mouse. */
function listed(node: unknown): Members {
  if (!isWaiting(node)) throw new Error('the list has just changed: try again');
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
  done(`${reviewed.length} ${reviewed.length === 1 ? 'annotation' : 'annotations'} ${String(members.verdict)}`);
}
