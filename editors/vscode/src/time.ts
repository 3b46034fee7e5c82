// Times for people, in the server's words (`model/ages.py`).

const UNITS: readonly [seconds: number, name: string][] = [
  [365 * 86_400, 'year'],
  [30 * 86_400, 'month'],
  [86_400, 'day'],
  [3_600, 'hour'],
  [60, 'minute'],
];

/** Returns an age such as `9 months ago`; undefined if the value is no time. */
export function ago(timestamp: unknown, now = Date.now()): string | undefined {
  const moment = typeof timestamp === 'string' ? Date.parse(timestamp) : NaN;
  if (Number.isNaN(moment)) return undefined;
  const seconds = (now - moment) / 1000;
  if (seconds < 0) return `on ${new Date(moment).toISOString().slice(0, 10)}`;
  for (const [length, name] of UNITS) {
    const count = Math.floor(seconds / length);
    if (count > 0) return `${count} ${name}${count === 1 ? '' : 's'} ago`;
  }
  return 'just now';
}

/** Returns the full time in the user's zone; undefined if the value is no time. */
export function fullTime(timestamp: unknown): string | undefined {
  const moment = typeof timestamp === 'string' ? new Date(timestamp) : undefined;
  if (moment === undefined || Number.isNaN(moment.getTime())) return undefined;
  return moment.toLocaleString(undefined, { dateStyle: 'full', timeStyle: 'long' });
}
