// The menu of the status bar item: what is shown, where to go, what waits.

import * as vscode from 'vscode';
import type { Visibility } from './visibility';

interface Entry extends vscode.QuickPickItem {
  icon?: string;
  command?: string;
  args?: unknown[];
}

/** Shows the menu and runs the chosen command. */
export async function showMenu(visibility: Visibility): Promise<void> {
  const { isHidden, blame, heat } = visibility;
  const entries: Entry[] = [
    group('Show'),
    { label: isHidden ? 'Show Marks' : 'Hide Marks', icon: isHidden ? 'eye' : 'eye-closed', command: 'vibes.ui.toggleMarks' },
    { label: blame ? 'Hide Blame Column' : 'Show Blame Column', icon: 'list-flat', command: 'vibes.ui.toggleBlame' },
    { label: `Heat of the Blame Column by ${heat === 'age' ? 'Risk' : 'Age'}`, icon: 'flame', command: 'vibes.ui.cycleHeat' },
    { label: 'Text at Line Ends: Off, Line, All', icon: 'list-selection', command: 'vibes.ui.cycleLineText' },
    { label: 'Badges in the Explorer…', icon: 'files', command: 'vibes.ui.chooseBadge' },
    group('This file'),
    { label: 'Next AI Change', icon: 'arrow-down', command: 'vibes.ui.nextChange' },
    { label: 'Show Prompt', icon: 'comment', command: 'vibes.ui.showPrompt' },
    { label: 'Show History', icon: 'history', command: 'vibes.ui.showHistory' },
    { label: 'Show Provenance', icon: 'type-hierarchy', command: 'vibes.ui.showProvenance' },
    group('Project'),
    { label: 'Review Queue', icon: 'checklist', command: 'vibes.review.focus' },
    { label: 'AI Changes since HEAD', icon: 'diff', command: 'vibes.ui.showChanges' },
    { label: 'Verify Attestation', icon: 'verified', command: 'vibes.ui.verify' },
    { label: 'Settings', icon: 'gear', command: 'workbench.action.openSettings', args: ['@ext:vibes-lsp.vibes-lsp'] },
    { label: 'Log', icon: 'output', command: 'vibes.ui.showLog' },
  ];
  const items = entries.map(({ icon, ...entry }) => (icon === undefined ? entry : { ...entry, iconPath: new vscode.ThemeIcon(icon) })); // an icon in the label would be read out
  const chosen = await vscode.window.showQuickPick<Entry>(items, { title: 'VIBES' });
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
