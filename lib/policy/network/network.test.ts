import { describe, expect, it } from 'vitest';
import { Random } from '../../stream/random.ts';
import { DEFAULT_CONFIG, gridOf } from './config.ts';
import { isWholeReply, replyGrammar } from './grammar.ts';
import { parsePolicyFile } from './policy_file.ts';
import type { SampleInput } from './sampler.ts';
import { NetworkSampler } from './sampler.ts';
import { foreignPolicy, randomScreen, SMALL, smallFile } from './small.testing.ts';
import { TOKEN } from './tokens.ts';
import type { ReplyInput } from './trainable.ts';
import { TrainableNetwork } from './trainable.ts';

const random = new Random('network tests');
const HISTORY = ["Action: click(start_box='(4,4)')", "Action: type(content='ab')", 'Action: wait()'];

function requests(count: number, more: Partial<SampleInput> = {}): SampleInput[] {
  return Array.from({ length: count }, (_, seed) => ({
    rgb: randomScreen(random),
    instruction: ['type hello', 'open draft', 'write 7 in cell B2'][seed % 3]!,
    history: HISTORY.slice(0, seed % 4),
    seed,
    temperature: 1,
    ...more,
  }));
}

/** Weights that like to type and not to stop, so that replies of every length come up. */
function talkative() {
  const file = smallFile(5);
  const bias = file.weights.get('head.bias')!.data;
  bias.fill(4, TOKEN.drag, TOKEN.drag + 1);
  bias.fill(5, TOKEN.type, TOKEN.type + 1);
  bias.fill(-5, TOKEN.newline, TOKEN.firstCell);
  return file;
}

const lessonsOf = (asked: SampleInput[], replies: number[][]): ReplyInput[] =>
  asked.map((request, i) => ({ ...request, tokens: Int32Array.from(replies[i]!) }));

function logSumExp(line: Float32Array): number {
  const top = line.reduce((a, b) => Math.max(a, b));
  return top + Math.log(line.reduce((sum, logit) => sum + Math.exp(logit - top), 0));
}

/** Negative log-likelihood of the tokens, and its gradient by the logits if asked for. */
function likelihood(logits: Float32Array, lessons: ReplyInput[], width: number, gradient?: Float32Array): number {
  let loss = 0;
  lessons
    .flatMap(({ tokens }) => [...tokens])
    .forEach((token, row) => {
      const line = logits.subarray(row * width, (row + 1) * width);
      const mass = logSumExp(line);
      loss += mass - line[token]!;
      gradient?.set(
        line.map((logit, i) => Math.exp(logit - mass) - Number(i === token)),
        row * width,
      );
    });
  return loss;
}

