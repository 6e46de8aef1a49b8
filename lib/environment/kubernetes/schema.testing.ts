import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { client } from './client.testing.ts';

/**
 * The published API schema, as the client's models have it: they are generated from Kubernetes' OpenAPI file. The names
 * and types come from the classes, what is required from their declarations.
 */
interface Field {
  name: string;
  baseName: string;
  type: string;
}

interface Model {
  fields: Map<string, Field>;
  required: string[];
}

const folder = join(dirname(createRequire(import.meta.url).resolve('@kubernetes/client-node')), 'gen', 'models');
const models = new Map<string, Model>();

/** What is wrong with `value` as a `type` of the API (`V1Pod`), one line each; unknown fields are wrong. */
export function schemaProblems(value: unknown, type: string, path = ''): string[] {
  const at = path === '' ? type : path;
  const array = /^(?:Array|Set)<(.+)>$/.exec(type);
  if (array) {
    if (!Array.isArray(value)) return [`${at}: not a list`];
    return value.flatMap((one, i) => schemaProblems(one, array[1]!, `${path}[${i}]`));
  }
  const map = /^\{ \[key: string\]: (.+); \}$/.exec(type);
  if (map) {
    if (!isObject(value)) return [`${at}: not a map`];
    return Object.entries(value).flatMap(([key, one]) => schemaProblems(one, map[1]!, `${path}.${key}`));
  }
  switch (type) {
    case 'any':
    case 'object':
      return [];
    case 'string':
    case 'number':
    case 'boolean':
      return typeof value === type ? [] : [`${at}: ${JSON.stringify(value)} is no ${type}`];
    case 'IntOrString':
      return ['string', 'number'].includes(typeof value) ? [] : [`${at}: neither a number nor a string`];
    case 'Date':
    case 'V1MicroTime':
      return isTime(value) ? [] : [`${at}: ${JSON.stringify(value)} is no time`];
    default:
      return objectProblems(value, type, path);
  }
}

function objectProblems(value: unknown, type: string, path: string): string[] {
  const { fields, required } = modelOf(type);
  if (!isObject(value)) return [`${path || type}: not an object (${type})`];
  const missing = required.filter((name) => value[name] === undefined || value[name] === null);
  return [
    ...missing.map((name) => `${path}.${name}: missing, required in ${type}`),
    ...Object.entries(value).flatMap(([name, one]) => {
      const field = fields.get(name);
      if (!field) return [`${path}.${name}: unknown field of ${type}`];
      return one === null || one === undefined ? [] : schemaProblems(one, field.type, `${path}.${name}`);
    }),
  ];
}

function modelOf(type: string): Model {
  const known = models.get(type);
  if (known) return known;
  const model: unknown = Reflect.get(client!, type);
  if (typeof model !== 'function' || !('getAttributeTypeMap' in model)) throw new Error(`the API has no type ${type}`);
  const fields = (model as { getAttributeTypeMap(): Field[] }).getAttributeTypeMap();
  const names = new Map(fields.map((field) => [field.baseName, field]));
  const text = readFileSync(join(folder, `${type}.d.ts`), 'utf8');
  const declared = [...text.matchAll(/^ {4}'(\w+)'(\?)?: /gm)];
  const optional = new Map(declared.map(([, name, mark]) => [name, mark !== undefined]));
  const undeclared = fields.filter(({ name }) => !optional.has(name));
  if (undeclared.length > 0) throw new Error(`${type}.d.ts lacks ${undeclared.map(({ name }) => name)}`);
  const required = fields.filter(({ name }) => !optional.get(name));
  const made = { fields: names, required: required.map(({ baseName }) => baseName) };
  models.set(type, made);
  return made;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTime(value: unknown): boolean {
  return typeof value === 'string' && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z$/.test(value);
}
