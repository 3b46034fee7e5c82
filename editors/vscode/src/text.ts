// Text from a trail is untrusted: it is shown as one line of plain text.

/** Invisible characters, the same set as the server's: control, surrogate, default-ignorable, and separators outside those classes. */
const UNSEEN = /[\p{Cc}\p{Cs}\p{Default_Ignorable_Code_Point}\u2028\u2029\ufff9-\ufffb]/gu;

/** Returns text as a Markdown code span on one line: nothing in it is markup. */
export function codeSpan(value: unknown, limit = 120): string {
  const text = plain(value, limit);
  const longest = Math.max(0, ...(text.match(/`+/g) ?? []).map((run) => run.length));
  const fence = '`'.repeat(longest + 1);
  const padding = text === '' || text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${fence}${padding}${text}${padding}${fence}`;
}

/** Breaks lines that are longer than `width` at spaces, and keeps their indentation. */
export function wrapped(text: string, width: number): string {
  return text
    .split('\n')
    .map((line) => wrapLine(line, width))
    .join('\n');
}

function wrapLine(line: string, width: number): string {
  const indent = (/^\s*(?:- )?/.exec(line)?.[0] ?? '').slice(0, width / 2);
  const lines: string[] = [];
  let current = indent;
  for (const word of line.slice(indent.length).split(' ')) {
    if (current.length > indent.length && current.length + 1 + word.length > width) {
      lines.push(current);
      current = ' '.repeat(indent.length) + word;
    } else current += current.length === indent.length ? word : ` ${word}`;
  }
  return [...lines, current].join('\n');
}

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
