import { describe, expect, it } from 'vitest';
import { jsonSchemaOf, schemaFiles } from './jsonschema.ts';
import { RECORD_SCHEMAS } from './records.ts';

describe('jsonSchemaOf', () => {
  it('lets unknown fields through, and names those that must be there', () => {
    const schema = jsonSchemaOf('metric') as { properties: Record<string, unknown>; required: string[] };
    expect(schema).toMatchObject({
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      title: 'metric',
      type: 'object',
      additionalProperties: {},
    });
    expect(schema.required).toEqual(['type', 'v', 'name', 'value']);
    expect(schema.properties.type).toEqual({ type: 'string', const: 'metric' });
    expect(schema.properties.value).toEqual({ type: ['number', 'null'] });
  });

  it('has a file for each record type, type and v first', () => {
    const files = schemaFiles();
    expect([...files.keys()]).toEqual(Object.keys(RECORD_SCHEMAS).map((type) => `${type}.json`));
    for (const text of files.values()) {
      expect(Object.keys(JSON.parse(text).properties).slice(0, 2)).toEqual(['type', 'v']);
    }
  });
});
