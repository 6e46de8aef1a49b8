import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { DartError } from '../../errors.ts';
import { readOnnx } from '../../graph/read.ts';
import type { Graph } from '../../graph/types.ts';
import { writeOnnx } from '../../graph/write.ts';
import { fileError } from '../../stream/errno.ts';
import type { NetworkConfig } from './config.ts';
import { parseConfig } from './config.ts';
import { CONFIG_KEY, forwardGraph } from './graphs.ts';
import type { WeightSpec, WeightTensor } from './weights.ts';
import { weightSpecs } from './weights.ts';

export const INPUTS = ['screen', 'words', 'history', 'reply', 'rows'] as const;

export interface PolicyFile {
  path: string;
  graph: Graph;
  /** Null for a network that was made elsewhere: it is run as it is, through its declared inputs and outputs. */
  config: NetworkConfig | null;
  /** The float initializers that can be trained, in the file's order. */
  weights: Map<string, WeightTensor>;
  /** Those that stay as they are. */
  frozen: Map<string, WeightTensor>;
}

/**
 * Bytes of a policy file: the forward graph with its weights, and the network's configuration in the metadata.
 * @throws DartError where a weight is missing, frozen ones included
 */
export function writePolicyFile(config: NetworkConfig, weights: ReadonlyMap<string, WeightTensor>): Uint8Array {
  checkWeights(weightSpecs(config), weights, 'policy file to be written');
  return writeOnnx(forwardGraph(config, weights));
}

/**
 * @param path an `.onnx` file, or a published folder with a `policy.onnx`
 * @param check throws where the bytes are not to be used
 * @throws DartError for a missing file, one that is no ONNX model or cut off, other inputs than a policy's
 */
export async function openPolicyFile(
  path: string,
  check?: (bytes: Uint8Array, file: string) => void,
): Promise<PolicyFile> {
  const file = (await isFolder(path)) ? join(path, 'policy.onnx') : path;
  let bytes: Uint8Array;
  try {
    bytes = await readFile(file);
  } catch (error) {
    throw fileError(error, 'read the policy', file);
  }
  check?.(bytes, file);
  return parsePolicyFile(bytes, file);
}

async function isFolder(path: string): Promise<boolean> {
  try {
    return (await stat(path)).isDirectory();
  } catch {
    // Reading it will say what is wrong.
    return false;
  }
}

/** As `openPolicyFile`, from bytes. */
export function parsePolicyFile(bytes: Uint8Array, path: string): PolicyFile {
  const graph = readOnnx(bytes, path);
  checkFaces(graph, path);
  const json = graph.metadata.get(CONFIG_KEY);
  const config = json === undefined ? null : parseConfig(json, path);
  const specs = config ? weightSpecs(config) : null;
  const [weights, frozen] = [new Map<string, WeightTensor>(), new Map<string, WeightTensor>()];
  for (const [name, { data, shape }] of graph.initializers) {
    const wanted = specs ? specs.has(name) : data.length > 1;
    if (!(data instanceof Float32Array) || !wanted) continue;
    (specs?.get(name)?.frozen ? frozen : weights).set(name, { shape, data });
  }
  if (specs) checkWeights(specs, new Map([...weights, ...frozen]), path);
  return { path, graph, config, weights, frozen };
}

function checkFaces(graph: Graph, path: string): void {
  const names = graph.inputs.map((input) => input.name);
  const missing = INPUTS.filter((name) => !names.includes(name));
  const foreign = names.filter((name) => !(INPUTS as readonly string[]).includes(name));
  const hint = `a policy has the inputs ${INPUTS.join(', ')} and the output logits`;
  if (missing.length > 0)
    throw new DartError(`this ONNX model has no input '${missing.join("', '")}'`, { where: path, hint });
  if (foreign.length > 0)
    throw new DartError(`nothing feeds the input '${foreign.join("', '")}'`, { where: path, hint });
  if (!graph.outputs.some((output) => output.name === 'logits')) {
    throw new DartError("this ONNX model has no output 'logits'", { where: path, hint });
  }
}

function checkWeights(
  specs: ReadonlyMap<string, WeightSpec>,
  weights: ReadonlyMap<string, WeightTensor>,
  path: string,
): void {
  for (const [name, { shape }] of specs) {
    const found = weights.get(name)?.shape;
    if (found?.join() === shape.join()) continue;
    const is = found ? `has shape [${found.join(', ')}] instead of [${shape.join(', ')}]` : 'is missing';
    throw new DartError(`weight '${name}' ${is}`, {
      where: path,
      hint: 'use a policy file written whole by this toolkit',
    });
  }
}

/**
 * Copies new values over weights.
 * @throws DartError where one is missing or has another size
 */
export function replaceWeights(
  weights: ReadonlyMap<string, WeightTensor>,
  values: ReadonlyMap<string, Float32Array>,
  where: string,
): void {
  for (const [name, { data, shape }] of weights) {
    const value = values.get(name);
    if (!value) throw new DartError(`weight '${name}' is missing`, { where, hint: 'publish a version of this policy' });
    if (value.length !== data.length) {
      throw new DartError(
        `weight '${name}' has ${value.length} values instead of ${data.length} [${shape.join(', ')}]`,
        {
          where,
          hint: 'publish a version of this policy',
        },
      );
    }
  }
  for (const [name, { data }] of weights) data.set(values.get(name)!);
}
