// Approve and reject: the entry of the review view that was clicked, or what is under the cursor or the selection.

import { randomUUID } from 'node:crypto';
import * as vscode from 'vscode';
import { REJECT_WITH_NOTE, type Members, type Reviewed } from '../protocol';
import type { Server } from '../server/server';
import { isWaiting } from '../views/reviewTree';
import { Cancelled, done, register } from './attempt';
import { selected } from './selection';

type Verdict = 'approved' | 'rejected';

export function registerReviewCommands(server: Server, refresh: () => void): vscode.Disposable {
  const give = (verdict: Verdict) => async (node: unknown) => {
    await review(server, verdict, node);
    refresh();
  };
  return vscode.Disposable.from(
    register('vibes.ui.approve', server, give('approved')),
    register('vibes.ui.reject', server, give('rejected')),
    register(REJECT_WITH_NOTE, server, async (argument) => {
      await send(server, { ...(argument as Members), ...(await askNote('rejected')) });
      refresh();
    }),
  );
}

async function review(server: Server, verdict: Verdict, node: unknown): Promise<void> {
  const place = isWaiting(node) ? { uri: node.uri, annotationIds: [node.annotationId] } : selected(server).place;
  await send(server, { ...place, verdict, ...(await askNote(verdict)) });
}

async function askNote(verdict: Verdict): Promise<Members> {
  const note = await vscode.window.showInputBox({
    title: verdict === 'approved' ? 'Mark reviewed' : 'Reject',
    prompt: verdict === 'approved' ? 'A note, if there is something to say' : 'What is wrong with it',
    placeHolder: 'Note (optional)',
  });
  if (note === undefined) throw new Cancelled();
  return note.trim() === '' ? {} : { note: note.trim() };
}

async function send(server: Server, members: Members): Promise<void> {
  const reviewer = vscode.workspace.getConfiguration('vibes').get<string>('reviewer', '').trim();
  const named = reviewer === '' ? members : { ...members, reviewer };
  const { reviewed } = await server.run<Reviewed>('vibes.review', { requestId: randomUUID(), ...named });
  done(`${reviewed.length} ${reviewed.length === 1 ? 'annotation' : 'annotations'} ${String(members.verdict)}`);
}
