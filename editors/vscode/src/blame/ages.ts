// The age of an edit: a short text, and the step of the heat map.

import type { Placement } from '../protocol';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const WEEK = 7 * DAY;
const MONTH = 30.44 * DAY;
const YEAR = 365.25 * DAY;

/** Steps of the heat map, each with the age at which it ends. They are the same in every file, so that one colour always means one age. */
const STEPS = { day: DAY, week: WEEK, month: MONTH, year: YEAR, older: Infinity } as const;
export type AgeStep = keyof typeof STEPS;
export const AGE_STEPS = Object.keys(STEPS) as AgeStep[];

/** Returns the milliseconds since an edit; undefined if its time is not a date. A time in the future counts as now. */
export function ageOf({ timestamp }: Pick<Placement, 'timestamp'>, now: number): number | undefined {
  const age = now - Date.parse(timestamp ?? '');
  return Number.isNaN(age) ? undefined : Math.max(0, age);
}

/** Returns an age in at most five characters, such as `8mo`; `?` if it is unknown. */
export function shortAge(age: number | undefined): string {
  if (age === undefined) return '?';
  if (age < MINUTE) return 'now';
  if (age < HOUR) return `${Math.floor(age / MINUTE)}min`;
  if (age < DAY) return `${Math.floor(age / HOUR)}h`;
  if (age < MONTH) return `${Math.floor(age / DAY)}d`;
  if (age < YEAR) return `${Math.floor(age / MONTH)}mo`;
  return `${Math.floor(age / YEAR)}y`;
}

/** Returns the step of the heat map; undefined if the age is unknown. */
export function ageStep(age: number | undefined): AgeStep | undefined {
  return age === undefined ? undefined : AGE_STEPS.find((step) => age < STEPS[step]);
}
