// Approves or rejects a row of the review view, the annotation of a link, or the annotations at the cursor or in the selection.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { isAnnotationRef, type AnnotationRef } from '../commandLinks';
import { REJECT_WITH_NOTE, type Members, type Reviewed } from '../protocol';
import type { Server } from '../server/server';
import { isWaiting } from '../views/reviewTree';
import { Cancelled, showDone, register } from './register';
import { selected } from './selection';

type Verdict = 'approved' | 'rejected';

export function registerReviewCommands(server: Server, refresh: () => Promise<void>): vscode.Disposable {
  const reviewWith = (verdict: Verdict, isInView: boolean) => async (node: unknown) => {
    const location = isInView ? rowMembers(node) : isAnnotationRef(node) ? linkMembers(server, node) : selected(server).location;
    if (isAnnotationRef(node)) await vscode.commands.executeCommand('editor.action.hideHover'); // it says what is no longer true
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

/** Returns the annotation of a link in a hover. */
function linkMembers(server: Server, { uri, annotationId }: AnnotationRef): Members {
  return { uri: server.toProtocolUri(vscode.Uri.parse(uri)), annotationIds: [annotationId] };
}

/** Returns the annotation of a row of the review view. Throws rather than use the cursor: the list may have changed under the mouse. */
function rowMembers(node: unknown): Members {
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
  showDone(`${reviewed.length} ${reviewed.length === 1 ? 'annotation' : 'annotations'} ${String(members.verdict)}`);
}
