// Copies the server's log to the output channel.

import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import type { LogOutputChannel } from 'vscode';

/** Logs each line of `input` at the level that starts it. */
export function logLines(input: Readable, log: LogOutputChannel): void {
  createInterface({ input }).on('line', (line) => {
    const [level = '', rest = ''] = line.split(/ (.*)/s, 2);
    if (level === 'ERROR' || level === 'CRITICAL') log.error(rest);
    else if (level === 'WARNING') log.warn(rest);
    else if (level === 'INFO') log.info(rest);
    else if (level === 'DEBUG') log.debug(rest);
    else log.info(line);
  });
}
