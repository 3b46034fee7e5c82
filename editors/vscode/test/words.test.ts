import { deepStrictEqual, match, ok, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { commandLink, isAnnotationRef, isObjectId, isPlainId, trusted } from '../src/commandLinks.ts';
import { footerOf } from '../src/hoverFooter.ts';
import { knowledgeFooterOf } from '../src/knowledge/footer.ts';
import { iconOf, isStale } from '../src/knowledge/words.ts';
import type { CitedClaim, PendingAt, PlacementWithRuns } from '../src/protocol.ts';
import { codeSpan, wrapped } from '../src/text.ts';
import { ago, fullTime } from '../src/time.ts';
import { describe, leavesOf } from '../src/views/records.ts';
import { lineLink } from '../src/virtualTexts.ts';
import { disk, Uri } from './vscode.ts';

const HOSTILE = ') [x](command:evil) "\'<b>`*_~!\\';
const uri = (path: string) => Uri.file(path) as unknown as Parameters<typeof footerOf>[0];

test('ages are in the largest unit that fits, as the server has them', () => {
  const now = Date.parse('2026-11-22T12:00:00Z');
  const ages: [string, string][] = [
    ['2026-11-22T11:59:30Z', 'just now'],
    ['2026-11-22T11:59:00Z', '1 minute ago'],
    ['2026-11-22T09:00:00Z', '3 hours ago'],
    ['2026-11-20T12:00:00Z', '2 days ago'],
    ['2026-02-03T09:40:18Z', '9 months ago'],
    ['2024-11-01T00:00:00Z', '2 years ago'],
    ['2027-01-01T00:00:00Z', 'on 2027-01-01'],
  ];
  for (const [timestamp, age] of ages) strictEqual(ago(timestamp, now), age);
  for (const value of [undefined, null, 7, '', 'soon']) deepStrictEqual([ago(value), fullTime(value)], [undefined, undefined]);
});

test('an argument cannot end a link, and comes out of it as it went in', () => {
  const link = commandLink('Prompt', 'Show', 'vibes.ui.showPrompt', { uri: `file:///${HOSTILE}` });
  match(link, /^\[Prompt\]\(command:vibes\.ui\.showPrompt\?[\w%.-]+ "Show"\)$/);
  const [query = ''] = /(?<=\?)[^ ]+/.exec(link) ?? [];
  deepStrictEqual(JSON.parse(decodeURIComponent(query)), [{ uri: `file:///${HOSTILE}` }]);
});

test('only plain ids make links, and only named commands run', () => {
  for (const id of ['ab12', 'a-b_c']) ok(isPlainId(id));
  for (const id of ['', 'a b', HOSTILE, '../x', 'a'.repeat(129), 7, null]) ok(!isPlainId(id));
  ok(!isAnnotationRef({ uri: 'file:///a.py', annotationId: HOSTILE }));
  deepStrictEqual(trusted('x', ['vibes.ui.peek']).isTrusted, { enabledCommands: ['vibes.ui.peek'] });
});

test('the footer of a hover has no text of the trail, and only actions that do something', () => {
  const placement = { annotationId: 'ab12', prompt: HOSTILE, model: { name: HOSTILE }, label: HOSTILE, review: null, waits: true };
  const footer = footerOf(uri(`/shop/${HOSTILE}/a.py`), placement as unknown as PlacementWithRuns);
  const labels = [...footer.matchAll(/\[([^\]]*)\]\(command:([\w.]+)\?[\w%.-]+ "[\w ]+"\)/g)].map(([, label]) => label);
  deepStrictEqual(labels, ['Prompt', 'History', 'Approve', 'Reject', 'Details']);
  strictEqual(footer.replace(/\[[^\]]*\]\(command:[\w.]+\?[\w%.-]+ "[\w ]+"\)/g, '').replaceAll(' · ', ''), '');
  const approved = { ...placement, prompt: undefined, waits: false, commitHash: 'c0', review: { verdict: 'approved', kind: 'human' } };
  const actions = footerOf(uri('/shop/a.py'), approved as unknown as PlacementWithRuns);
  deepStrictEqual(
    [...actions.matchAll(/\[([^\]]*)\]/g)].map(([, label]) => label),
    ['History', 'Reject', 'Commit', 'Details'],
  );
});

