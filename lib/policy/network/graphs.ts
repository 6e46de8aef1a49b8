import { GraphBuilder } from '../../graph/builder.ts';
import { add, concat, gather, reshape, slice, sub } from '../../graph/functions.ts';
import type { Graph } from '../../graph/types.ts';
import { float32, int64 } from '../../graph/types.ts';
import type { Value } from '../../graph/value.ts';
import type { NetworkConfig } from './config.ts';
import { gridOf, prefixLength } from './config.ts';
import { HISTORY_PARTS, WORD_IDENTITY } from './features.ts';
import { LAST_STATE, replyGrammar } from './grammar.ts';
import type { Net } from './net.ts';
import type { KeysValues } from './parts.ts';
import { keysValues, lookAndThink, readHistory, selfAttend, selfNorm, tokenTable } from './parts.ts';
import { copyTargets, findWords, readWords, seeLetters } from './reading.ts';
import type { Readout } from './readout.ts';
import { readout } from './readout.ts';
import { bosToken, vocabularySize } from './tokens.ts';
import { patches, places, seeCells } from './vision.ts';
import type { WeightTensor } from './weights.ts';
import { weightSpecs } from './weights.ts';

/** Metadata key of the network's configuration in a policy file. */
export const CONFIG_KEY = 'dart.network';

/** Weights as inputs of the graph, or as initializers where values are given. */
function start(name: string, config: NetworkConfig, weights?: ReadonlyMap<string, WeightTensor>) {
  const builder = new GraphBuilder(name);
  const specs = weightSpecs(config);
  const made = new Map<string, Value>();
  const weight = (key: string): Value => {
    const known = made.get(key);
    if (known) return known;
    const spec = specs.get(key);
    if (!spec) throw new RangeError(`the network has no weight '${key}'`);
    const values = weights?.get(key);
    const value = values
      ? builder.initializer(key, float32(values.data, [...values.shape]))
      : builder.input(key, 'float32', spec.shape);
    made.set(key, value);
    return value;
  };
  return { builder, net: { config, weight } satisfies Net };
}

/** Screen, words and history, which every graph but the one of single steps takes. */
function sceneInputs(builder: GraphBuilder, config: NetworkConfig) {
  const { width, height } = config.screen;
  return {
    screen: builder.input('screen', 'uint8', ['batch', height, width, 3]),
    words: builder.input('words', 'int32', ['batch', config.words, WORD_IDENTITY + config.wordLength]),
    history: builder.input('history', 'int32', ['batch', config.history, HISTORY_PARTS]),
  };
}

interface Scene {
  cells: Value;
  found: Value;
  table: Value;
  targets: Value;
  /** Words and history [B, prefix, width], without their places in the sequence. */
  prefix: Value;
}

function readScene(net: Net, inputs: ReturnType<typeof sceneInputs>): Scene {
  const place = places(net);
  const table = tokenTable(net, place);
  const pixels = patches(net, inputs.screen);
  const cells = seeCells(net, pixels, place);
  const found = findWords(net, inputs.words, seeLetters(net, pixels));
  return {
    cells,
    found,
    table,
    targets: copyTargets(net, inputs.words),
    prefix: concat([readWords(net, inputs.words, found, cells), readHistory(table, inputs.history)], 1),
  };
}

/** Rows of the self-attention mask: words and history see each other, reply tokens also themselves and earlier ones. */
function attentionMask(config: NetworkConfig): Float32Array {
  const prefix = prefixLength(config);
  const size = prefix + config.replyTokens;
  return Float32Array.from({ length: size * size }, (_, i) => {
    const [row, column] = [Math.floor(i / size), i % size];
    return column < prefix || column <= row ? 0 : -1e9;
  });
}

/** The first `length` extents (a run-time number) of `axis`. */
function firstOf(x: Value, length: Value, axes: number[]): Value {
  const b = x.builder;
  const ends = axes.length === 1 ? length : concat([length, length], 0);
  const inputs = [x, b.constant(int64(axes.map(() => 0))), ends, b.constant(int64(axes))];
  return b.emit('Slice', inputs)[0]!;
}

