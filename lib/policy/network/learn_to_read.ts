import { GraphBuilder } from '../../graph/builder.ts';
import { differentiate, gradientName } from '../../graph/differentiate.ts';
import { Random } from '../../stream/random.ts';
import type { NetworkConfig } from './config.ts';
import { CELL } from './config.ts';
import { encodeWords, WORD_IDENTITY } from './features.ts';
import type { Font, Page } from './pages.ts';
import { drawPage } from './pages.ts';
import { seeLetters, wordScores } from './reading.ts';
import type { Feeds } from './session.ts';
import { loadRuntime, openSession, tensor } from './session.ts';
import { patches } from './vision.ts';
import type { WeightTensor } from './weights.ts';
import { weightSpecs } from './weights.ts';

export interface ReadingOptions {
  seed?: number;
  /** Batches of pages. */
  steps?: number;
  onStep?: (step: number, accuracy: number) => void;
}

const BATCH = 16;
const PAGE_ROWS = 5;
const RATE = 3e-3;
const DEFAULT_STEPS = 600;

/** Scores of words at places, as `wordScores` gives them: the part of the network that reads. */
function readingGraph(config: NetworkConfig) {
  const builder = new GraphBuilder('dart-reading');
  const specs = weightSpecs(config);
  const made = new Map<string, ReturnType<GraphBuilder['input']>>();
  const weight = (name: string) => {
    const value = made.get(name) ?? builder.input(name, 'float32', specs.get(name)!.shape);
    made.set(name, value);
    return value;
  };
  const { width, height } = config.screen;
  const screen = builder.input('screen', 'uint8', ['batch', height, width, 3]);
  const words = builder.input('words', 'int32', ['batch', config.words, WORD_IDENTITY + config.wordLength]);
  const net = { config, weight };
  builder.output(wordScores(net, words, seeLetters(net, patches(net, screen))), 'scores');
  return { graph: builder.graph, names: [...made.keys()] };
}

function feedsOf(config: NetworkConfig, pages: readonly Page[]): Feeds {
  const { width, height } = config.screen;
  const screen = new Uint8Array(pages.length * width * height * 3);
  const wordWidth = WORD_IDENTITY + config.wordLength;
  const words = new Int32Array(pages.length * config.words * wordWidth);
  pages.forEach((page, i) => {
    screen.set(page.rgb, i * width * height * 3);
    page.words.forEach((word, w) => {
      words.set(encodeWords(word, config).subarray(0, wordWidth), (i * config.words + w) * wordWidth);
    });
  });
  return {
    screen: tensor('uint8', screen, [pages.length, height, width, 3]),
    words: tensor('int32', words, [pages.length, config.words, wordWidth]),
  };
}

/** Turns scores into the gradient of the mean cross-entropy of the words' places; gives the share that was right. */
function crossEntropy(scores: Float32Array, pages: readonly Page[], config: NetworkConfig): number {
  const width = scores.length / (pages.length * config.words);
  const total = pages.reduce((sum, page) => sum + page.words.length, 0);
  let right = 0;
  pages.forEach(({ places }, page) => {
    for (let word = 0; word < config.words; word++) {
      const from = (page * config.words + word) * width;
      const row = scores.subarray(from, from + width);
      const place = places[word];
      if (place === undefined) row.fill(0);
      else if (softmaxLess(row, place, total)) right++;
    }
  });
  return right / total;
}

/** `(softmax(row) − one-hot(place)) / total` in place; true where the place had the greatest score. */
function softmaxLess(row: Float32Array, place: number, total: number): boolean {
  let top = Number.NEGATIVE_INFINITY;
  for (let i = 0; i < row.length; i++) if (row[i]! > top) top = row[i]!;
  const right = row[place] === top;
  let mass = 0;
  for (let i = 0; i < row.length; i++) {
    row[i] = Math.exp(row[i]! - top);
    mass += row[i]!;
  }
  for (let i = 0; i < row.length; i++) row[i]! /= mass * total;
  row[place]! -= 1 / total;
  return right;
}

/** Adam (Kingma and Ba 2015, algorithm 1) for a few small tensors. */
class Adam {
  readonly #moments = new Map<string, { first: Float32Array; second: Float32Array }>();
  #step = 0;

  step(weights: ReadonlyMap<string, WeightTensor>, gradients: ReadonlyMap<string, Float32Array>, rate: number): void {
    this.#step++;
    const [fix1, fix2] = [1 - 0.9 ** this.#step, 1 - 0.99 ** this.#step];
    for (const [name, gradient] of gradients) {
      const { data } = weights.get(name)!;
      const moments = this.#moments.get(name) ?? {
        first: new Float32Array(data.length),
        second: new Float32Array(data.length),
      };
      this.#moments.set(name, moments);
      for (let i = 0; i < data.length; i++) {
        const g = gradient[i]!;
        moments.first[i] = 0.9 * moments.first[i]! + 0.1 * g;
        moments.second[i] = 0.99 * moments.second[i]! + 0.01 * g * g;
        data[i]! -= (rate * (moments.first[i]! / fix1)) / (Math.sqrt(moments.second[i]! / fix2) + 1e-8);
      }
    }
  }
}

/**
 * Teaches fresh weights to find words on a screen, in place: pages of random words in a font, some seconds. A policy that
 * starts from it points at names that it has never seen, and what it learns from a task can be about the task. No task,
 * no word of one and no picture of the desktop comes into it, only the alphabet.
 * @returns the share of words that the last batches' pages were read right for
 */
export async function learnToRead(
  whole: NetworkConfig,
  weights: ReadonlyMap<string, WeightTensor>,
  font: Font,
  options: ReadingOptions = {},
): Promise<number> {
  await loadRuntime();
  // Short pages: as many words learned from for a third of the work.
  const config = { ...whole, screen: { ...whole.screen, height: PAGE_ROWS * CELL } };
  const { graph, names } = readingGraph(config);
  const { backward, saved } = differentiate(graph, { of: ['scores'], wrt: names });
  for (const name of saved) graph.outputs.push(graph.values.get(name)!);
  const forward = await openSession(graph, { threads: 1, where: 'reading' });
  const reverse = await openSession(backward, { threads: 1, where: 'reading (backward)' });
  const given: Feeds = Object.fromEntries(
    names.map((name) => [name, tensor('float32', weights.get(name)!.data, weights.get(name)!.shape)]),
  );
  const random = new Random(`reading/${options.seed ?? 0}`);
  const adam = new Adam();
  const steps = options.steps ?? DEFAULT_STEPS;
  let recent = 0;
  for (let step = 1; step <= steps; step++) {
    const pages = Array.from({ length: BATCH }, () => drawPage(config, font, random));
    const feeds = { ...given, ...feedsOf(config, pages) };
    const results = (await forward.run(feeds)) as Feeds;
    const scores = results.scores!;
    const accuracy = crossEntropy(scores.data as Float32Array, pages, config);
    recent += (accuracy - recent) * (step === 1 ? 1 : 0.1);
    const known: Feeds = { ...feeds, ...results, [gradientName('scores')]: scores };
    const gradients = await reverse.run(Object.fromEntries(reverse.inputNames.map((name) => [name, known[name]!])));
    const byName = new Map(names.map((name) => [name, gradients[gradientName(name)]!.data as Float32Array]));
    adam.step(weights, byName, RATE * Math.min(1, step / 20) * (1 - (0.9 * step) / steps));
    options.onStep?.(step, recent);
  }
  await Promise.all([forward.release(), reverse.release()]);
  return recent;
}
