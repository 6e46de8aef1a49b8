import type { BenchMetric } from '../../stream/bench.ts';
import { medianSeconds } from '../../stream/bench.ts';
import { Random } from '../../stream/random.ts';
import { DEFAULT_CONFIG } from './config.ts';
import { parsePolicyFile, writePolicyFile } from './policy_file.ts';
import type { SampleInput } from './sampler.ts';
import { NetworkSampler } from './sampler.ts';
import type { ReplyInput } from './trainable.ts';
import { TrainableNetwork } from './trainable.ts';
import { encodeReply } from './vocabulary.ts';
import { initialWeights } from './weights.ts';

/** Replies as episodes hold them: mostly clicks, some typing. */
const REPLIES = [
  "click(start_box='(52,36)')",
  "click(start_box='(100,60)')",
  "hotkey(key='ctrl s')",
  "type(content='report\\n')",
  "click(start_box='(12,28)')",
  'finished()',
  "left_double(start_box='(84,44)')",
  "click(start_box='(132,92)')",
].map((action) => `Action: ${action}`);

const random = new Random('bench');
const { width, height } = DEFAULT_CONFIG.screen;
const screen = (): Uint8Array => Uint8Array.from({ length: width * height * 3 }, () => random.int(256));

const bytes = writePolicyFile(DEFAULT_CONFIG, biased());

/** Fresh weights would choose hotkeys, which are many; these click, as trained ones mostly do: two tokens a reply. */
function biased() {
  const weights = initialWeights(DEFAULT_CONFIG, 1);
  weights.get('head.bias')!.data.fill(8, 0, 3);
  return weights;
}

function requests(count: number): SampleInput[] {
  return Array.from({ length: count }, (_, seed) => ({
    rgb: screen(),
    instruction: 'rename the file draft to essay',
    history: REPLIES.slice(0, seed % 4),
    seed,
    temperature: 1,
  }));
}

function lessons(count: number): ReplyInput[] {
  const all = Array.from({ length: count }, (_, i) => ({
    rgb: screen(),
    instruction: 'rename the file draft to essay',
    history: REPLIES.slice(0, i % 4),
    tokens: Int32Array.from(encodeReply(REPLIES[i % REPLIES.length]!)!),
  }));
  return all.sort((a, b) => a.tokens.length - b.tokens.length);
}

async function decisions(threads: number, batch: number): Promise<BenchMetric> {
  const sampler = await NetworkSampler.of(parsePolicyFile(bytes, 'bench'), { threads });
  const asked = requests(batch);
  const seconds = await medianSeconds(() => sampler.sample(asked));
  await sampler.close();
  const name = `policy decisions, ${threads} ${threads === 1 ? 'thread' : 'threads'}, batch ${batch}`;
  return { name, value: batch / seconds, unit: 'decisions/s' };
}

async function training(threads: number): Promise<BenchMetric[]> {
  const network = await TrainableNetwork.of(parsePolicyFile(bytes, 'bench'), { threads });
  const all = lessons(64);
  // As the trainer does it: micro-batches of replies of like length, forward and backward in turn.
  const batches = [0, 16, 32, 48].map((from) => all.slice(from, from + 16));
  const forward = await medianSeconds(async () => {
    for (const batch of batches) await network.forward(batch, { gradient: false });
  });
  const both = await medianSeconds(async () => {
    for (const batch of batches) {
      const logits = await network.forward(batch);
      await network.backward(logits.fill(1e-3));
    }
  });
  await network.close();
  const threaded = `${threads} ${threads === 1 ? 'thread' : 'threads'}`;
  const name = `training, forward and backward, ${threaded}`;
  return [
    { name: `scoring, forward only, ${threaded}`, value: 64 / forward, unit: 'samples/s' },
    { name, value: 64 / both, unit: 'samples/s', against: 'scoring', ratio: forward / both },
  ];
}

/** Decisions a second of the sampler, and samples a second of the trainable network, without optimiser. */
export async function bench(): Promise<BenchMetric[]> {
  const metrics: BenchMetric[] = [];
  for (const threads of [1, 2]) {
    for (const batch of [1, 16]) metrics.push(await decisions(threads, batch));
  }
  for (const threads of [1, 2]) metrics.push(...(await training(threads)));
  return metrics;
}
