// Puts the parts together. The server is started where the workspace has an audit trail, and nowhere else.

import * as vscode from 'vscode';
import type { VibesApi } from '../vibes-lsp';
import { createApi } from './api';
import { Capture } from './capture/capture';
import { Authors } from './commands/authors';
import { registerRecordingCommands } from './commands/recording';
import { registerRelatingCommands } from './commands/relating';
import { registerReviewCommands } from './commands/review';
import { register } from './commands/attempt';
import { LineTexts } from './lineText';
import { Marks } from './marks/marks';
import { KnownProvenance } from './provenance';
import { Server } from './server/server';
import { Installer, watchServer } from './server/status';
import { StatusBar } from './statusBar';
import { findTrails, nearestAbove, watchForTrails } from './trails';
import { ProvenanceTree } from './views/provenanceTree';
import { ReviewTree } from './views/reviewTree';
import { Visibility } from './visibility';

export function activate(context: vscode.ExtensionContext): VibesApi {
  const log = vscode.window.createOutputChannel('VIBES', { log: true });
  const server = new Server(vscode.Uri.joinPath(context.globalStorageUri, 'server'), log);
  const installer = new Installer(server);
  const known = new KnownProvenance(server);
  const visibility = new Visibility();
  const review = new ReviewTree(server);
  const provenance = new ProvenanceTree(server, known);
  const capture = new Capture(server);
  const authors = new Authors(context.workspaceState);
  context.subscriptions.push(
    log,
    watchServer(server, installer),
    known,
    visibility,
    new Marks(known, visibility),
    new LineTexts(known, visibility),
    new StatusBar(known, visibility),
    review,
    provenance,
    capture,
    registerReviewCommands(server, () => review.refresh()),
    registerRecordingCommands(server, authors),
    registerRelatingCommands(server, authors),
    register('vibes.ui.showProvenance', server, () => provenance.reveal()),
    register('vibes.ui.showChanges', server, async () => {
      const uri = vscode.window.activeTextEditor?.document.uri ?? vscode.workspace.workspaceFolders?.[0]?.uri;
      await server.run('vibes.changes', { ...(uri && { uri: server.toWire(uri) }), show: true });
    }),
    register('vibes.ui.groupReview', server, () => review.chooseGrouping()),
    register('vibes.ui.refreshReview', server, () => review.refresh()),
    vscode.commands.registerCommand('vibes.ui.toggleMarks', () => visibility.toggle()),
    vscode.commands.registerCommand('vibes.ui.cycleLineText', () => visibility.cycleLineText()),
    vscode.commands.registerCommand('vibes.ui.restart', () => server.restart()),
    vscode.commands.registerCommand('vibes.ui.showLog', () => log.show()),
    vscode.commands.registerCommand('vibes.ui.installServer', () => installer.install()),
    ...startWithTrails(server),
    server,
  );
  void startIfWanted(server);
  return createApi(server, (uri) => capture.told(uri));
}

async function startIfWanted(server: Server): Promise<void> {
  const trails = await findTrails();
  if (trails.length > 0) await server.startUnlessTried();
  else server.log.info('no audit trail here: no server is started until there is one');
}

/** Starts the server when a trail appears later, and again when the settings name another server. */
function startWithTrails(server: Server): vscode.Disposable[] {
  const lookAbove = async (document: vscode.TextDocument | undefined) => {
    if (server.life !== 'stopped' || document?.uri.scheme !== 'file') return;
    if (await nearestAbove(vscode.Uri.joinPath(document.uri, '..'))) await server.startUnlessTried();
  };
  return [
    watchForTrails(() => server.startUnlessTried()),
    // A trail above the folder, and one that came with a folder of its own, are seen by no watcher.
    vscode.window.onDidChangeActiveTextEditor((editor) => lookAbove(editor?.document)),
    vscode.workspace.onDidSaveTextDocument(lookAbove),
    vscode.window.onDidChangeWindowState(({ focused }) => lookAbove(focused ? vscode.window.activeTextEditor?.document : undefined)),
    vscode.workspace.onDidChangeWorkspaceFolders(() => startIfWanted(server)),
    vscode.workspace.onDidChangeConfiguration(async (event) => {
      if (event.affectsConfiguration('vibes.server')) await server.follow();
    }),
    vscode.workspace.onDidGrantWorkspaceTrust(async () => {
      if (server.life === 'missing' || server.life === 'failed') await server.restart();
    }),
  ];
}
