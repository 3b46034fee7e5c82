// Runs programs other than the server, and waits for them.

import { spawn } from 'node:child_process';
import * as vscode from 'vscode';
import { plain } from '../text';

/** A program that failed. The message is the last line that it printed. */
export class ProgramFailed extends Error {
  constructor(
    message: string,
    /** What it printed on its standard output. */
    readonly output: string,
  ) {
    super(message);
  }
}

export interface RunOptions {
  log?: vscode.LogOutputChannel;
  token?: vscode.CancellationToken;
  /** Milliseconds after which it is ended. */
  timeout?: number;
}

/** Runs a program outside the workspace and resolves to its standard output. Rejects with `ProgramFailed`. */
export function run(command: string, args: readonly string[], { log, token, timeout }: RunOptions = {}): Promise<string> {
  log?.info(`running ${[command, ...args].join(' ')}`);
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'], cwd: vscode.env.appRoot || undefined, timeout });
    const cancelled = token?.onCancellationRequested(() => child.kill());
    let output = '';
    let lastLine = '';
    const report = (chunk: string) => {
      for (const line of chunk.split(/\r?\n/)) {
        if (!line.trim()) continue;
        lastLine = line.trim();
        log?.info(line);
      }
    };
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      report(chunk);
    });
    child.stderr.setEncoding('utf8').on('data', report);
    child.on('error', (error) => {
      cancelled?.dispose();
      reject(new ProgramFailed(error.message, output));
    });
    child.on('close', (code) => {
      cancelled?.dispose();
      if (code === 0) resolve(output);
      else if (token?.isCancellationRequested) reject(new ProgramFailed('cancelled', output));
      else reject(new ProgramFailed(plain(lastLine.replace(/^ERROR: /, ''), 300) || `it ended with ${code ?? 'a signal'}`, output));
    });
  });
}
