// The knowledge bases (`.vouch/`) of the workspace. Without one no command, request or menu entry of this folder is there.

import * as vscode from 'vscode';
import type { Server } from '../server/server';
import { findProjects, KNOWLEDGE_BASE, watchForProjects } from '../trails';

export class KnowledgeBases implements vscode.Disposable {
  /** The projects that have one. */
  projects: readonly vscode.Uri[] = [];

  private readonly changes = new vscode.EventEmitter<void>();
  private readonly disposables: { dispose(): unknown }[];

  /** Fires when `projects` has changed. */
  readonly onDidChange = this.changes.event;

  constructor(server: Server) {
    const find = () => this.find();
    this.disposables = [
      this.changes,
      watchForProjects(KNOWLEDGE_BASE, find),
      server.onDidChangeKnowledge(find), // also when one has gone, or has appeared above the workspace
      server.onDidChangeState(find),
      vscode.workspace.onDidChangeWorkspaceFolders(find),
    ];
    void this.find();
  }

  /** Whether a file is in a project that has one. */
  contains(file: vscode.Uri): boolean {
    return file.scheme === 'file' && this.projects.some(({ path }) => file.path.startsWith(path.endsWith('/') ? path : `${path}/`));
  }

  dispose(): void {
    vscode.Disposable.from(...this.disposables).dispose();
  }

  private async find(): Promise<void> {
    const found = await findProjects(KNOWLEDGE_BASE);
    if (found.map(String).join('\n') === this.projects.map(String).join('\n')) return;
    this.projects = found;
    void vscode.commands.executeCommand('setContext', 'vibes.knowledge', found.length > 0);
    this.changes.fire();
  }
}
