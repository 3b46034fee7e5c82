// Approve and reject: the entry of the review view that was clicked, or what is under the cursor or the selection.

import * as vscode from 'vscode';
import type { Reviewed } from '../protocol';
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
  );
}

async function review(server: Server, verdict: Verdict, node: unknown): Promise<void> {
  const place = isWaiting(node) ? { uri: node.uri, annotationIds: [node.annotationId] } : selected(server).place;
  const note = await vscode.window.showInputBox({
    title: verdict === 'approved' ? 'Mark reviewed' : 'Reject',
    prompt: verdict === 'approved' ? 'A note, if there is something to say' : 'What is wrong with it',
    placeHolder: 'Note (optional)',
  });
  if (note === undefined) throw new Cancelled();
  const { uri, ...rest } = place;
  const reviewer = vscode.workspace.getConfiguration('vibes').get<string>('reviewer', '').trim();
  const answer = await server.run<Reviewed>('vibes.review', {
    uri,
    ...rest,
    verdict,
    ...(note.trim() === '' ? {} : { note: note.trim() }),
    ...(reviewer === '' ? {} : { reviewer }),
  });
  done(`${verdict} ${answer.reviewed.length} ${answer.reviewed.length === 1 ? 'annotation' : 'annotations'}`);
}
