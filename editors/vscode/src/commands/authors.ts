// Who wrote: the session that was begun here, else a tool and a model, those named last being proposed.

import type * as vscode from 'vscode';
import type { Members } from '../protocol';
import { ask } from './questions';

interface Named {
  name: string;
  version: string;
}

export interface Author {
  tool: Named;
  model: Named;
}

const AUTHOR = 'vibes.author';
const SESSION = 'vibes.session';

export class Authors {
  constructor(private readonly memory: vscode.Memento) {}

  /** The session that was begun here and has not ended. */
  get session(): string | undefined {
    return this.memory.get<string>(SESSION);
  }

  async remember(session: string | undefined): Promise<void> {
    await this.memory.update(SESSION, session);
  }

  /** Returns the open session. Throws when there is none. */
  needed(): string {
    if (this.session === undefined) throw new Error('start a session first');
    return this.session;
  }

  /** Returns who wrote, as members of a recording command. */
  async origin(): Promise<Members> {
    return this.session === undefined ? { ...(await this.askFor()) } : { sessionId: this.session };
  }

  /** Asks for a tool and a model. */
  async askFor(): Promise<Author> {
    const last = this.memory.get<Author>(AUTHOR);
    const tool = await named('Tool', last?.tool);
    const model = await named('Model', last?.model);
    await this.memory.update(AUTHOR, { tool, model });
    return { tool, model };
  }
}

async function named(what: string, last: Named | undefined): Promise<Named> {
  const name = await ask(`${what} that wrote it`, last?.name);
  const version = await ask(`Version of ${name}`, last?.name === name ? last.version : 'unknown');
  return { name, version };
}
