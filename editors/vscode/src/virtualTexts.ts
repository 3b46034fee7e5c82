// Virtual documents of this extension: text for peeks, and Markdown that opens rendered.

import * as path from 'node:path';
import * as vscode from 'vscode';

const SCHEME = 'vibes-text';
const MAX_DOCUMENTS = 64;

export class VirtualTexts implements vscode.TextDocumentContentProvider, vscode.Disposable {
  private readonly texts = new Map<string, string>();
  private readonly registration = vscode.workspace.registerTextDocumentContentProvider(SCHEME, this);
  private count = 0;

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.texts.get(uri.query) ?? 'This document is no longer available. Ask for it again.\n';
  }

  /** Returns the URI of a new document. The name is shown; it has no `/`. */
  add(name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: SCHEME, path: `/${name}`, query: String(++this.count) });
    this.texts.set(uri.query, text);
    const [oldest] = this.texts.keys();
    if (this.texts.size > MAX_DOCUMENTS && oldest !== undefined) this.texts.delete(oldest);
    return uri;
  }

  /** Opens Markdown rendered, or as text where VS Code's Markdown support is switched off. */
  async openRendered(name: string, markdown: string): Promise<void> {
    const uri = this.add(`${name}.md`, markdown);
    if (vscode.extensions.getExtension('vscode.markdown-language-features') !== undefined)
      await vscode.commands.executeCommand('markdown.showPreview', uri);
    else await vscode.window.showTextDocument(uri, { preview: true });
  }

  dispose(): void {
    this.registration.dispose();
  }
}

/**
 * Returns a Markdown link to a line of a file. VS Code's preview opens links that begin with `/` in the first workspace folder, and follows
 * `..` from there; it opens no `file:` URIs.
 */
export function lineLink(file: vscode.Uri, line: number | null, label: string): string {
  const folder = vscode.workspace.workspaceFolders?.[0]?.uri;
  if (folder === undefined) return label;
  const target = path.posix.relative(folder.path, file.path).split('/').map(encodeURIComponent).join('/');
  const inert = target.replace(/[!'()*~]/g, (character) => `%${character.charCodeAt(0).toString(16)}`);
  return `[${label}](/${inert}${line === null ? '' : `#L${line}`})`;
}
