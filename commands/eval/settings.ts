import type { CommandContext } from '../../lib/cli/spec.ts';
import { DartError } from '../../lib/errors.ts';
import type { Fidelity } from '../../lib/osworld/context.ts';
import { type ProtocolName, refuseSubstitution } from '../../lib/osworld/protocol.ts';
import type { SessionOptions } from '../../lib/rollout/session.ts';
import type { Task } from '../../lib/stream/records.ts';
import { assetSettings } from '../assets.ts';
import { serverSettings } from '../server_settings.ts';
import { policyIdentity } from './identity.ts';
import type { Terms } from './journal.ts';

const AGAIN_WITH_FILE = 'start the servers again, and this evaluation with the same --resume';
const AGAIN = 'start the servers again, and the evaluation; with --resume FILE it would go on where it ended';

/** An evaluation is a session of rollouts without curation: fixed number, fixed length, one version throughout. */
export function sessionSettings(
  context: CommandContext,
  tasks: Task[],
): Omit<SessionOptions, 'environments' | 'stopping' | 'write' | 'notes' | 'blobs'> {
  const { options } = context;
  const { maxSteps, temperature, seed, failAtLimit } = conditionsOf(context);
  if (typeof options.policy !== 'string') {
    throw new DartError('no policy', { where: '--policy', hint: '--policy onnx:fixtures/policies/base.onnx' });
  }
  const fidelity: Fidelity = options.protocol === 'strict' ? 'strict' : 'verified';
  refuseSubstitution(options.protocol as ProtocolName, failAtLimit);
  return {
    runId: 'evaluation',
    tasks,
    policy: options.policy,
    workers: options.workers as number,
    servers: { ...serverSettings(context), update: 'off' },
    whenNoneLeft: options.resume === undefined ? AGAIN : AGAIN_WITH_FILE,
    rollouts: options.repeats as number,
    follow: false,
    mode: 'async',
    batchGroups: 1,
    versionWaitMs: 0,
    sync: 'one',
    syncIntervalMs: 1000,
    seed,
    evaluation: true,
    dynamicRollouts: false,
    dynamicLength: false,
    limits: { minSteps: maxSteps, maxSteps, slack: 0 },
    successWindow: 1,
    sampling: { temperature },
    onParseError: 'observe',
    failAtLimit,
    fidelity,
    ...assetSettings(context),
    store: null,
  };
}

/** What rollouts of an evaluation must have in common. @throws DartError for a policy whose file cannot be read. */
export async function termsOf(context: CommandContext): Promise<Terms> {
  return { ...conditionsOf(context), policy: await policyIdentity(String(context.options.policy)) };
}

function conditionsOf({ options }: CommandContext): Omit<Terms, 'policy'> {
  return {
    maxSteps: options['max-steps'] as number,
    temperature: options.temperature as number,
    seed: (options.seed as number | undefined) ?? 0,
    protocol: String(options.protocol),
    failAtLimit: options['fail-at-limit'] === true,
  };
}
