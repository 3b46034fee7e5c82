// Checks whether the server's version is compatible with this extension.

/** The oldest compatible server. */
export const OLDEST = '0.1.0';
/** The first incompatible newer version. */
export const TOO_NEW = '0.2.0';

/** Returns why a server version is incompatible and what to do, as the end of a sentence; undefined if it is compatible. */
export function incompatibility(version: string | undefined, upgrade = 'upgrade it with pip'): string | undefined {
  if (version === undefined) return `does not say its version, and this extension needs ${OLDEST} or newer: ${upgrade}`;
  if (compare(version, OLDEST) < 0) return `is version ${version}, and this extension needs ${OLDEST} or newer: ${upgrade}`;
  if (compare(version, TOO_NEW) >= 0) return `is version ${version}, newer than this extension supports: update the extension`;
  return undefined;
}

/** Compares the first three numbers; suffixes such as `rc1` are ignored. */
function compare(one: string, other: string): number {
  const [left = [], right = []] = [one, other].map((each) => each.split('.').map((part) => Number.parseInt(part, 10) || 0));
  return [0, 1, 2].map((part) => (left[part] ?? 0) - (right[part] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
