import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import { checkTrainable } from '../../lib/policy/network/trainable.ts';
import type { BlobStore } from '../../lib/stream/blobs.ts';
import { policyInFolder, preparePolicy } from '../../lib/training/folder.ts';
import { FrameCache } from '../../lib/training/frames.ts';
import { LocalEngine } from '../../lib/training/local_engine.ts';
import { NetworkModel } from '../../lib/training/network_model.ts';
import { needsReference, type Objective } from '../../lib/training/presets.ts';
import { chooseMachine } from './device.ts';
import type { ChosenEngine } from './engine.ts';
import { localSettings, textOf } from './settings.ts';
import { startingPolicy } from './source.ts';
import { TORCH_OPTIONS } from './torch_options.ts';

/**
 * The engine of this process, for policies that are ONNX graphs.
 * @param dir The folder that is published into, which need not be there.
 * @throws DartError for a policy that cannot be trained and for options of the other engine.
 */
export function chooseOnnx(
  context: CommandContext,
  { dir, blobs, objective }: { dir: string; blobs: BlobStore; objective: Objective },
): ChosenEngine {
  const { options } = context;
  const source = startingPolicy(context, dir);
  refuseTorchOptions(options);
  const { device, threads, text } = chooseMachine(context);
  const settings = localSettings(options, device);
  if (source === null) checkFolder(dir);
  const strict = textOf(options, 'init-from') === null;
  return {
    settings,
    text,
    async open(place) {
      const { path, sha256 } = await preparePolicy(place.dir, source, strict);
      const open = () => NetworkModel.open(path, { threads, microBatch: settings.microBatch });
      const model = await open();
      // One that stays as it is, where the loss needs it.
      const reference = needsReference(objective) ? await open() : null;
      const around = { frames: new FrameCache(blobs), reference };
      return { engine: new LocalEngine(model, { ...settings, objective }, around), baseSha256: sha256 };
    },
  };
}

/** The policy of the folder, which a run would go on from, can be trained. */
function checkFolder(dir: string): void {
  const { bytes, path } = policyInFolder(dir);
  checkTrainable(bytes, path);
}

/** Those that other commands have too, and that their variables may set. */
const SHARED: ReadonlySet<string> = new Set(['engine', 'python', 'coordinates', 'start-timeout']);

/** What would be passed over in silence is refused. */
function refuseTorchOptions(options: CommandContext['options']): void {
  const given = TORCH_OPTIONS.find(({ name, default: usual }) => !SHARED.has(name) && options[name] !== usual);
  if (!given) return;
  throw new DartError('this is an option of the torch engine', {
    where: `--${given.name}`,
    hint: '--engine torch, or --policy hf:DIR',
  });
}
