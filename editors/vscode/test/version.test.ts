import { match, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { incompatibility, OLDEST, TOO_NEW } from '../src/server/version.ts';

test('patch releases and release candidates are compatible', () => {
  for (const version of [OLDEST, '0.1.0rc1', '0.1.12', '0.1']) strictEqual(incompatibility(version), undefined);
});

test('an older or unknown version needs an upgrade of the server', () => {
  for (const version of ['0.0.9', '0', 'nonsense', undefined])
    match(incompatibility(version) ?? '', /needs 0\.1\.0 or newer: upgrade it with pip/);
});

test('a newer version needs an update of the extension', () => {
  for (const version of [TOO_NEW, '0.10.0', '1.0'])
    match(incompatibility(version) ?? '', /newer than this extension supports: update the extension/);
});
