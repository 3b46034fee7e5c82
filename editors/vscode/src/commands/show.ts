// Commands that show what is recorded: prompt and history in a peek or rendered, changes and commits in a diff editor.

import * as vscode from 'vscode';
import { isAnnotationRef, isPlainId, type AnnotationRef } from '../commandLinks';
import { SHOW_ANNOTATIONS, type Changes, type PlacementWithRuns, type ShownText } from '../protocol';
import type { ProvenanceCache } from '../provenance';
import type { Server } from '../server/server';
import { codeSpan, plain, wrapped } from '../text';
import { ago } from '../time';
import { lineLink, type VirtualTexts } from '../virtualTexts';
import { guarded, register, showDone } from './register';

const MAX_PEEKED = 20;
/** Characters of a line in a peek, which does not wrap. */
const PEEK_WIDTH = 64;

interface Annotations {
  uri: string;
  annotationIds: string[];
}

export class ShowCommands implements vscode.Disposable {
  private readonly registered: vscode.Disposable;

  constructor(
    private readonly server: Server,
    private readonly cache: ProvenanceCache,
    private readonly texts: VirtualTexts,
  ) {
    this.registered = vscode.Disposable.from(
      register(SHOW_ANNOTATIONS, server, (argument) => this.peek(annotationsOf(argument))),
      register('vibes.ui.peek', server, (argument) => this.peekLine(argument)),
      register('vibes.ui.showPrompt', server, async (argument) => this.showText('vibes.showPrompt', 'Prompt', await this.refOf(argument))),
      register('vibes.ui.showHistory', server, async (argument) =>
        this.showText('vibes.showHistory', 'History', await this.refOf(argument)),
      ),
      register('vibes.ui.showCommit', server, async (argument) => this.showCommit(await this.refOf(argument))),
      register('vibes.ui.showChanges', server, () => this.showChanges()),
    );
    this.override('vibes.showPrompt', async (argument) => this.showText('vibes.showPrompt', 'Prompt', await this.refOf(argument)));
    this.override('vibes.showHistory', async (argument) => this.showText('vibes.showHistory', 'History', await this.refOf(argument)));
    this.override('vibes.changes', (argument) => this.showChanges((argument as { uri?: string } | undefined)?.uri));
  }

  dispose(): void {
    this.registered.dispose();
  }

  /** Opens the AI lines among all changes since a commit, by default HEAD, or those that a commit introduced (`REV^!`). */
  async showChanges(uri?: string, base?: string, title = 'AI changes since HEAD'): Promise<void> {
    const place = vscode.window.activeTextEditor?.document.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
    const project = uri ?? (place && this.server.toProtocolUri(place));
    const { files, total } = await this.server.run<Changes>('vibes.changes', {
      ...(project === undefined ? {} : { uri: project }),
      ...(base === undefined ? {} : { base }),
    });
    const lines = total.verifiedLines + total.claimedLines + total.editedLines;
    if (files.length === 0) {
      showDone(`${title}: no AI lines among ${total.changedLines} changed lines`);
      return;
    }
    const parse = (each: string) => vscode.Uri.parse(each);
    const resources = files.map(({ uri: file, baseUri, headUri }) => [parse(file), baseUri && parse(baseUri), parse(headUri ?? file)]);
    await vscode.commands.executeCommand('vscode.changes', `${title}: ${lines} of ${total.changedLines} changed lines`, resources);
  }

  /** Opens prompt or history of an annotation, rendered, with a link to its lines. */
  async showText(command: string, name: string, ref: AnnotationRef): Promise<void> {
    const { text } = await this.server.run<ShownText>(command, { ...this.toProtocol(ref), show: false });
    const file = vscode.Uri.parse(ref.uri);
    const { lineStart = null, lineEnd = null } = this.placementOf(ref) ?? {};
    const lines = lineStart === null ? '' : lineStart === lineEnd ? `:${lineStart}` : `:${lineStart}-${lineEnd ?? lineStart}`;
    const where = codeSpan(`${vscode.workspace.asRelativePath(file)}${lines}`, 200);
    await this.texts.openRendered(name, `${lineLink(file, lineStart, where)}\n\n${text}`);
  }

  /** Carries out a code action of the server here: it would open the text unrendered. */
  private override(command: string, run: (argument: unknown) => Promise<void>): void {
    this.server.commandOverrides.set(command, (argument) => guarded(command, this.server, () => run(argument)));
  }

