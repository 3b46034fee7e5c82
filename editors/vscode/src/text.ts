// Text from a trail is untrusted: it is shown as one line of plain text.

/** Invisible characters, the same set as the server's: control, surrogate, default-ignorable, and separators outside those classes. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** Returns one line of at most `limit` characters. Invisible characters become `\uXXXX`; `$(icon)` syntax is disabled. */
export function plain(value: unknown, limit = 120): string {
  const text = (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))
    .slice(0, 4 * limit)
    .replace(/\s+/g, ' ')
    .trim();
  const seen = text.replace(UNSEEN, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
  const inert = seen.replaceAll('$(', '$ (');
  return inert.length > limit ? `${inert.slice(0, limit - 1)}…` : inert;
}