test('the actions below claims have no text of theirs, and no link for an id that is none', () => {
  const labels = (claims: Partial<CitedClaim>[], pending: Partial<PendingAt>[]) => {
    const footer = knowledgeFooterOf(uri(`/shop/${HOSTILE}/a.py`), { claims: claims as CitedClaim[], pending: pending as PendingAt[] });
    const link = /\[([^\]]*)\]\(command:vibes\.ui\.kb\w+\?[\w%.-]+ "[\w -]+"\)/g;
    ok(/^(?:(?:Claim|Proposal): )?(?: · )*$/.test(footer.replace(link, '')), footer);
    return [...footer.matchAll(link)].map(([, label]) => label);
  };
  const claim = { claimId: 'passwörter-1.2', evidenceId: 'ev-1', text: HOSTILE, state: 'exact' };
  const proposal = { proposalId: '20261123-004909-ec939cd3', text: HOSTILE, proposedBy: HOSTILE };
  deepStrictEqual(labels([claim], []), ['Confirm', 'Supersede', 'Archive']);
  deepStrictEqual(labels([{ ...claim, state: 'edited' }], []), ['Confirm', 'Re-anchor', 'Supersede', 'Archive']);
  deepStrictEqual(labels([], [proposal]), ['Approve', 'Reject']);
  deepStrictEqual(labels([claim, { ...claim, evidenceId: 'ev-2' }], [proposal]), ['Act on 1 claim, 1 proposal']);
  deepStrictEqual(labels([{ ...claim, claimId: HOSTILE }], [{ ...proposal, proposalId: '../x' }]), []);
  for (const id of ['', '.a', '-a', 'a b', 'a/b', HOSTILE, 'a'.repeat(201), 7, null]) ok(!isObjectId(id));
});

test('evidence is stale where its lines were edited or are gone, and verified only where they are proven', () => {
  const found = ['exact', 'moved', 'edited', 'lost', 'unverified', ''].map((state) => [isStale({ state }), iconOf({ state })]);
  deepStrictEqual(found, [
    [false, 'verified'],
    [false, 'verified'],
    [true, 'warning'],
    [true, 'warning'],
    [false, 'unverified'],
    [false, 'unverified'],
  ]);
});

test('a code span holds any text, and a link to a line stays one link', () => {
  strictEqual(codeSpan('a`b``c'), '```a`b``c```');
  strictEqual(codeSpan('`'), '`` ` ``');
  disk.folders = [Uri.file('/shop')];
  strictEqual(lineLink(uri('/shop/src/a b).py'), 3, '`x`'), '[`x`](/src/a%20b%29.py#L3)');
  strictEqual(lineLink(uri('/other/a.py'), null, 'x'), '[x](/../other/a.py)');
});

test('long lines are broken at spaces, and their indentation stays', () => {
  strictEqual(wrapped('    one two three\n\nfour', 12), '    one two\n    three\n\nfour');
  strictEqual(wrapped(`- ${'x'.repeat(30)} y`, 10), `- ${'x'.repeat(30)}\n  y`);
});

test('records are told in words', () => {
  const told = (members: object, kind = 'entry') => {
    const { kind: name, text } = describe({ kind, id: 'x', edges: { out: [], in: [] }, [kind]: members });
    return `${name}: ${text}`;
  };
  strictEqual(told({ type: 'prompt', prompt_text: 'Store passwords.' }), 'Prompt: Store passwords.');
  strictEqual(told({ type: 'command', command_type: 'file_read', command_text: 'read src/a.py' }), 'Read: src/a.py');
  const options = [{ id: 'a', description: 'Argon2' }];
  strictEqual(told({ type: 'decision', decision_point: 'How?', options, selected: 'a' }), 'Decision: How?: Argon2');
  strictEqual(told({ type: 'environment', tool_name: 'Codex', model_name: 'unknown' }), 'Environment: Codex');
  const edit = { type: 'line', action: 'create', line_start: 3, line_end: 4, file_path: 'a.py' };
  strictEqual(told(edit, 'record'), 'Edit: create lines 3-4 in a.py');
  for (const odd of [{}, { type: 7 }, { type: 'decision', options: 'no' }, { type: 'prompt', prompt_text: [null] }]) told(odd);
});

test('what is unknown or only a hash is hidden', () => {
  const members = { type: 'prompt', prompt_hash: 'ab', model_version: 'unknown', empty: null, prompt_type: 'chat_message' };
  deepStrictEqual(leavesOf(members), [{ name: 'Prompt type', value: 'chat_message' }]);
});
