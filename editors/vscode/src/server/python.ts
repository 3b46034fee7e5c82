// Finds a Python that can run the server.

import { filesOnPath } from './location';
import { ProgramFailed, run, type RunOptions } from './programs';

const WINDOWS = process.platform === 'win32';
/** The oldest Python 3 that the server supports. */
const OLDEST = 11;
/** Prints the version, then imports the module that makes environments. */
const PROBE = "import sys; print('%d.%d' % sys.version_info[:2], flush=True); import venv";

/** A program and its first arguments. */
export type Python = readonly [string, ...string[]];

/**
 * Returns a Python on the PATH. Rejects with the cause if there is none that can be used.
 *
 * @param versions The minor versions of Python 3 that can be used; all from the oldest on if empty.
 */
export async function findPython(versions: readonly number[], options: RunOptions): Promise<Python> {
  let cause = 'Python 3.11 or newer was not found on the path';
  let isFirst = true;
  for (const python of await candidates(versions)) {
    const unusable = await whyUnusable(python, versions, options);
    if (unusable === undefined) return python;
    if (isFirst) cause = unusable;
    isFirst = false;
  }
  throw new Error(cause);
}

async function candidates(versions: readonly number[]): Promise<Python[]> {
  const exact = [...versions].reverse();
  if (!WINDOWS) return (await filesOnPath(['python3', 'python', ...exact.map((minor) => `python3.${minor}`)])).map((file) => [file]);
  const [launcher] = await filesOnPath(['py.exe']);
  const pythons = (await filesOnPath(['python.exe', 'python3.exe'])).map((file): Python => [file]);
  if (launcher === undefined) return pythons;
  return [[launcher, '-3'], ...pythons, ...exact.map((minor): Python => [launcher, `-3.${minor}`])];
}

/** Returns why a Python cannot be used, as a sentence; undefined if it can. */
async function whyUnusable([python, ...flags]: Python, versions: readonly number[], options: RunOptions): Promise<string | undefined> {
  let failure: string | undefined;
  let output: string;
  try {
    output = await run(python, [...flags, '-I', '-c', PROBE], { ...options, timeout: 30_000 });
  } catch (error) {
    if (!(error instanceof ProgramFailed) || options.token?.isCancellationRequested) throw error;
    ({ output, message: failure } = error);
  }
  const [, major, minor] = (/^(\d+)\.(\d+)\s*$/m.exec(output) ?? []).map(Number);
  if (major === undefined || minor === undefined) return `${python} does not run: ${failure ?? 'it printed no version'}`;
  if (major !== 3 || minor < OLDEST) return `Python 3.${OLDEST} or newer is needed, and ${python} is ${major}.${minor}`;
  if (versions.length > 0 && !versions.includes(minor)) {
    const range = `3.${Math.min(...versions)} to 3.${Math.max(...versions)}`;
    return `this extension carries the server for Python ${range}, and ${python} is 3.${minor}`;
  }
  if (failure !== undefined) return `${python} has no module venv (${failure}); on Debian and Ubuntu, the package python3-venv has it`;
  return undefined;
}