describe('sampling', () => {
  it('gives whole replies of the grammar, each with its own text', async () => {
    const sampler = await NetworkSampler.of(talkative());
    const outputs = await sampler.sample(requests(40));
    const grammar = replyGrammar(gridOf(SMALL).cells, SMALL.replyTokens);
    for (const output of outputs) {
      expect(isWholeReply(grammar, output.tokenIds)).toBe(true);
      expect(output.text).toMatch(/^Action: \w+\(.*\)$/);
      expect(output.logprobs.length).toBe(output.tokenIds.length);
      expect(output.finishReason).toBe('stop');
    }
    expect(new Set(outputs.map((output) => output.tokenIds.length)).size).toBeGreaterThan(4);
  });

  it('token by token agrees with the whole graph to 1e-4, log-probabilities and entropies', async () => {
    const asked = requests(30);
    const cached = await (await NetworkSampler.of(talkative())).sample(asked);
    const whole = await (await NetworkSampler.of(talkative(), { whole: true })).sample(asked);
    cached.forEach((output, i) => {
      expect(output.tokenIds).toEqual(whole[i]!.tokenIds);
      output.tokenIds.forEach((_, t) => {
        expect(Math.abs(output.logprobs[t]! - whole[i]!.logprobs[t]!)).toBeLessThan(1e-4);
        expect(Math.abs(output.entropies[t]! - whole[i]!.entropies[t]!)).toBeLessThan(1e-4);
      });
    });
  });

  it('does not depend on who else is in the batch', async () => {
    const sampler = await NetworkSampler.of(talkative());
    const asked = requests(12);
    const together = await sampler.sample(asked);
    const alone = await Promise.all(asked.map((request) => sampler.sample([request])));
    expect(alone.map(([output]) => output!.tokenIds)).toEqual(together.map((output) => output.tokenIds));
  });

  it('is given by the seed; at temperature 0 it is not', async () => {
    const sampler = await NetworkSampler.of(talkative());
    const [request] = requests(1);
    const drawn = await sampler.sample(Array.from({ length: 30 }, (_, seed) => ({ ...request!, seed })));
    expect(new Set(drawn.map((output) => output.text)).size).toBeGreaterThan(5);
    const greedy = await sampler.sample([1, 2, 3].map((seed) => ({ ...request!, seed, temperature: 0 })));
    expect(new Set(greedy.map((output) => output.text)).size).toBe(1);
  });

  it('says where maxTokens cut a reply off, and gives no half action', async () => {
    const outputs = await (await NetworkSampler.of(talkative())).sample(requests(40, { maxTokens: 1 }));
    const cut = outputs.filter((output) => output.finishReason === 'length');
    expect(cut.length).toBeGreaterThan(0);
    for (const output of cut) expect([output.text, output.tokenIds.length]).toEqual(['', 1]);
  });

  it('answers with new weights from the next batch on, and names their version', async () => {
    const sampler = await NetworkSampler.of(smallFile(1));
    const other = smallFile(2);
    const asked = requests(10);
    const before = sampler.sample(asked);
    const values = new Map([...other.weights].map(([name, { data }]) => [name, data]));
    // Frozen weights are not part of a version: another seed's letters stay behind.
    await sampler.setWeights(values, 12);
    const after = await sampler.sample(asked);
    expect((await before).map((output) => output.version)).toEqual(new Array(10).fill(0));
    expect(after.map((output) => output.version)).toEqual(new Array(10).fill(12));
    expect(after.map((output) => output.logprobs)).not.toEqual((await before).map((output) => output.logprobs));
  });

  it('refuses screens of another size and broken weights with a message', async () => {
    const sampler = await NetworkSampler.of(smallFile());
    await expect(sampler.sample([{ ...requests(1)[0]!, rgb: new Uint8Array(12) }])).rejects.toThrow('sees 40x24 RGB');
    const broken = smallFile();
    broken.weights.get('head.norm.gain')!.data.fill(Number.NaN);
    await expect((await NetworkSampler.of(broken)).sample(requests(1))).rejects.toThrow('no finite logit');
  });
});

