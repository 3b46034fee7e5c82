// Whether client and server understand each other, by the server's version.

/** The oldest server that this client understands. */
export const OLDEST = '0.1.0';
/** The first that may say what this client does not understand: the next one that is not `~=OLDEST`, which is what pip would install. */
export const TOO_NEW = '0.2.0';

/** Returns why a server of some version does not fit this client, in words for people; undefined when it does. */
export function misfit(version: string | undefined): string | undefined {
  if (version === undefined) return `does not say its version, and this extension needs ${OLDEST} or newer: upgrade it with pip`;
  if (compare(version, OLDEST) < 0) return `is version ${version}, and this extension needs ${OLDEST} or newer: upgrade it with pip`;
  if (compare(version, TOO_NEW) >= 0) return `is version ${version}, which is newer than this extension knows: update the extension`;
  return undefined;
}

/** Compares by the first three numbers; what else a version says, such as `rc1`, does not count. */
function compare(one: string, other: string): number {
  const [left = [], right = []] = [one, other].map((each) => each.split('.').map((part) => Number.parseInt(part, 10) || 0));
  return [0, 1, 2].map((part) => (left[part] ?? 0) - (right[part] ?? 0)).find((difference) => difference !== 0) ?? 0;
}
