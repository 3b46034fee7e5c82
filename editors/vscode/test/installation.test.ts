import { deepStrictEqual, rejects } from 'node:assert';
import * as fs from 'node:fs/promises';
import * as os from 'node:os';
import * as path from 'node:path';
import { afterEach, beforeEach, test } from 'node:test';
import type { LogOutputChannel, Uri as RealUri } from 'vscode';
import { carriedWheels, installServer } from '../src/server/installation.ts';
import { disk, Uri, workspace } from './vscode.ts';

const PATH = process.env.PATH ?? '';
const LOG = { info: () => undefined } as unknown as LogOutputChannel;
let home: string;
let own: string;

beforeEach(async () => {
  home = await fs.mkdtemp(path.join(os.tmpdir(), 'vibes-'));
  own = path.join(home, 'storage/server');
  process.env.PATH = `${home}/base${path.delimiter}${PATH}`;
  for (const wheel of ['pip-26.3-py3-none-any.whl', 'vibes_lsp-0.1.0-py3-none-any.whl', 'securesystemslib-1-py3-none-any.whl']) {
    await put(path.join(home, 'extension/dist/wheels', wheel), '');
  }
});
afterEach(async () => {
  process.env.PATH = PATH;
  workspace.isTrusted = true;
  disk.folders = [];
  await fs.rm(home, { recursive: true });
});

const carried = () => carriedWheels(Uri.file(path.join(home, 'extension')) as unknown as RealUri);

async function install(): Promise<void> {
  const wheels = await carried();
  if (wheels === undefined) throw new Error('there are no wheels');
  await installServer(Uri.file(own) as unknown as RealUri, wheels, LOG);
}

/**
 * Puts a fake `python3` on PATH, whose environments install `release`, or fail without one. Only a call that names no index and no folder
 * but the extension's is answered.
 */
async function python(release?: string, version = '3.12', modules = 'exit 0'): Promise<void> {
  const server = `#!/bin/sh\\necho "vibes-lsp ${release}"\\n`;
  const succeed = `mkdir -p "$(dirname "$0")" && printf '${server}' >"$(dirname "$0")/vibes-lsp" && chmod +x "$(dirname "$0")/vibes-lsp"`;
  const fail = `echo 'ERROR: No matching distribution found for click' >&2; exit 1`;
  const offline = `*" --isolated --no-index --find-links ${home}/extension/dist/wheels "*"vibes_lsp-0.1.0-py3-none-any.whl[attest]"`;
  await put(path.join(home, 'pip'), `#!/bin/sh\ncase "$*" in ${offline}) ${release === undefined ? fail : succeed} ;; *) exit 9 ;; esac\n`);
  const make = `mkdir -p "$5/bin" && cp ${home}/pip "$5/bin/python"`;
  const probe = `echo ${version}; ${modules}`;
  await put(
    path.join(home, 'base/python3'),
    `#!/bin/sh\ncase "$*" in "-I -m venv --without-pip "*) ${make} ;; "-I -c "*) ${probe} ;; *) exit 9 ;; esac\n`,
  );
}

async function put(file: string, text: string): Promise<void> {
  await fs.mkdir(path.dirname(file), { recursive: true });
  await fs.writeFile(file, text, { mode: 0o755 });
}

const installed = async () => /vibes-lsp (\w+)/.exec(await fs.readFile(path.join(own, 'bin/vibes-lsp'), 'utf8'))?.[1];
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
    await rejects(install, /^Error: No matching distribution found for click$/);
    deepStrictEqual([attempt, await installed(), await folders()], [attempt, 'one', ['server']]);
  }
});

test('an interrupted installation does not replace the backup', async () => {
  await python('one');
  await install();
  await fs.rename(own, `${own}.before`);
  await put(path.join(own, 'bin/python'), '');
  await python();
  await rejects(install, /^Error: No matching distribution found for click$/);
  deepStrictEqual([await installed(), await folders()], ['one', ['server']]);
});

test('a failed first installation leaves nothing', async () => {
  await fs.mkdir(path.dirname(own), { recursive: true });
  await python();
  await rejects(install, /^Error: No matching distribution found for click$/);
  deepStrictEqual(await folders(), []);
});

test('the cause is named: no Python, too old, none of the carried versions, no venv, does not run', async () => {
  process.env.PATH = `${home}/base`;
  await rejects(install, /^Error: Python 3\.11 or newer was not found on the path$/);
  await python('one', '3.9');
  await rejects(install, /^Error: Python 3\.11 or newer is needed, and .*base\/python3 is 3\.9$/);
  await python('one', '2.7');
  await rejects(install, /and .*base\/python3 is 2\.7$/);
  await python('one', '3.12', `echo "ModuleNotFoundError: No module named 'venv'" >&2; exit 1`);
  await rejects(install, /python3 has no module venv \(ModuleNotFoundError: .*\); on Debian and Ubuntu, the package python3-venv has it$/);
  await python('one', '', 'echo no such library >&2; exit 127');
  await rejects(install, /python3 does not run: no such library$/);
  await python('one', '3.16');
  await put(path.join(home, 'extension/dist/wheels/msgspec-1-cp311-cp311-any.whl'), '');
  await put(path.join(home, 'extension/dist/wheels/msgspec-1-cp314-cp314-any.whl'), '');
  await rejects(install, /^Error: this extension carries the server for Python 3\.11 to 3\.14, and .*python3 is 3\.16$/);
});

test('another Python on the path is taken when the first cannot be used', async () => {
  process.env.PATH = `${home}/base${path.delimiter}/usr/bin${path.delimiter}/bin`;
  await python('one', '3.13');
  await fs.rename(path.join(home, 'base/python3'), path.join(home, 'base/python3.13'));
  await put(path.join(home, 'base/python3'), '#!/bin/sh\necho 3.9\n');
  await put(path.join(home, 'base/python'), '#!/bin/sh\necho 3.9\n');
  await put(path.join(home, 'extension/dist/wheels/msgspec-1-cp313-cp313-any.whl'), '');
  await install();
  deepStrictEqual(await installed(), 'one');
});

test('no Python of an untrusted workspace is run', async () => {
  process.env.PATH = `${home}/base`;
  await python('one');
  disk.folders = [Uri.file(path.join(home, 'base'))];
  workspace.isTrusted = false;
  await rejects(install, /was not found on the path/);
  workspace.isTrusted = true;
  process.env.PATH = `${home}/base${path.delimiter}/usr/bin${path.delimiter}/bin`;
  await install();
});

test('an extension that was built without wheels has none', async () => {
  await fs.rm(path.join(home, 'extension'), { recursive: true });
  deepStrictEqual(await carried(), undefined);
});
