import type { z } from 'zod';
import { DartError } from '../errors.ts';
import { formatPath } from './path.ts';
import { type AnyRecord, RECORD_SCHEMAS, type RecordType, SCHEMA_VERSION } from './records.ts';

export type RecordOf<T extends RecordType> = z.infer<(typeof RECORD_SCHEMAS)[T]>;

/**
 * The value as a record of this type, checked; fields that the schema does not know stay as they are.
 * @param where `file:line`, for the message.
 * @throws DartError that names the first field that is wrong, what was expected and what was found.
 */
export function parseRecord<T extends RecordType>(type: T, value: unknown, where: string): RecordOf<T> {
  checkVersion(value, where);
  const result = RECORD_SCHEMAS[type].safeParse(value);
  if (result.success) return result.data as RecordOf<T>;
  throw new DartError(`not a valid ${type}: ${describeIssue(result.error, value)}`, {
    where,
    hint: `docs/schemas/${type}.json`,
  });
}

/** True for a record of this type, unchecked: what a command tells its input apart by. */
export function isType<T extends RecordType>(type: T, record: AnyRecord): boolean {
  return record.type === type;
}

function checkVersion(value: unknown, where: string): void {
  const version = (value as { v?: unknown } | null)?.v;
  if (typeof version !== 'number' || version <= SCHEMA_VERSION) return;
  throw new DartError(`the record has schema version ${version}, this toolkit reads up to ${SCHEMA_VERSION}`, {
    where,
    hint: 'a newer version of the toolkit',
  });
}

function describeIssue(error: z.ZodError, value: unknown): string {
  const issue = error.issues[0];
  if (!issue) return 'unknown reason';
  const others = error.issues.length - 1;
  const more = others > 0 ? ` (and ${others} more)` : '';
  const place = issue.path.length === 0 ? 'the record' : formatPath(issue.path);
  return `${place}: ${issue.message.replace(/^Invalid input: /, '')}${found(issue, value)}${more}`;
}

/** What stands there, unless the message says so already. */
function found(issue: z.core.$ZodIssue, value: unknown): string {
  if (/received/.test(issue.message)) return '';
  let here: unknown = value;
  for (const key of issue.path) here = (here as Record<PropertyKey, unknown> | null | undefined)?.[key];
  if (here === undefined) return ', received nothing';
  const text = JSON.stringify(here) ?? typeof here;
  return `, received ${text.length > 40 ? `${text.slice(0, 40)}…` : text}`;
}
