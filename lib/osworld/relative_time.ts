import { Fields } from './fields.ts';

/** A day without a time: the reckoning of OSWorld's relative dates needs no more. Months and days count from 1. */
export interface Day {
  year: number;
  month: number;
  day: number;
}

/** Midnight, UTC, of a day; days and months beyond the end are carried on. */
function at(year: number, month: number, day: number): Day {
  const date = new Date(Date.UTC(year, month - 1, day));
  return { year: date.getUTCFullYear(), month: date.getUTCMonth() + 1, day: date.getUTCDate() };
}

function plus({ year, month, day }: Day, days: number): Day {
  return at(year, month, day + days);
}

/** Monday is 0. */
function weekdayOf({ year, month, day }: Day): number {
  return (new Date(Date.UTC(year, month - 1, day)).getUTCDay() + 6) % 7;
}

/** The day today in a time zone (`Europe/Zurich`); UTC where there is no such zone, as in OSWorld. */
export function todayIn(timeZone: string, now = new Date()): Day {
  const format = (zone: string) => new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(now);
  let text: string;
  try {
    text = format(timeZone);
  } catch {
    text = format('UTC');
  }
  return dayIn(text)!;
}

/** The day that a text starts with, `2026-03-01…`; null without one. */
export function dayIn(text: string): Day | null {
  const [, year, month, day] = /^\s*(\d{4})-(\d\d)-(\d\d)/.exec(text) ?? [];
  return day === undefined ? null : { year: Number(year), month: Number(month), day: Number(day) };
}

type Reckon = (today: Day, from: { name: string; day: Day } | null) => Day;

const [FRIDAY, SATURDAY, SUNDAY] = [4, 5, 6];

/** The next such day that is not today. */
const coming =
  (weekday: number): Reckon =>
  (today) =>
    plus(today, ((weekday - weekdayOf(today) + 6) % 7) + 1);
const thisWeek =
  (weekday: number): Reckon =>
  (today) =>
    plus(today, weekday - weekdayOf(today));
const nextWeek =
  (weekday: number): Reckon =>
  (today) =>
    plus(today, 7 - weekdayOf(today) + weekday);
const nextMonth =
  (day: number): Reckon =>
  ({ year, month }) =>
    at(year, month + 1, day);

const firstMonday =
  (months: number): Reckon =>
  ({ year, month }) => {
    const first = at(year, month + months, 1);
    return plus(first, (7 - weekdayOf(first)) % 7);
  };

/** The end of a span: the day in the week of its start where that is one of `starts`, else the next such day. */
const endOf =
  (weekday: number, starts: string[], otherwise: Reckon): Reckon =>
  (today, from) =>
    from !== null && starts.includes(from.name)
      ? plus(from.day, weekday - weekdayOf(from.day))
      : otherwise(today, from);

const MONDAYS = ['next Monday', 'next Monday split'];
const nextFriday = endOf(FRIDAY, MONDAYS, coming(FRIDAY));

/** OSWorld's relative dates by name. */
const RECKONED: Record<string, Reckon> = {
  tomorrow: (today) => plus(today, 1),
  'this month': (today) => today,
  '5th next month': nextMonth(5),
  '10th next month': nextMonth(10),
  '11th next month': nextMonth(11),
  'this Saturday': thisWeek(SATURDAY),
  'this Sunday': thisWeek(SUNDAY),
  'next Monday': nextWeek(0),
  'next Monday split': nextWeek(0),
  'next Friday': nextFriday,
  'next Friday split': nextFriday,
  'next Saturday': coming(SATURDAY),
  'next Sunday': endOf(SUNDAY, ['next Friday', 'next Saturday'], coming(SUNDAY)),
  'next week Friday': nextWeek(FRIDAY),
  'next week Saturday': nextWeek(SATURDAY),
  'next week Sunday': endOf(SUNDAY, ['next week Friday', 'next week Saturday'], nextWeek(SUNDAY)),
  'first monday four months later': firstMonday(4),
  'first monday eight months later': firstMonday(8),
};

const WEEKDAYS = ['Mon', 'Tue', 'Wed', 'Thu', 'Fri', 'Sat', 'Sun'];
const MONTHS = [
  ...['January', 'February', 'March', 'April', 'May', 'June', 'July', 'August', 'September', 'October'],
  ...['November', 'December'],
];

/** Fills `{DoW}`, `{Month}`, `{DayD}`, … of a text, each once, as OSWorld does. */
function written(text: string, day: Day): string {
  const month = MONTHS[day.month - 1]!;
  const two = (value: number) => String(value).padStart(2, '0');
  const values = {
    DoW: WEEKDAYS[weekdayOf(day)]!,
    Month: month.slice(0, 3),
    DayD: String(day.day),
    Year: String(day.year),
    Month0D: two(day.month),
    month: month.toLowerCase(),
    MonthFull: month,
    Day0D: two(day.day),
    MonthD: String(day.month),
  };
  return Object.entries(values).reduce((filled, [name, value]) => filled.replace(`{${name}}`, () => value), text);
}

/**
 * The rules with the dates of `relativeTime: {from, to?}` in the places of `expected` that stand for them: `time`, or
 * `from` and `to`, or with `split` names the parts `puDay` … and `doDay` …. The rules themselves are not changed.
 */
export function withDates(rules: Fields, today: Day): Record<string, unknown> {
  const relative = new Fields(`${rules.owner}: relativeTime`, rules.where, rules.object('relativeTime'));
  const expected = { ...rules.object('expected') };
  const fill = (names: string[], day: Day) => {
    for (const name of names) expected[name] = filled(expected[name], day, rules);
  };
  const name = relative.text('from');
  const day = reckoner(name, relative, 'from')(today, null);
  if (!relative.has('to')) fill(['time'], day);
  else {
    fill(name.endsWith(' split') ? ['puDay', 'puMonth', 'puYear'] : ['from'], day);
    const end = relative.text('to');
    const last = reckoner(end, relative, 'to')(today, { name, day });
    fill(end.endsWith(' split') ? ['doDay', 'doMonth', 'doYear'] : ['to'], last);
  }
  return { ...rules.values, expected };
}

function reckoner(name: string, fields: Fields, field: string): Reckon {
  const reckon = RECKONED[name];
  if (reckon === undefined) throw fields.wrong(field, `one of ${Object.keys(RECKONED).join(', ')}`);
  return reckon;
}

function filled(value: unknown, day: Day, rules: Fields): unknown {
  if (typeof value === 'string') return written(value, day);
  if (Array.isArray(value)) return value.map((item) => filled(item, day, rules));
  throw rules.wrong('expected', 'an object with a text for each date');
}
