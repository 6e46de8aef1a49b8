import { join } from 'node:path';
import { resolvePath } from '../../lib/cli/input.ts';
import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import type { Coordinates } from '../../lib/policy/policy.ts';
import type { BlobStore } from '../../lib/stream/blobs.ts';
import { counted } from '../../lib/stream/counted.ts';
import { needsReference, type Objective } from '../../lib/training/presets.ts';
import { TorchEngine, type TorchOpened } from '../../lib/training/torch/engine.ts';
import { planTorchPolicy, readTorchPolicy, writeTorchPolicy } from '../../lib/training/torch/policy_file.ts';
import { checkPython } from '../../lib/training/torch/python.ts';
import type {
  LaunchSettings,
  LoraSettings,
  ReferencePolicy,
  TorchModelSettings,
  TorchSettings,
} from '../../lib/training/torch/settings.ts';
import { versionFolder } from '../../lib/training/versions.ts';
import type { ChosenEngine } from './engine.ts';
import { adamSettings, numberOf, textOf } from './settings.ts';
import { isSame, newestOf, noPolicySpec } from './source.ts';

type Options = CommandContext['options'];

/**
 * The engine of PyTorch, for Hugging Face checkpoints.
 * @param dir The folder that is published into, which need not be there.
 * @throws DartError for a checkpoint that is not whole, a folder of another run, a Python without the packages.
 */
export async function chooseTorch(
  context: CommandContext,
  { dir, blobs, objective }: { dir: string; blobs: BlobStore; objective: Objective },
): Promise<ChosenEngine> {
  const { options, io } = context;
  refuseOnnxOptions(options);
  const settings = torchSettings(context, objective);
  const { lora } = settings.model;
  const base = planTorchPolicy(dir, basePath(context, dir), lora);
  const auto = settings.launch.nproc === AUTO;
  const wanted = { peft: lora !== null, gpus: auto && options['dry-run'] !== true };
  const { text, gpus } = await checkPython(settings.launch.python, io.env, wanted);
  if (auto && gpus !== null) settings.launch.nproc = String(Math.max(1, gpus));
  const log = logOf(context);
  return {
    settings: { kind: 'torch', base: base.path, ...settings },
    text: `torch engine: ${text}`,
    keepStates: numberOf(options, 'keep-states')!,
    async open({ signal, progress }) {
      const paths = { checkpoint: base.path, blobs: blobs.dir, scratch: join(dir, '.torch') };
      const place = { ...paths, env: io.env, log, signal, onProgress: progress };
      const engine = await TorchEngine.open({ settings, objective, place });
      log.info(describe(engine.opened));
      try {
        await writeTorchPolicy(dir, base, lora);
      } catch (error) {
        await engine.close();
        throw error;
      }
      return { engine, baseSha256: base.sha256 };
    },
  };
}

/** Stands for one process a GPU until the GPUs are counted. */
const AUTO = 'auto';

/** What the options ask of the torch engine. */
export function torchSettings({ options, io }: CommandContext, objective: Objective): TorchSettings {
  return {
    model: modelSettings(options, objective),
    launch: launchSettings(options, io),
    adam: adamSettings(options),
    aggregationConstant: numberOf(options, 'aggregation-constant'),
    coordinates: options.coordinates as Coordinates,
    seed: numberOf(options, 'seed') ?? 0,
  };
}

function modelSettings(options: Options, objective: Objective): TorchModelSettings {
  const lora = loraSettings(options);
  return {
    dtype: options.dtype as TorchModelSettings['dtype'],
    lora,
    freezeVision: options['freeze-vision'] === true,
    gradientCheckpointing: options['gradient-checkpointing'] === true,
    reference: referenceOf(options, objective, lora),
    attention: options.attention as TorchModelSettings['attention'],
    packed: options.packed === true,
    microTokens: numberOf(options, 'micro-tokens')!,
    headChunk: numberOf(options, 'head-chunk')!,
    maxLength: numberOf(options, 'max-length')!,
    offload: options.offload === true,
    minPixels: numberOf(options, 'min-pixels'),
    maxPixels: numberOf(options, 'max-pixels'),
  };
}