describe('training', () => {
  it('sees the log-probabilities that the sampler reported', async () => {
    const asked = requests(20);
    const outputs = await (await NetworkSampler.of(talkative())).sample(asked);
    const network = await TrainableNetwork.of(talkative());
    const lessons = lessonsOf(
      asked,
      outputs.map((output) => output.tokenIds),
    );
    const logits = await network.forward(lessons);
    const width = network.vocabulary;
    const targets = outputs.flatMap((output) => output.tokenIds);
    expect(logits.length).toBe(targets.length * width);
    outputs
      .flatMap((output) => output.logprobs)
      .forEach((logprob, row) => {
        const line = logits.subarray(row * width, (row + 1) * width);
        const mass = logSumExp(line);
        expect(Math.abs(line[targets[row]!]! - mass - logprob)).toBeLessThan(1e-4);
      });
  });

  it('has the gradient that finite differences show, for every weight', async () => {
    const lessons = lessonsOf(requests(5), [
      [0, TOKEN.firstCell + 7],
      [TOKEN.drag, TOKEN.firstCell + 14, TOKEN.firstCell],
      [TOKEN.type, TOKEN.firstCharacter + 7, TOKEN.firstCharacter + 4, TOKEN.end],
      [TOKEN.firstHotkey + 3],
      [TOKEN.type, TOKEN.newline],
    ]);
    const network = await TrainableNetwork.of(talkative());
    const logits = await network.forward(lessons);
    const dlogits = new Float32Array(logits.length);
    likelihood(logits, lessons, network.vocabulary, dlogits);
    const gradients = await network.backward(dlogits);
    expect([...gradients.keys()]).toEqual([...network.weights.keys()]);
    for (const [name, gradient] of gradients) {
      const length = Math.hypot(...gradient);
      const start = network.weights.get(name)!.data.slice();
      const along = async (step: number) => {
        network.setWeights(new Map([[name, start.map((value, i) => value + (step * gradient[i]!) / length)]]));
        return likelihood(await network.forward(lessons, { gradient: false }), lessons, network.vocabulary);
      };
      const slope = ((await along(3e-3)) - (await along(-3e-3))) / 6e-3;
      network.setWeights(new Map([[name, start]]));
      expect(Math.abs(slope - length), `${name}: ${slope} against ${length}`).toBeLessThan(0.02 * length + 0.01);
    }
  });

  it('gives the same, whatever the micro-batches, and the same bytes twice', async () => {
    const lessons = lessonsOf(
      requests(7),
      [
        [0, TOKEN.firstCell],
        [TOKEN.type, TOKEN.firstCharacter, TOKEN.end],
      ].flatMap((r) => [r, r, r, r]),
    );
    const run = async (microBatch: number) => {
      const network = await TrainableNetwork.of(talkative(), { microBatch });
      const logits = await network.forward(lessons);
      const dlogits = new Float32Array(logits.length);
      likelihood(logits, lessons, network.vocabulary, dlogits);
      return network.backward(dlogits);
    };
    const [whole, again, cut] = [await run(16), await run(16), await run(3)];
    expect(again).toEqual(whole);
    for (const [name, gradient] of whole) {
      gradient.forEach((value, i) => {
        expect(Math.abs(value - cut.get(name)![i]!)).toBeLessThan(1e-4 * (1 + Math.abs(value)));
      });
    }
  });

  it('leaves the frozen weights out', async () => {
    const network = await TrainableNetwork.of(smallFile());
    expect([...network.weights.keys()].filter((name) => name.startsWith('reading.'))).toEqual([]);
  });

  it('asks for as many gradients as there were logits', async () => {
    const network = await TrainableNetwork.of(smallFile());
    await expect(network.backward(new Float32Array(5))).rejects.toThrow('backward got 5 numbers');
    await expect(network.forward(lessonsOf(requests(1), [[]]))).rejects.toThrow('without tokens');
  });
});

describe('a policy made elsewhere', () => {
  it('whose logits are of another vocabulary is refused', async () => {
    const file = parsePolicyFile(foreignPolicy(5), 'foreign.onnx');
    const asked = { ...requests(1)[0]!, rgb: screen() };
    await expect((await NetworkSampler.of(file)).sample([asked])).rejects.toThrow('rows of 5 logits, not');
    const lessons = [{ ...asked, tokens: Int32Array.of(0) }];
    await expect((await TrainableNetwork.of(file)).forward(lessons)).rejects.toThrow('rows of 5 logits, not');
  });

  const screen = () => randomScreen(random, DEFAULT_CONFIG);

  it('is sampled through its own graph, within the grammar', async () => {
    const sampler = await NetworkSampler.of(parsePolicyFile(foreignPolicy(), 'foreign.onnx'));
    const asked = requests(5).map((request) => ({ ...request, rgb: screen() }));
    for (const output of await sampler.sample(asked)) expect(output.text).toMatch(/^Action: /);
  });

  it('can be trained: its likelihood of a reply goes up along the gradient', async () => {
    const network = await TrainableNetwork.of(parsePolicyFile(foreignPolicy(), 'foreign.onnx'));
    expect([...network.weights.keys()]).toEqual(['colour', 'said']);
    const lessons = [{ rgb: screen(), instruction: 'x', history: [], tokens: Int32Array.of(0, TOKEN.firstCell + 7) }];
    const logits = await network.forward(lessons);
    const dlogits = new Float32Array(logits.length);
    const before = likelihood(logits, lessons, network.vocabulary, dlogits);
    const gradients = await network.backward(dlogits);
    network.setWeights(
      new Map(
        ['said'].map((name) => [name, network.weights.get(name)!.data.map((w, i) => w - gradients.get(name)![i]!)]),
      ),
    );
    expect(likelihood(await network.forward(lessons), lessons, network.vocabulary)).toBeLessThan(before - 0.5);
  });
});
