// Records, entries and relations of a trail in words.

import type { Members, ShowResult } from '../protocol';
import { plain } from '../text';
import { ago, fullTime } from '../time';

/** What a record, entry or session is, in words. */
export interface Description {
  kind: string;
  text: string;
  icon: string;
  tooltip?: string | undefined;
  /** Whether the kind says why it is there: a prompt is what caused an edit. */
  standsAlone: boolean;
  /** The file that it is about, relative to the project, and the line. */
  file?: string;
  line?: number;
}

/** A relation, seen from its source and from its target. */
const RELATIONS: Record<string, [forwards: string, backwards: string]> = {
  caused_by: ['Caused by', 'Led to'],
  informed_by: ['Informed by', 'Informed'],
  depends_on: ['Builds on', 'Basis of'],
  supersedes: ['Replaces', 'Replaced by'],
  delegated_to: ['Delegated to', 'Delegated by'],
};
/** Members that another row says in words, or that are only for programs. */
const HIDDEN = /_hash$|_ref$|^(?:type|annotation_id|edge_type|source_type|target_type|anchor.*|schema_version)$/;
const NO_VALUES: readonly unknown[] = [null, '', 'unknown', 'none'];

export function relationOf(type: string, isForwards: boolean): string {
  return RELATIONS[type]?.[isForwards ? 0 : 1] ?? type.replaceAll('_', ' ');
}

export function describe({ kind, record, entry }: ShowResult): Description {
  if (entry) return describeEntry(entry);
  const members = record ?? {};
  if (kind === 'session' || members.type === 'session') return describeSession(members);
  return describeEdit(members);
}

function describeEntry(entry: Members): Description {
  const created = fullTime(entry.created_at);
  const base = { tooltip: created, standsAlone: true };
  switch (entry.type) {
    case 'prompt':
      return { ...base, kind: 'Prompt', text: words(entry.prompt_text), icon: 'comment' };
    case 'command':
      return describeCommand(entry, created);
    case 'decision':
      return { ...base, kind: 'Decision', text: decisionOf(entry), icon: 'git-compare' };
    case 'reasoning':
      return { ...base, kind: 'Reasoning', text: words(entry.reasoning_text) || 'kept in a file of its own', icon: 'lightbulb' };
    case 'environment':
      return { ...base, kind: 'Environment', text: listed(entry.tool_name, entry.model_name), icon: 'tools' };
    default:
      return { ...base, kind: words(entry.type) || 'Entry', text: ago(entry.created_at) ?? '', icon: 'note' };
  }
}

function describeCommand(entry: Members, tooltip: string | undefined): Description {
  const text = words(entry.command_text);
  const file = text.replace(/^(?:read|write) /, '');
  const base = { tooltip, standsAlone: true };
  if (entry.command_type === 'file_read') return { ...base, kind: 'Read', text: file, icon: 'book', file };
  if (entry.command_type === 'file_write') return { ...base, kind: 'Wrote', text: file, icon: 'edit', file };
  return { ...base, kind: 'Command', text, icon: 'terminal' };
}

function decisionOf(entry: Members): string {
  const options = Array.isArray(entry.options) ? (entry.options as Members[]) : [];
  const chosen = options.find((each) => each.id === entry.selected);
  return [words(entry.decision_point), words(chosen?.description ?? entry.selected)].filter(Boolean).join(': ');
}

function describeSession(members: Members): Description {
  const name = listed(members.description ?? members.agent_name ?? members.session_type, ago(members.timestamp));
  return {
    kind: 'Session',
    text: name || 'without a description',
    icon: 'robot',
    tooltip: fullTime(members.timestamp),
    standsAlone: false,
  };
}

function describeEdit(members: Members): Description {
  const { line_start: start, line_end: end, function_name: name, file_path: path } = members;
  const isLine = typeof start === 'number';
  const lines = isLine ? (start === end ? `line ${start}` : `lines ${start}-${words(end)}`) : '';
  const what = `${words(members.action) || 'edit'} ${words(name) || lines}`.trim();
  return {
    kind: 'Edit',
    text: listed(`${what}${typeof path === 'string' ? ` in ${words(path)}` : ''}`, ago(members.timestamp)),
    icon: 'edit',
    tooltip: fullTime(members.timestamp),
    standsAlone: false,
    ...(typeof path === 'string' ? { file: path } : {}),
    ...(isLine ? { line: start } : {}),
  };
}

/** Returns the members of a record or entry for people: no hashes, nothing unknown, times in words. */
export function leavesOf(members: Members): { name: string; value: string; tooltip?: string | undefined }[] {
  return Object.entries(members)
    .filter(([name, value]) => !HIDDEN.test(name) && !NO_VALUES.includes(value))
    .map(([name, value]) => {
      const label = words(name).replaceAll('_', ' ');
      const when = /timestamp$|_at$/.test(name) ? ago(value) : undefined;
      return {
        name: label.charAt(0).toUpperCase() + label.slice(1),
        value: when ?? plain(Array.isArray(value) && value.every((each) => typeof each === 'string') ? value.join(', ') : value, 300),
        ...(when === undefined ? {} : { tooltip: fullTime(value) }),
      };
    });
}

function words(value: unknown): string {
  return NO_VALUES.includes(value) || value === undefined ? '' : plain(value, 200);
}

function listed(...parts: unknown[]): string {
  return parts.map(words).filter(Boolean).join(', ');
}