function loraSettings(options: Options): LoraSettings | null {
  const rank = numberOf(options, 'lora') ?? 0;
  if (rank === 0) return null;
  const named = textOf(options, 'lora-targets') ?? 'all-linear';
  const targets = named === 'all-linear' ? named : named.split(',').map((name) => name.trim());
  return { rank, alpha: numberOf(options, 'lora-alpha')!, dropout: numberOf(options, 'lora-dropout')!, targets };
}

function referenceOf(options: Options, objective: Objective, lora: LoraSettings | null): ReferencePolicy {
  const given = textOf(options, 'reference') as ReferencePolicy | null;
  const refuse = (message: string, hint: string) => new DartError(message, { where: '--reference', hint });
  if (given === 'lora-off' && !lora) throw refuse('there are no adapters to switch off', '--lora RANK, or copy');
  if (!needsReference(objective)) return 'none';
  if (given === 'none') throw refuse('the loss compares with a reference policy', '--kl-beta 0 where it has that term');
  return given ?? (lora ? 'lora-off' : 'copy');
}

function launchSettings(options: Options, io: CommandContext['io']): LaunchSettings {
  const python = textOf(options, 'python') ?? 'python3';
  const nproc = textOf(options, 'nproc') ?? AUTO;
  if (nproc !== AUTO && nproc !== 'gpu' && !/^[1-9]\d{0,2}$/.test(nproc)) {
    throw new DartError(`'${nproc}' is no number of processes`, {
      where: '--nproc',
      hint: 'a number from 1 to 999, or gpu',
    });
  }
  const nnodes = numberOf(options, 'nnodes') ?? 1;
  const rendezvous = textOf(options, 'rdzv-endpoint');
  if (nnodes > 1 && !/^[^\s:]+:\d+$/.test(rendezvous ?? '')) {
    throw new DartError('several machines need a place to meet', {
      where: '--rdzv-endpoint',
      hint: '--rdzv-endpoint HOST:PORT, the name of this machine as the others know it',
    });
  }
  return {
    // A name is looked for on PATH, a path is one from here.
    python: python.includes('/') ? resolvePath(io, python) : python,
    nproc,
    nnodes,
    rendezvous,
    threads: numberOf(options, 'threads') ?? 1,
    startTimeoutMs: (numberOf(options, 'start-timeout') ?? 600) * 1000,
  };
}

/** The checkpoint that `--policy` names, null where the folder's run goes on; a published folder is its newest version. */
function basePath(context: CommandContext, publish: string): string | null {
  const { options, io } = context;
  const spec = textOf(options, 'policy');
  if (spec === null) return null;
  if (spec.startsWith('onnx:')) {
    throw new DartError('an ONNX policy is not for the torch engine', { where: '--policy', hint: '--engine onnx' });
  }
  if (!spec.startsWith('hf:') || spec.length === 3) throw noPolicySpec(spec, io);
  const path = resolvePath(io, spec.slice(3));
  const published = readTorchPolicy(path);
  if (!published) return path;
  if (isSame(path, publish)) return null;
  const version = newestOf(path, (line) => logOf(context).warn(line));
  if (version === null) return published.base;
  if (!published.lora) return versionFolder(path, version);
  throw new DartError('the versions of this folder are LoRA adapters, not checkpoints', {
    where: path,
    hint: `the checkpoint that they belong to: --policy hf:${published.base}; or merge them first (PEFT)`,
  });
}

/** What would be passed over in silence is refused. */
function refuseOnnxOptions(options: Options): void {
  if (textOf(options, 'init-from') !== null) {
    throw new DartError('the torch engine starts with the checkpoint itself', {
      where: '--init-from',
      hint: '--policy hf:DIR',
    });
  }
  if (options.device === 'auto' || options.device === 'cuda' || options.device === undefined) return;
  throw new DartError('the torch engine takes the GPUs that there are', {
    where: '--device',
    hint: 'CUDA_VISIBLE_DEVICES=0,1, or an empty one for the CPU',
  });
}

function describe({ world_size, device, backend, dtype, parameters, trainable, memory_bytes }: TorchOpened): string {
  const count = (n: number) => (n >= 1e6 ? `${(n / 1e6).toFixed(1)} million` : String(n));
  const ranks = counted(world_size, 'rank');
  const memory = memory_bytes ? `, ${(memory_bytes / 2 ** 30).toFixed(1)} GiB a rank` : '';
  return `${ranks} on ${device} (${backend}), ${dtype}: ${count(parameters)} weights, ${count(trainable)} of them trained${memory}`;
}