/**
 * All layers over a sequence of prefix and reply inputs. The last layer only has the reply ask: what it would make of
 * words and history nobody would read.
 * @returns hidden states of the reply positions, and the self-attention's keys and values of each layer
 */
function think(net: Net, scene: Scene, reply: Value): { hidden: Value; caches: KeysValues[]; words: Value } {
  const { config } = net;
  const prefix = prefixLength(config);
  const size = prefix + config.replyTokens;
  const joined = concat([scene.prefix, gather(scene.table, reply)], 1);
  const length = joined.builder.emit('Shape', [joined], { start: { int: 1 }, end: { int: 2 } })[0]!;
  let x = add(joined, firstOf(net.weight('tokens.position'), length, [0]));
  const whole = joined.builder.constant(float32(attentionMask(config), [size, size]), 'attention.mask');
  const mask = firstOf(whole, length, [0, 1]);
  const caches: KeysValues[] = [];
  let words = slice(x, [{ axis: 1, start: 0, end: config.words }]);
  for (let layer = 0; layer < config.layers; layer++) {
    const last = layer === config.layers - 1;
    const normal = selfNorm(net, layer, x);
    const seen = keysValues(net, layer, normal);
    caches.push(seen);
    if (last) words = slice(x, [{ axis: 1, start: 0, end: config.words }]);
    const asking = last ? slice(normal, [{ axis: 1, start: prefix }]) : normal;
    const rows = last ? slice(mask, [{ axis: 0, start: prefix }]) : mask;
    const mixed = selfAttend(net, layer, asking, seen, rows);
    x = lookAndThink(net, layer, add(last ? slice(x, [{ axis: 1, start: prefix }]) : x, mixed), scene.cells);
  }
  return { hidden: x, caches, words };
}

function readoutOf(net: Net, scene: Scene, words: Value, reply: Value): Readout {
  const length = reply.builder.emit('Shape', [reply], { start: { int: 1 }, end: { int: 2 } })[0]!;
  const letterPlaces = firstOf(net.weight('head.copy.place'), length, [0]);
  return { cells: scene.cells, found: scene.found, targets: scene.targets, words, letterPlaces };
}

/** Grammar masks by state, and the state of every input token, as constants of a graph. */
function grammarTables(builder: GraphBuilder, config: NetworkConfig) {
  const { cells } = gridOf(config);
  const grammar = replyGrammar(cells, config.replyTokens);
  const size = vocabularySize(cells);
  const masks = new Float32Array(grammar.masks.length * size);
  grammar.masks.forEach((mask, i) => {
    masks.set(mask, i * size);
  });
  const states = Int32Array.from({ length: bosToken(cells) + 2 }, (_, token) => grammar.stateOf(token));
  return {
    masks: builder.constant(float32(masks, [grammar.masks.length, size]), 'grammar.masks'),
    states: builder.constant({ dtype: 'int32', shape: [states.length], data: states }, 'grammar.states'),
  };
}

/** States [B, T] of reply inputs; at the last place typed text must end. */
function grammarStates(config: NetworkConfig, reply: Value, states: Value): Value {
  const b = reply.builder;
  const rows = gather(states, reply);
  const bound = Int32Array.from({ length: config.replyTokens }, (_, t) =>
    t === config.replyTokens - 1 ? LAST_STATE : 0,
  );
  const limits = b.constant({ dtype: 'int32', shape: [config.replyTokens], data: bound }, 'grammar.limits');
  const length = b.emit('Shape', [reply], { start: { int: 1 }, end: { int: 2 } })[0]!;
  return b.emit('Max', [rows, firstOf(limits, length, [0])])[0]!;
}

/**
 * The whole network: logits of reply tokens given what came before each. Inputs: `screen`, `words`, `history`, `reply`
 * int32 [batch, length] (BOS, then all tokens but the last) and `rows` int32 [tokens], which positions of the flattened
 * reply are real. Output `logits` [tokens, V]; excluded entries are −∞.
 * @param weights left out: they become inputs of the graph
 */
