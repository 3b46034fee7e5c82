import assert from 'node:assert/strict';
import { test } from 'node:test';
import { publicationOf, statusOf } from '../src/attestation';

test('the status bar names the tier, and what is wrong', () => {
  assert.deepEqual(statusOf({ tier: 'self-attested', holds: true }), { icon: 'verified', text: 'self-attested' });
  assert.deepEqual(statusOf({ tier: 'none', holds: true }), { icon: 'unverified', text: 'attestation not verified' });
  assert.deepEqual(statusOf({ tier: 'none', holds: false }), { icon: 'warning', text: 'attestation does not hold' });
});

test('the preview counts what becomes public and warns of secrets', () => {
  const texts = [{ type: 'prompt' }, { type: 'prompt' }, { type: 'reasoning' }];
  const some = { texts, paths: ['a.py', 'b.py'], people: [], possibleSecrets: [] };
  assert.equal(publicationOf(some), 'Readers of the trail see 2 prompt texts, 1 reasoning text, 2 file names.');
  const more = publicationOf({ ...some, people: ['Ada'], possibleSecrets: ['manifest.json:3'] });
  assert.match(more, /1 reviewer name\.\n1 text may contain a secret/);
});
