import { DartError } from '../../errors.ts';
import type { Coordinates } from '../policy.ts';
import { splitPolicySpec } from '../spec.ts';

/** How a server is asked: chat completions, or SGLang's own `/generate`. */
export type Api = 'chat' | 'generate';

/** What speaks at the other end, as far as `/v1/models` says. It decides how versions are loaded. */
export type Engine = 'vllm' | 'sglang' | 'dart' | 'other';

export const ENGINES: readonly Engine[] = ['vllm', 'sglang', 'dart', 'other'];
export const COORDINATES: readonly Coordinates[] = ['absolute', 'relative', 'smart-resize'];

/** `openai:URL[,URL…][;model=NAME][;coordinates=HOW][;engine=NAME]`, read. */
export interface ServerSpec {
  api: Api;
  /** Roots of the servers, without `/v1` and without a slash at the end; empty where servers are to be started. */
  urls: string[];
  model?: string;
  coordinates?: Coordinates;
  engine?: Engine;
}

const EXAMPLE = 'openai:http://127.0.0.1:8000/v1,http://127.0.0.1:8001/v1;model=ui-tars';

/** Whether a policy of this kind is asked over HTTP. */
export function isServerKind(kind: string): boolean {
  return kind === 'openai' || kind === 'sglang';
}

/** @throws DartError for what is no URL, for credentials in one, and for options that do not exist. */
export function parseServerSpec(spec: string): ServerSpec {
  const { kind, rest } = splitPolicySpec(spec);
  const [list = '', ...options] = rest.split(';');
  const urls = list.split(',').map((url) => url.trim());
  const read: ServerSpec = {
    api: kind === 'sglang' ? 'generate' : 'chat',
    urls: urls.filter((url) => url !== '').map(rootOf),
  };
  const twice = read.urls.find((url, index) => read.urls.indexOf(url) !== index);
  if (twice !== undefined) throw wrong(`the server ${twice} is named twice`, 'each server once');
  for (const option of options) Object.assign(read, optionOf(option));
  return read;
}

/** `http://host:8000/v1/` → `http://host:8000`. */
function rootOf(text: string): string {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    const port = /^[a-z]+:\/\/[^/?#]*:([^:/?#\]]+)(?:[/?#]|$)/i.exec(text)?.[1];
    const isPort = port === undefined || (/^\d{1,5}$/.test(port) && Number(port) <= 65_535);
    if (!isPort) throw wrong(`"${text}" has the port ${port}; ports are numbers up to 65535`, EXAMPLE);
    throw wrong(`"${text}" is no URL`, EXAMPLE);
  }
  if (url.protocol !== 'http:' && url.protocol !== 'https:') throw wrong(`"${text}" is no http address`, EXAMPLE);
  if (url.username !== '' || url.password !== '') {
    throw wrong('a server address must not carry a password', 'the variable DART_API_KEY');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '').replace(/\/v1$/, '');
}

function optionOf(option: string): Partial<ServerSpec> {
  const equals = option.indexOf('=');
  const [name, value] = equals < 0 ? [option, ''] : [option.slice(0, equals), option.slice(equals + 1)];
  if (name === 'model' && value !== '') return { model: value };
  if (name === 'coordinates') return { coordinates: oneOf(COORDINATES, value, name) };
  if (name === 'engine') return { engine: oneOf(ENGINES, value, name) };
  throw wrong(`cannot read "${option}"`, 'model=NAME, coordinates=HOW or engine=NAME after a semicolon');
}

function oneOf<T extends string>(list: readonly T[], value: string, name: string): T {
  const found = list.find((item) => item === value);
  if (found === undefined) throw wrong(`${name} cannot be "${value}"`, list.join(', '));
  return found;
}

function wrong(message: string, hint: string): DartError {
  return new DartError(message, { where: '--policy', hint });
}
