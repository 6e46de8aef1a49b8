import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError, EXIT, messageOf } from '../../lib/errors.ts';
import type { Fidelity } from '../../lib/osworld/context.ts';
import { optionsOf } from '../../lib/osworld/fields.ts';
import { METRICS } from '../../lib/osworld/metrics/index.ts';
import { fileError } from '../../lib/stream/errno.ts';
import { SCHEMA_VERSION } from '../../lib/stream/records.ts';
import { openGivenBridge } from './bridge.ts';

/**
 * `dart-eval metric NAME RESULT [EXPECTED]`: one metric on what lies here, without task, guest and getters.
 * @throws DartError for a metric that nobody knows, a value that cannot be read, and what the metric itself complains of.
 */
export async function run(context: CommandContext): Promise<number> {
  const { options, positionals } = context;
  const [name, resultArgument, expectedArgument] = positionals as [string, string, string | undefined];
  const metric = METRICS.get(name);
  if (metric === undefined) {
    throw new DartError(`unknown metric ${name}`, { hint: nearest(name) });
  }
  if (expectedArgument !== undefined && options.rules !== undefined) {
    throw new DartError('EXPECTED and --rules are the same thing', { where: '--rules', hint: 'one of them' });
  }
  const result = await readValue(context, resultArgument, 'RESULT');
  const rules = options.rules === undefined ? undefined : parse(String(options.rules), '--rules');
  const expected = expectedArgument === undefined ? rules : await readValue(context, expectedArgument, 'EXPECTED');
  const given = options.options === undefined ? {} : parse(String(options.options), '--options');
  const fields = optionsOf(name, '--options', given);
  const fidelity: Fidelity = options.protocol === 'strict' ? 'strict' : 'verified';
  const bridge = await openGivenBridge(context);
  const value = await Promise.resolve({ result, expected, options: fields, name, where: name, fidelity, bridge })
    .then(metric)
    .catch((cause: unknown) => {
      if (cause instanceof DartError) throw cause;
      throw new DartError(`the metric failed: ${messageOf(cause)}`, { where: name, cause });
    })
    .finally(() => bridge?.close());
  const output = await openOutput(context);
  await output.write({ type: 'metric', v: SCHEMA_VERSION, name, value, protocol: options.protocol });
  await output.close();
  logOf(context).info(`${name}: ${value}`);
  const threshold = options['fail-under'] as number | undefined;
  return threshold !== undefined && value < threshold ? EXIT.negative : EXIT.ok;
}

/** `json:TEXT` and `text:TEXT` are values, `json:@FILE` and `text:@FILE` what a file holds, `none` nothing, all else a file. */
async function readValue({ io }: CommandContext, argument: string, where: string): Promise<unknown> {
  if (argument === 'none') return null;
  const [, kind, at, rest = ''] = /^(json|text):(@?)(.*)$/s.exec(argument) ?? [];
  const path = kind === undefined ? argument : rest;
  if (kind !== undefined && at === '') return kind === 'json' ? parse(rest, where) : rest;
  const bytes = await readFile(resolvePath(io, path)).catch((error: unknown) => {
    throw fileError(error, 'read', path);
  });
  if (kind === undefined) return { name: basename(path), bytes: new Uint8Array(bytes) };
  const text = bytes.toString('utf8');
  return kind === 'json' ? parse(text, path) : text;
}

function parse(text: string, where: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    throw new DartError(`not JSON: ${messageOf(cause)}`, { where, cause });
  }
}

/** Names that share the most three-letter pieces with it. */
function nearest(name: string): string {
  const pieces = new Set(Array.from({ length: Math.max(0, name.length - 2) }, (_, i) => name.slice(i, i + 3)));
  const alike = (other: string) => [...pieces].filter((piece) => other.includes(piece)).length;
  const names = [...METRICS.keys()].sort((a, b) => alike(b) - alike(a));
  return `one of ${METRICS.size}, such as ${names.slice(0, 3).join(', ')}`;
}