  private async showCommit(ref: AnnotationRef): Promise<void> {
    const commit = this.placementOf(ref)?.commitHash;
    if (!isPlainId(commit)) throw new Error('the commit of these lines is not known: they may not be committed yet');
    await this.showChanges(this.toProtocol(ref).uri, `${commit}^!`, `AI lines of commit ${commit.slice(0, 8)}`);
  }

  private async peekLine(argument: unknown): Promise<void> {
    const editor = vscode.window.activeTextEditor;
    const { lineNumber } = (argument ?? {}) as { lineNumber?: unknown }; // the argument of a menu at a line number
    if (editor === undefined) throw new Error('no file is open');
    await this.cache.latest(editor.document);
    const line = typeof lineNumber === 'number' ? lineNumber - 1 : editor.selection.active.line;
    const ids = this.cache.placementsAt(editor.document, line).map(({ annotationId }) => annotationId);
    if (ids.length === 0) throw new Error(`no annotation on line ${line + 1}`);
    await this.peek({ uri: editor.document.uri.toString(), annotationIds: ids }, line);
  }

  /** Shows prompt and history of annotations below their line; the keyboard reaches all of it. */
  private async peek({ uri, annotationIds }: Annotations, line?: number): Promise<void> {
    const editor = await vscode.window.showTextDocument(vscode.Uri.parse(uri));
    const [first] = annotationIds;
    const ref = first === undefined ? undefined : this.placementOf({ uri, annotationId: first });
    const at = line ?? ref?.runs[0]?.lineStart ?? ref?.lineStart ?? undefined;
    const position = new vscode.Position(line ?? (at === undefined ? editor.selection.active.line : at - 1), 0);
    const ids = annotationIds.slice(0, MAX_PEEKED);
    const locations = await Promise.all(ids.map((annotationId, index) => this.peekedText({ uri, annotationId }, index, ids.length)));
    await vscode.commands.executeCommand('editor.action.peekLocations', editor.document.uri, position, locations, 'peek');
  }

  /** Returns the text of one annotation; its first line is what the peek lists. */
  private async peekedText(ref: AnnotationRef, index: number, count: number): Promise<vscode.Location> {
    const members = { ...this.toProtocol(ref), show: false, format: 'plaintext' };
    const { text } = await this.server.run<ShownText>('vibes.showHistory', members);
    const { model, tool, timestamp } = this.placementOf(ref) ?? {};
    const title = [model?.name, tool?.name, ago(timestamp)].filter((each) => each && each !== 'unknown').join(' · ');
    const name = count === 1 ? 'Prompt and history' : `Edit ${index + 1} of ${count}`;
    const uri = this.texts.add(name, wrapped(`${plain(title)}\n\n${text}`, PEEK_WIDTH));
    return new vscode.Location(uri, new vscode.Position(0, 0));
  }

  /** Returns the annotation that a command is about: its argument, else the one at the cursor. */
  private async refOf(argument: unknown): Promise<AnnotationRef> {
    if (isAnnotationRef(argument)) return argument;
    const editor = vscode.window.activeTextEditor;
    if (editor === undefined) throw new Error('no file is open');
    await this.cache.latest(editor.document);
    const placement = this.cache.placementAt(editor.document, editor.selection.active.line);
    if (placement === undefined) throw new Error('no annotation on this line');
    return { uri: editor.document.uri.toString(), annotationId: placement.annotationId };
  }

  private placementOf({ uri, annotationId }: AnnotationRef): PlacementWithRuns | undefined {
    const wanted = vscode.Uri.parse(uri).toString();
    const document = vscode.workspace.textDocuments.find((each) => each.uri.toString() === wanted);
    return document && this.cache.get(document)?.placements.find(({ ids }) => ids.includes(annotationId));
  }

  private toProtocol({ uri, annotationId }: AnnotationRef): AnnotationRef {
    return { uri: this.server.toProtocolUri(vscode.Uri.parse(uri)), annotationId };
  }
}

/** Checks the argument that a lens has. */
function annotationsOf(argument: unknown): Annotations {
  const { uri, annotationIds } = (argument ?? {}) as Partial<Annotations>;
  if (typeof uri !== 'string' || !Array.isArray(annotationIds) || !annotationIds.every((each) => typeof each === 'string'))
    throw new Error('the lens names no annotation: try again');
  return { uri, annotationIds };
}
