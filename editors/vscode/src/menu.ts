// The menu of the status bar item: what is shown, where to go, what waits.

import * as vscode from 'vscode';
import type { Visibility } from './visibility';

interface Entry extends vscode.QuickPickItem {
  command?: string;
  args?: unknown[];
}

/** Shows the menu and runs the chosen command. */
export async function showMenu(visibility: Visibility): Promise<void> {
  const { isHidden, blame, heat } = visibility;
  const entries: Entry[] = [
    group('Show'),
    { label: isHidden ? '$(eye) Show Marks' : '$(eye-closed) Hide Marks', command: 'vibes.ui.toggleMarks' },
    { label: blame ? '$(list-flat) Hide Blame Column' : '$(list-flat) Show Blame Column', command: 'vibes.ui.toggleBlame' },
    { label: `$(flame) Heat of the Blame Column by ${heat === 'age' ? 'Risk' : 'Age'}`, command: 'vibes.ui.cycleHeat' },
    { label: '$(list-selection) Text at Line Ends: Off, Line, All', command: 'vibes.ui.cycleLineText' },
    { label: '$(files) Badges in the Explorer…', command: 'vibes.ui.chooseBadge' },
    group('This file'),
    { label: '$(arrow-down) Next AI Change', command: 'vibes.ui.nextChange' },
    { label: '$(comment) Show Prompt', command: 'vibes.ui.showPrompt' },
    { label: '$(history) Show History', command: 'vibes.ui.showHistory' },
    { label: '$(type-hierarchy) Show Provenance', command: 'vibes.ui.showProvenance' },
    group('Project'),
    { label: '$(checklist) Review Queue', command: 'vibes.review.focus' },
    { label: '$(diff) AI Changes since HEAD', command: 'vibes.ui.showChanges' },
    { label: '$(gear) Settings', command: 'workbench.action.openSettings', args: ['@ext:vibes-lsp.vibes-lsp'] },
    { label: '$(output) Log', command: 'vibes.ui.showLog' },
  ];
  const chosen = await vscode.window.showQuickPick(entries, { title: 'VIBES' });
  if (chosen?.command !== undefined) await vscode.commands.executeCommand(chosen.command, ...(chosen.args ?? []));
}

/** Asks which badges the Explorer shows. */
export async function chooseBadge(): Promise<void> {
  const options = [
    { label: 'None', badge: 'off' },
    { label: 'Edits to review', badge: 'waiting' },
    { label: "AI's share of the lines", badge: 'share' },
  ];
  const chosen = await vscode.window.showQuickPick(options, { title: 'Badges in the Explorer' });
  if (chosen) await vscode.workspace.getConfiguration('vibes').update('explorer.badge', chosen.badge, vscode.ConfigurationTarget.Global);
}

function group(label: string): Entry {
  return { label, kind: vscode.QuickPickItemKind.Separator };
}
