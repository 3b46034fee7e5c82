// Commands that people start: what goes wrong is said to them, once.

import * as vscode from 'vscode';
import type { Server } from '../server/server';
import { plain } from '../text';

/** Thrown when the user turned away from a question: nothing more is to be said. */
export class Cancelled extends Error {}

/** Registers a command; it starts the server first when that does not run, and says why when it cannot. */
export function register(id: string, server: Server, carryOut: (argument: unknown) => Promise<void>): vscode.Disposable {
  return vscode.commands.registerCommand(id, async (argument: unknown) => {
    try {
      await server.start();
      if (!(await server.ready())) {
        if (server.program === undefined) return; // the search has shown a message already
        throw new Error(server.failure ?? 'the server is not running');
      }
      await carryOut(argument);
    } catch (error) {
      if (error instanceof Cancelled) return;
      const reason = plain(error instanceof Error ? error.message : String(error), 400);
      server.log.warn(`${id}: ${reason}`);
      void vscode.window.showErrorMessage(`VIBES: ${reason}`);
    }
  });
}

/** Says in passing that something was done. */
export function done(message: string): void {
  vscode.window.setStatusBarMessage(`VIBES: ${message}`, 8000);
}
