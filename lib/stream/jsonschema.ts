import { z } from 'zod';
import { RECORD_SCHEMAS, type RecordType } from './records.ts';

/** The JSON Schema (draft 2020-12) of a record type, as it is published in `docs/schemas/<type>.json`. */
export function jsonSchemaOf(type: RecordType): Record<string, unknown> {
  const { $schema, ...schema } = z.toJSONSchema(RECORD_SCHEMAS[type], { io: 'input' }) as Record<string, unknown>;
  return { $schema, title: type, ...schema };
}

/** File name and text of every published schema. */
export function schemaFiles(): Map<string, string> {
  const types = Object.keys(RECORD_SCHEMAS) as RecordType[];
  return new Map(types.map((type) => [`${type}.json`, `${JSON.stringify(jsonSchemaOf(type), null, 2)}\n`]));
}
