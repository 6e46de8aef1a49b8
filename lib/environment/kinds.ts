import { availableParallelism } from 'node:os';
import { DartError } from '../errors.ts';
import { attachKind } from './attach_kind.ts';
import { dockerKind } from './docker/kind.ts';
import { embeddedKind } from './embedded_kind.ts';
import type { DriverKind, KindOption } from './kind.ts';
import { kubernetesKind } from './kubernetes/kind.ts';
import { xvfbKind } from './xvfb/kind.ts';

/** Every kind of desktop: tables only, so that help and grammar load nothing else. */
export const KINDS: readonly DriverKind[] = [embeddedKind, attachKind, xvfbKind, dockerKind, kubernetesKind];

/** Waits of OSWorld's protocol, in seconds; a kind has its own where none is given. */
const WAITS: readonly KindOption[] = [
  {
    name: 'after-reset',
    type: 'number',
    value: 'S',
    min: 0,
    describe: "Wait after a task's set-up, before the first screenshot",
  },
  { name: 'after-action', type: 'number', value: 'S', min: 0, describe: 'Wait after each action' },
  { name: 'before-evaluate', type: 'number', value: 'S', min: 0, describe: 'Wait before an evaluation' },
];

/** Of desktops that have to boot. */
const BOOTS: readonly KindOption[] = [
  {
    name: 'spares',
    type: 'integer',
    value: 'K',
    default: 0,
    min: 0,
    max: 1000,
    describe: 'Desktops that boot ahead beside those in use, so that no rollout waits for a boot',
  },
  {
    name: 'parallel',
    type: 'integer',
    value: 'N',
    min: 1,
    max: 1000,
    describe: 'How many boot at once (default: one for each core of this machine, 16 under Kubernetes)',
  },
];

/** Options that a kind has beside its own: none where desktops cost nothing; waits and boots where they do. */
export function commonOptions(kind: DriverKind): readonly KindOption[] {
  if (kind.name === 'embedded') return [];
  const common = kind.name === 'attach' ? WAITS : [...WAITS, ...BOOTS];
  // One that it has itself means the same, with its own default.
  return common.filter(({ name }) => !kind.options.some((own) => own.name === name));
}

/** Its own options and the common ones. */
export function optionsOf(kind: DriverKind): readonly KindOption[] {
  return [...kind.options, ...commonOptions(kind)];
}

/** How many desktops of a kind boot at once unless told otherwise: a cluster has more cores than this machine. */
export function startsOf(kind: Pick<DriverKind, 'name'>): number {
  return kind.name === 'kubernetes' ? 16 : availableParallelism();
}

/** @throws DartError for a name that is no kind. */
export function kindNamed(name: string, where: string): DriverKind {
  const kind = KINDS.find((candidate) => candidate.name === name);
  if (kind) return kind;
  throw new DartError(`unknown desktops "${name}"`, {
    where,
    hint: `${KINDS.map((known) => known.name).join(', ')}, as in embedded:4`,
  });
}
