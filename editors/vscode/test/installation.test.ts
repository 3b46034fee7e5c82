import { deepStrictEqual, rejects } from 'node:assert';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { LogOutputChannel, Uri as RealUri } from 'vscode';
import { installServer } from '../src/server/installation.ts';
import { Uri } from './vscode.ts';

const PATH = process.env.PATH ?? '';
const LOG = { info: () => undefined } as unknown as LogOutputChannel;
let home: string;
let own: string;

beforeEach(async () => {
  home = await fs.mkdtemp(path.join(os.tmpdir(), 'vibes-'));
  own = path.join(home, 'storage/server');
  process.env.PATH = `${home}/base${path.delimiter}${PATH}`;
});
afterEach(async () => {
  process.env.PATH = PATH;
  await fs.rm(home, { recursive: true });
});

const install = () => installServer(Uri.file(own) as unknown as RealUri, '0.1.0', LOG);

/** Puts a fake `python3` on PATH whose environments install `release`, or fail without one. */
async function python(release?: string): Promise<void> {
  const pip = release === undefined ? 'exit 1' : `echo ${release} >"$(dirname "$0")/vibes-lsp"`;
  const make = `mkdir -p "$3/bin" && printf '%s\\n' '#!/bin/sh' '${pip}' >"$3/bin/python" && chmod +x "$3/bin/python"`;
  await put(path.join(home, 'base/python3'), `#!/bin/sh\nif [ "$1$2" = -mvenv ]; then ${make}; fi\n`);
}

async function put(file: string, text: string): Promise<void> {
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(file, text, { mode: 0o755 });
}

const installed = async () => (await fs.readFile(path.join(own, 'bin/vibes-lsp'), 'utf8')).trim();
const folders = async () => await fs.readdir(path.dirname(own));

test('an installation replaces the previous one', async () => {
  await python('one');
  await install();
  await put(path.join(own, 'of-the-one-before'), '');
  await python('two');
  await install();
  deepStrictEqual([await installed(), (await fs.readdir(own)).sort(), await folders()], ['two', ['bin'], ['server']]);
});

test('a failed installation keeps the previous one', async () => {
  await python('one');
  await install();
  await python();
  for (const attempt of [1, 2]) {
    await rejects(install, /ended with 1/);
    deepStrictEqual([attempt, await installed(), await folders()], [attempt, 'one', ['server']]);
  }
});

test('an interrupted installation does not replace the backup', async () => {
  await python('one');
  await install();
  await fs.rename(own, `${own}.before`);
  await put(path.join(own, 'bin/python'), '');
  await python();
  await rejects(install, /ended with 1/);
  deepStrictEqual([await installed(), await folders()], ['one', ['server']]);
});

test('a failed first installation leaves nothing', async () => {
  await fs.mkdir(path.dirname(own), { recursive: true });
  await python();
  await rejects(install, /ended with 1/);
  deepStrictEqual(await folders(), []);
});
