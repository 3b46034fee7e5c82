// The rows of the review view for proposals to the knowledge base.

import * as path from 'node:path';
import * as vscode from 'vscode';
import { confidenceOf } from '../knowledge/words';
import type { Proposed } from '../knowledge/proposals';
import { plain } from '../text';
import { ago, fullTime } from '../time';

const MAX_TEXT = 300;
/** An icon of the editor for each kind of proposal. */
const ICONS: Record<string, string> = { claim: 'quote', page: 'book', entity: 'symbol-class', relation: 'references' };

/** The proposals of a project. */
export interface ProposalGroup {
  kind: 'proposals';
  key: string;
  rows: readonly Proposed[];
}

export function proposalGroupItem({ key, rows }: ProposalGroup, isAlone: boolean): vscode.TreeItem {
  const [first] = rows;
  const folder = isAlone || first === undefined ? '' : plain(path.posix.basename(vscode.Uri.parse(first.project).path), 60);
  const full = folder === '' ? 'Knowledge base' : `Knowledge base of ${folder}`;
  const item = new vscode.TreeItem('Knowledge base', vscode.TreeItemCollapsibleState.Expanded);
  item.id = key;
  item.description = [folder, String(rows.length)].filter(Boolean).join(' · ');
  item.tooltip = `${full}: what is proposed and waits for a decision`;
  item.accessibilityInformation = { label: `${full}, ${rows.length} to review` };
  item.iconPath = new vscode.ThemeIcon('law');
  return item;
}

export function proposalItem(row: Proposed): vscode.TreeItem {
  const name = plain(row.text, 80) || row.proposalId;
  const who = plain(row.proposedBy, 40);
  const age = ago(row.proposedAt) ?? '';
  const file = plain(row.filePath ?? '', 200);
  const line = row.lineStart === null || row.lineStart === undefined ? '' : `:${row.lineStart}`;
  const lines = row.lineStart === row.lineEnd ? `line ${row.lineStart ?? 1}` : `lines ${row.lineStart ?? 1}-${row.lineEnd ?? 1}`;
  const place = file === '' ? '' : line === '' ? file : `${lines} of ${file}`;
  const item = new vscode.TreeItem(name, vscode.TreeItemCollapsibleState.None);
  item.id = `${row.project}#${row.proposalId}`;
  item.description = [who, file === '' ? row.kind : `${path.posix.basename(file)}${line}`].join(' · ');
  item.iconPath = new vscode.ThemeIcon(ICONS[row.kind] ?? 'question');
  item.contextValue = 'proposal';
  const kind = [plain(row.kind, 20), row.type ? plain(row.type, 20) : '', confidenceOf(row.confidence)].filter(Boolean).join(', ');
  const details = [kind, place, `Proposed by ${who}, ${age}`, fullTime(row.proposedAt) ?? '', plain(row.rationale ?? '', MAX_TEXT)];
  item.tooltip = [plain(row.text, MAX_TEXT), ...details].filter(Boolean).join('\n');
  item.accessibilityInformation = { label: [name, kind, `proposed by ${who}`, place, age].filter(Boolean).join(', ') };
  if (row.uri)
    item.command = { command: 'vscode.open', title: 'Open', arguments: [vscode.Uri.parse(row.uri), { selection: selectionOf(row) }] };
  return item;
}

function selectionOf({ lineStart }: Proposed): vscode.Range {
  const line = Math.max(0, (lineStart ?? 1) - 1);
  return new vscode.Range(line, 0, line, 0);
}
