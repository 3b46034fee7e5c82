// The author of a record: the current session, else a tool and a model. The last answers are the defaults.

import type * as vscode from 'vscode';
import type { Members } from '../protocol';
import { ask } from './questions';

interface NameAndVersion {
  name: string;
  version: string;
}

export interface Author {
  tool: NameAndVersion;
  model: NameAndVersion;
}

const AUTHOR = 'vibes.author';
const SESSION = 'vibes.session';

export class Authors {
  constructor(private readonly storage: vscode.Memento) {}

  /** Id of the session that was started in this workspace and has not ended. */
  get session(): string | undefined {
    return this.storage.get<string>(SESSION);
  }

  async setSession(session: string | undefined): Promise<void> {
    await this.storage.update(SESSION, session);
  }

  /** Returns the current session. Throws if there is none. */
  requireSession(): string {
    if (this.session === undefined) throw new Error('start a session first');
    return this.session;
  }

  /** Returns the author as members of a recording command. */
  async origin(): Promise<Members> {
    return this.session === undefined ? { ...(await this.askAuthor()) } : { sessionId: this.session };
  }

  /** Asks for a tool and a model, and stores them as the next defaults. */
  async askAuthor(): Promise<Author> {
    const last = this.storage.get<Author>(AUTHOR);
    const tool = await askNameAndVersion('Tool', last?.tool);
    const model = await askNameAndVersion('Model', last?.model);
    await this.storage.update(AUTHOR, { tool, model });
    return { tool, model };
  }
}

async function askNameAndVersion(what: string, last: NameAndVersion | undefined): Promise<NameAndVersion> {
  const name = await ask(`${what} that wrote it`, last?.name);
  const version = await ask(`Version of ${name}`, last?.name === name ? last.version : 'unknown');
  return { name, version };
}