export function forwardGraph(config: NetworkConfig, weights?: ReadonlyMap<string, WeightTensor>): Graph {
  const { builder, net } = start('dart-policy', config, weights);
  const inputs = sceneInputs(builder, config);
  const reply = builder.input('reply', 'int32', ['batch', 'length']);
  const rows = builder.input('rows', 'int32', ['tokens']);
  const scene = readScene(net, inputs);
  const { hidden, words } = think(net, scene, reply);
  const logits = reshape(readout(net, hidden, readoutOf(net, scene, words, reply)), [
    -1,
    vocabularySize(gridOf(config).cells),
  ]);
  const { masks, states } = grammarTables(builder, config);
  const state = gather(reshape(grammarStates(config, reply, states), [-1]), rows);
  builder.output(add(gather(logits, rows), gather(masks, state)), 'logits');
  builder.describe(CONFIG_KEY, JSON.stringify(config));
  return builder.graph;
}

/** Names of the tensors that the encode graph hands to the step graph, besides keys and values. */
export const CARRIED = ['cells', 'asked', 'found'] as const;
/** Names of one layer's keys and values, carried from step to step. */
export const cacheNames = (layer: number) => ({ keys: `keys.${layer}`, values: `values.${layer}` });

/**
 * First half of sampling: reads the scene and gives the logits of the first token [batch, 1, V] (without grammar, which
 * the sampler applies itself), with everything that later tokens need.
 */
export function encodeGraph(config: NetworkConfig, frozen: ReadonlyMap<string, WeightTensor>): Graph {
  const { builder, net } = start('dart-policy-encode', config, frozen);
  const inputs = sceneInputs(builder, config);
  const reply = builder.input('reply', 'int32', ['batch', 1]);
  const scene = readScene(net, inputs);
  const { hidden, caches, words } = think(net, scene, reply);
  builder.output(readout(net, hidden, readoutOf(net, scene, words, reply)), 'logits');
  builder.output(scene.cells, 'cells');
  builder.output(scene.found, 'found');
  builder.output(words, 'asked');
  caches.forEach(({ keys, values }, layer) => {
    builder.output(keys, cacheNames(layer).keys);
    builder.output(values, cacheNames(layer).values);
  });
  return builder.graph;
}

/**
 * Second half: one more token for each request of a batch. Inputs: `token` int32 [batch, 1], `place` int32 [1] (its
 * place in the sequence), `words`, what the encode graph handed over, keys and values so far. Outputs: `logits` [batch, 1, V], keys and
 * values with the token's own added (`next.keys.0`, …).
 */
export function stepGraph(config: NetworkConfig): Graph {
  const { builder, net } = start('dart-policy-step', config);
  const { width, heads, words, wordLength, cellWidth } = config;
  const token = builder.input('token', 'int32', ['batch', 1]);
  const place = builder.input('place', 'int32', [1]);
  const prefix = Int32Array.of(prefixLength(config));
  const startOfReply = builder.constant({ dtype: 'int32', shape: [], data: prefix });
  const from: Readout = {
    cells: builder.input('cells', 'float32', ['batch', gridOf(config).cells, cellWidth]),
    words: builder.input('asked', 'float32', ['batch', words, width]),
    found: builder.input('found', 'float32', ['batch', words, gridOf(config).cells]),
    letterPlaces: gather(net.weight('head.copy.place'), sub(place, startOfReply)),
    targets: copyTargets(net, builder.input('words', 'int32', ['batch', words, WORD_IDENTITY + wordLength])),
  };
  let x = add(gather(tokenTable(net, places(net)), token), gather(net.weight('tokens.position'), place));
  for (let layer = 0; layer < config.layers; layer++) {
    const names = cacheNames(layer);
    const past = (name: string) => builder.input(name, 'float32', ['batch', heads, 'past', width / heads]);
    const normal = selfNorm(net, layer, x);
    const own = keysValues(net, layer, normal);
    const seen = {
      keys: concat([past(names.keys), own.keys], 2),
      values: concat([past(names.values), own.values], 2),
    };
    builder.output(seen.keys, `next.${names.keys}`);
    builder.output(seen.values, `next.${names.values}`);
    x = lookAndThink(net, layer, add(x, selfAttend(net, layer, normal, seen, null)), from.cells);
  }
  builder.output(readout(net, x, from), 'logits');
  return builder.graph;
}
