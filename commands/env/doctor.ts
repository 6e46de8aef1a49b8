import { openOutput } from '../../lib/cli/output.ts';
import type { CommandContext } from '../../lib/cli/spec.ts';
import { printTable } from '../../lib/cli/table.ts';
import { EXIT } from '../../lib/errors.ts';
import { examine, type Finding, type Probe } from './probe.ts';
import { PROBES } from './probes.ts';

/** Prints an event for each part of the machine and a table of them; 1 where a required one is missing. */
export async function run(context: CommandContext, probes: readonly Probe[] = PROBES): Promise<number> {
  const output = await openOutput(context);
  const findings = await Promise.all(probes.map(examine));
  for (const { required, ...finding } of findings) {
    await output.write({ type: 'event', v: 1, event: 'doctor', ...finding, required });
  }
  const missing = findings.filter((finding) => finding.state === 'missing');
  const counts = { ok: findings.length - missing.length, missing: missing.length };
  await output.write({ type: 'summary', v: 1, command: 'dart-env doctor', ...counts });
  await output.close();
  if (context.options.quiet !== true) await printTable(context.io, HEAD, findings.map(rowOf));
  return missing.some((finding) => finding.required) ? EXIT.negative : EXIT.ok;
}

const HEAD = ['part', 'state', 'found', 'needed for', 'how to get it'];

function rowOf(finding: Finding): string[] {
  const hint = finding.state === 'ok' ? '' : finding.hint;
  return [finding.name, finding.state, finding.detail.slice(0, 40), finding.needed_for, hint];
}
