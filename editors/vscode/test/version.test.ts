import { match, strictEqual } from 'node:assert';
import { test } from 'node:test';
import { misfit, OLDEST, TOO_NEW } from '../src/server/version.ts';

test('a server of this release, with or without a fix, fits', () => {
  for (const version of [OLDEST, '0.1.0rc1', '0.1.12', '0.1']) strictEqual(misfit(version), undefined);
});

test('an older one, or one that says nothing, is to be upgraded', () => {
  for (const version of ['0.0.9', '0', 'nonsense', undefined]) match(misfit(version) ?? '', /needs 0\.1\.0 or newer: upgrade it with pip/);
});

test('a newer one asks for a newer extension', () => {
  for (const version of [TOO_NEW, '0.10.0', '1.0']) match(misfit(version) ?? '', /newer than this extension knows: update the extension/);
});
