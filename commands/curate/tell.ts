import { logOf } from '../../lib/cli/log.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import type { CurationOptions } from '../../lib/curation/options.ts';
import type { Shelf } from '../../lib/curation/shelf.ts';
import type { Tally } from '../../lib/curation/tally.ts';
import { EXIT } from '../../lib/errors.ts';
import { withoutPassword } from '../../lib/store/index.ts';
import type { AnyRecord } from '../../lib/stream/records.ts';

/**
 * That there was nothing to curate, and what came instead.
 * @param command with its subcommand.
 */
export function noTrajectory(passed: Readonly<Record<string, number>>, command: string): string {
  const others = Object.entries(passed).filter(([type]) => type !== 'trajectory');
  const list = others.map(([type, number]) => `${number} ${type} records`).join(', ');
  return `no trajectory record came${list && `; ${list} passed`}. Try: dart-rollout … | ${command}`;
}

/** That screenshots of trajectories are not in `--blobs`, so that they were left out; of all of them it is a mistake. */
export function tellOfMissing(context: CommandContext, missing: number, trajectories: number): void {
  const folder = String(context.options.blobs);
  const which =
    missing === trajectories
      ? `all ${trajectories} trajectories were`
      : `${missing} of ${trajectories} trajectories were`;
  logOf(context).warn(
    `${which} left out: their screenshots are not in ${folder}. Try: the --blobs folder that the rollouts wrote to`,
  );
}

/** A `sampler_bias` event in words. */
export function describeWarning({ run_id, policy, settings }: AnyRecord): string {
  return `run ${run_id}, policy ${policy}: sampled with ${(settings as string[]).join(', ')}, so its log-probabilities are not the policy's and bias importance weights. Try: top_p 1, no top_k, no penalties`;
}

/** That memory was not enough for the open groups. */
export function tellOfShelf(context: CommandContext, { seen }: Shelf): void {
  if (seen.spilled === 0) return;
  const megabytes = Math.ceil(seen.spilled / 1e6);
  const advice = 'Try: --hold-memory, or rollouts that finish one group before the next';
  logOf(context).info(`${megabytes} MB of unfinished groups were in temporary files meanwhile. ${advice}`);
}

/** Rows of `--table`: outcome, reason, count. */
export function tableOf(tally: Tally): [string, string, number][] {
  const leftOut = (what: string, counts: Readonly<Record<string, number>>) =>
    Object.entries(counts).map(([reason, n]): [string, string, number] => [what, reason, n]);
  return [
    ['groups handed on', '', tally.groups],
    ['of them with a stored success', '', tally.injected],
    ...leftOut('group left out', tally.rejectedGroups),
    ...leftOut('trajectory left out', tally.rejectedTrajectories),
  ];
}

/** What `--dry-run` says. */
export function tellPlan(context: CommandContext, rules: CurationOptions): number {
  const { positionals, options } = context;
  const files = positionals.length === 0 ? 'standard input' : positionals.join(', ');
  const from = options['from-store'] === true ? 'what the store holds' : files;
  const since = options.cursor === undefined ? '' : ` from where ${options.cursor} ended`;
  const keep =
    options.store === undefined ? 'nothing is stored' : `stored in ${withoutPassword(String(options.store))}`;
  logOf(context).info(
    `would curate ${from}${since}, ${keep}: pool ${rules.pool}, staleness up to ${rules.maxStaleness}, advantage ${rules.advantage} per ${rules.advantageScope}`,
  );
  return EXIT.ok;
}
