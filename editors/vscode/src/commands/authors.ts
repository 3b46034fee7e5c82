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
    if (this.session === undefined) throw new Error('no session: run “VIBES: Start a Session…” first');
    return this.session;
  }

  /** Returns the author as members of a recording command. */
  async origin(): Promise<Members> {
    return this.session === undefined ? { ...(await this.askAuthor()) } : { sessionId: this.session };
  }

  /** Asks for a tool and a model, and stores them as the next defaults. */
  async askAuthor(): Promise<Author> {
    const last = this.storage.get<Author>(AUTHOR);
    const tool = await askNameAndVersion('AI tool', last?.tool, 'Claude Code');
    const model = await askNameAndVersion('Model', last?.model, 'claude-opus-4-5');
    await this.storage.update(AUTHOR, { tool, model });
    return { tool, model };
  }
}

async function askNameAndVersion(what: string, last: NameAndVersion | undefined, example: string): Promise<NameAndVersion> {
  const name = await ask(what, last?.name, false, example);
  const version = await ask(`Version of ${name}`, last?.name === name ? last.version : 'unknown');
  return { name, version };
}
