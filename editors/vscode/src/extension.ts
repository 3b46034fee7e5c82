// Activates the extension. The server starts only if the workspace has an audit trail or a knowledge base.

import * as vscode from 'vscode';
import type { VibesApi } from '../vibes-lsp';
import { createApi } from './api';
import { AttestationStatus } from './attestation';
import { Capture } from './capture/capture';
import { BlameColumn } from './blame/blameColumn';
import { Authors } from './commands/authors';
import { registerRecordingCommands } from './commands/recording';
import { registerRelationCommands } from './commands/relations';
import { registerReviewCommands } from './commands/review';
import { KnowledgeCommands } from './commands/knowledge';
import { register } from './commands/register';
import { ShowCommands } from './commands/show';
import { withFooter } from './hoverFooter';
import { KnowledgeFooter } from './knowledge/footer';
import { KnowledgeBases } from './knowledge/knowledgeBases';
import { Proposals } from './knowledge/proposals';
import { LineTexts } from './lineText';
import { Marks } from './marks/marks';
import { chooseBadge, showMenu } from './menu';
import { goToChange } from './navigation';
import { ProvenanceCache } from './provenance';
import { ReviewQueue } from './reviewQueue';
import { Server } from './server/server';
import { Installer, watchServer } from './server/status';
import { StatusBar } from './statusBar';
import { findProjects, findTrails, KNOWLEDGE_BASE, nearestProject, TRAIL, watchForProjects } from './trails';
import { CommitTree } from './views/commitTree';
import { FileBadges } from './views/fileBadges';
import { ProvenanceTree } from './views/provenanceTree';
import { ReviewTree } from './views/reviewTree';
import { VirtualTexts } from './virtualTexts';
import { Visibility } from './visibility';
import { openDemo, startTrail } from './welcome';

export function activate(context: vscode.ExtensionContext): VibesApi {
  const log = vscode.window.createOutputChannel('VIBES', { log: true });
  const server = new Server(vscode.Uri.joinPath(context.globalStorageUri, 'server'), log);
  const installer = new Installer(server, context.extensionUri);
  const cache = new ProvenanceCache(server);
  const visibility = new Visibility();
  const texts = new VirtualTexts();
  const show = new ShowCommands(server, cache, texts);
  const queue = new ReviewQueue(server);
  const bases = new KnowledgeBases(server);
  const proposals = new Proposals(server, bases);
  const knowledge = new KnowledgeFooter(server, bases);
  const review = new ReviewTree(server, queue, proposals);
  const provenance = new ProvenanceTree(server, cache);
  server.completeHover = (hover, document, position) => withFooter(hover, cache, knowledge, document, position);
  const capture = new Capture(server);
  const authors = new Authors(context.workspaceState);
  context.subscriptions.push(
    log,
    watchServer(server, installer),
    cache,
    visibility,
    new Marks(cache, visibility),
    new LineTexts(cache, visibility),
    new BlameColumn(cache, visibility),
    new StatusBar(cache, visibility),
    new AttestationStatus(server),
    new FileBadges(server),
    new CommitTree(server),
    texts,
    show,
    queue,
    bases,
    proposals,
    new KnowledgeCommands(server, proposals),
    review,
    provenance,
    capture,
    registerReviewCommands(server, () => queue.refresh()),
    registerRecordingCommands(server, authors),
    registerRelationCommands(server, authors),
    register('vibes.ui.showProvenance', server, (argument) => provenance.reveal(argument)),
    register('vibes.ui.groupReview', server, () => review.chooseGrouping()),
    register('vibes.ui.refreshReview', server, async () => {
      await Promise.all([queue.refresh(), proposals.refresh()]);
    }),
    vscode.commands.registerCommand('vibes.ui.toggleMarks', () => visibility.toggle()),
    vscode.commands.registerCommand('vibes.ui.cycleLineText', () => visibility.cycleLineText()),
    vscode.commands.registerCommand('vibes.ui.toggleBlame', () => visibility.toggleBlame()),
    vscode.commands.registerCommand('vibes.ui.cycleHeat', () => visibility.cycleHeat()),
    vscode.commands.registerCommand('vibes.ui.chooseBadge', () => chooseBadge()),
    vscode.commands.registerCommand('vibes.ui.menu', () => showMenu(visibility)),
    register('vibes.ui.nextChange', server, () => goToChange(cache, 1)),
    register('vibes.ui.previousChange', server, () => goToChange(cache, -1)),
    vscode.commands.registerCommand('vibes.ui.startTrail', () => startTrail(server, installer)),
    vscode.commands.registerCommand('vibes.ui.openDemo', () => openDemo(server, installer)),
    vscode.commands.registerCommand('vibes.ui.restart', () => server.restart()),
    vscode.commands.registerCommand('vibes.ui.showLog', () => log.show()),
    vscode.commands.registerCommand('vibes.ui.installServer', () => installer.install()),
    vscode.commands.registerCommand('vibes.ui.chooseProgram', () => installer.choose()),
    ...startOnLaterTrail(server, bases),
    server,
  );
  void startWithTrail(server);
  return createApi(server, (uri) => capture.discard(uri), cache.onDidChange);
}

async function startWithTrail(server: Server): Promise<void> {
  const found = await Promise.all([findTrails(), findProjects(KNOWLEDGE_BASE)]);
  const isNone = found.flat().length === 0;
  await vscode.commands.executeCommand('setContext', 'vibes.noTrail', isNone); // unknown until then
  if (!isNone) await server.startIfStopped();
  else server.log.info('no audit trail found and no knowledge base: the server starts when there is one');
}

/** Starts the server when a trail or a knowledge base appears, and restarts it when its settings change. */
function startOnLaterTrail(server: Server, bases: KnowledgeBases): vscode.Disposable[] {
  const startForTrailAbove = async (document: vscode.TextDocument | undefined) => {
    if (server.state !== 'stopped' || document?.uri.scheme !== 'file') return;
    if (await nearestProject(TRAIL, vscode.Uri.joinPath(document.uri, '..'))) await server.startIfStopped();
  };
  return [
    watchForProjects(TRAIL, () => server.startIfStopped()),
    bases.onDidChange(() => (bases.projects.length > 0 ? server.startIfStopped() : undefined)),
    // File watchers miss a trail above the workspace folder, and one that appears together with its parent folder.
    vscode.window.onDidChangeActiveTextEditor((editor) => startForTrailAbove(editor?.document)),
    vscode.workspace.onDidSaveTextDocument(startForTrailAbove),
    vscode.window.onDidChangeWindowState(({ focused }) =>
      startForTrailAbove(focused ? vscode.window.activeTextEditor?.document : undefined),
    ),
    vscode.workspace.onDidChangeWorkspaceFolders(() => startWithTrail(server)),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('vibes.server')) await server.restartIfChanged();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(async () => {
      if (server.state === 'missing' || server.state === 'failed') await server.restart();
    }),
  ];
}
