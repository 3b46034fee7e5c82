// Activates the extension. The server starts only if the workspace has an audit trail.

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
import { register } from './commands/register';
import { ShowCommands } from './commands/show';
import { withFooter } from './hoverFooter';
import { LineTexts } from './lineText';
import { Marks } from './marks/marks';
import { chooseBadge, showMenu } from './menu';
import { goToChange } from './navigation';
import { ProvenanceCache } from './provenance';
import { ReviewQueue } from './reviewQueue';
import { Server } from './server/server';
import { Installer, watchServer } from './server/status';
import { StatusBar } from './statusBar';
import { findTrails, nearestTrail, watchForTrails } from './trails';
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
  const review = new ReviewTree(server, queue);
  const provenance = new ProvenanceTree(server, cache);
  server.completeHover = (hover, document, position) => withFooter(hover, cache, document, position);
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
    review,
    provenance,
    capture,
    registerReviewCommands(server, () => queue.refresh()),
    registerRecordingCommands(server, authors),
    registerRelationCommands(server, authors),
    register('vibes.ui.showProvenance', server, (argument) => provenance.reveal(argument)),
    register('vibes.ui.groupReview', server, () => review.chooseGrouping()),
    register('vibes.ui.refreshReview', server, () => queue.refresh()),
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
    ...startOnLaterTrail(server),
    server,
  );
  void startWithTrail(server);
  return createApi(server, (uri) => capture.discard(uri), cache.onDidChange);
}

async function startWithTrail(server: Server): Promise<void> {
  const trails = await findTrails();
  if (trails.length > 0) await server.startIfStopped();
  else server.log.info('no audit trail found: the server starts when there is one');
}

/** Starts the server when a trail appears, and restarts it when its settings change. */
function startOnLaterTrail(server: Server): vscode.Disposable[] {
  const startForTrailAbove = async (document: vscode.TextDocument | undefined) => {
    if (server.state !== 'stopped' || document?.uri.scheme !== 'file') return;
    if (await nearestTrail(vscode.Uri.joinPath(document.uri, '..'))) await server.startIfStopped();
  };
  return [
    watchForTrails(() => server.startIfStopped()),
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
