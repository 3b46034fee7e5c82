// Registers user commands and shows their errors.

import * as vscode from 'vscode';
import type { Server } from '../server/server';
import { plain } from '../text';

/** Thrown when the user dismisses a question. No error is shown. */
export class Cancelled extends Error {}

/** Registers a command that needs the server. It starts the server if necessary, and shows an error if that fails. */
export function register(id: string, server: Server, run: (argument: unknown) => Promise<void>): vscode.Disposable {
  return vscode.commands.registerCommand(id, (argument: unknown) =>
    guarded(id, server, async () => {
      await server.start();
      if (!(await server.ready())) {
        if (server.program === undefined) return; // a message was shown already
        throw new Error(server.failure ?? 'the server is not running');
      }
      await run(argument);
    }),
  );
}

/** Runs a command and shows its error. */
export async function guarded(id: string, server: Server, run: () => Promise<void>): Promise<void> {
  try {
    await run();
  } catch (error) {
    if (error instanceof Cancelled) return;
    const reason = plain(error instanceof Error ? error.message : String(error), 400);
    server.log.warn(`${id}: ${reason}`);
    void vscode.window.showErrorMessage(`VIBES: ${reason}`);
  }
}

/** Shows a confirmation in the status bar for eight seconds. */
export function showDone(message: string): void {
  vscode.window.setStatusBarMessage(`VIBES: ${message}`, 8000);
}
