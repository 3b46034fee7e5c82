// Text from a trail is untrusted: it is shown as one line of plain text wherever it appears.

const UNSEEN =
  /[\p{Cc}\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\u{1d173}-\u{1d17a}\u{e0000}-\u{e0fff}]|\p{Cs}/gu;

/** Returns one line of at most `limit` characters; what nobody can see shows as its code, and nothing becomes an icon. */
export function plain(value: unknown, limit = 120): string {
  const text = (typeof value === 'string' ? value : value === undefined ? '' : JSON.stringify(value))
    .slice(0, 4 * limit)
    .replace(/\s+/g, ' ')
    .trim();
  const seen = text.replace(UNSEEN, (character) => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`);
  const inert = seen.replaceAll('$(', '$ (');
  return inert.length > limit ? `${inert.slice(0, limit - 1)}…` : inert;
}
