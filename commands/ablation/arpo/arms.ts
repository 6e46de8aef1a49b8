/** What ARPO (arXiv 2505.16282) reports of an arm, in percent. */
export interface PaperFigures {
  /** The 32 in-domain tasks, and the others. */
  inDomain?: number;
  outOfDomain?: number;
  /** OSWorld, both protocols. */
  standard?: number;
  hard?: number;
  /** The comparison with methods that learn from stored rollouts. */
  offline?: number;
}

export interface ArpoArm {
  name: string;
  label: string;
  /** Learns while it samples; or from the shared rollouts of the base policy; or not at all. */
  kind: 'online' | 'offline' | 'none';
  /** Tasks that it learns from: the 32, all that were selected, or every training task. */
  tasks: 'in-domain' | 'selected' | 'all';
  curate: readonly string[];
  train: readonly string[];
  /** About how long it learns from a stored rollout, on two cores; 0 where it learns from none. */
  secondsAStoredRollout: number;
  paper: PaperFigures;
}

/** Both sample alike and differ in the replay buffer alone. */
const TRAIN = ['--preset', 'arpo', '--lr', '3e-4'] as const;
const ONLINE = { kind: 'online', train: TRAIN, secondsAStoredRollout: 0 } as const;
const REPLAY = ['--preset', 'arpo'] as const;

/** Passes over the stored rollouts; what a method makes of them first is `curate`, a subcommand with its options. */
const PASSES = ['--epochs', '2'] as const;

/** The comparison: every arm begins with the same policy. */
export const COMPARED: readonly ArpoArm[] = [
  {
    name: 'base',
    label: 'base',
    kind: 'none',
    tasks: 'in-domain',
    curate: [],
    train: [],
    secondsAStoredRollout: 0,
    paper: { inDomain: 43.8, outOfDomain: 55.2, standard: 23.5, hard: 18.2 },
  },
  {
    name: 'reject-sampling',
    label: 'reject sampling',
    kind: 'offline',
    tasks: 'in-domain',
    curate: ['demos'],
    train: ['--objective', 'sft', '--lr', '3e-4', ...PASSES],
    secondsAStoredRollout: 0.02,
    paper: { offline: 21.8 },
  },
  {
    name: 'dpo',
    label: 'DPO',
    kind: 'offline',
    tasks: 'in-domain',
    curate: ['pairs', '--for', 'dpo', '--pairs', '32'],
    train: ['--objective', 'dpo', ...PASSES],
    secondsAStoredRollout: 0.05,
    paper: { offline: 22.4 },
  },
  {
    name: 'kto',
    label: 'KTO',
    kind: 'offline',
    tasks: 'in-domain',
    curate: ['pairs', '--for', 'kto'],
    // Failures are about twice as many and a little more; KTO wants successes to weigh 1 to 1.33 times as much in all
    // (arXiv 2402.01306).
    train: ['--objective', 'kto', '--desirable-weight', '2.5', ...PASSES],
    secondsAStoredRollout: 0.09,
    paper: { offline: 24.6 },
  },
  {
    name: 'grpo',
    label: 'GRPO',
    tasks: 'in-domain',
    curate: [...REPLAY, '--no-pool'],
    ...ONLINE,
    paper: { inDomain: 68.8, outOfDomain: 52.08, standard: 26, hard: 20.9, offline: 26 },
  },
  {
    name: 'arpo',
    label: 'ARPO: with replay',
    tasks: 'in-domain',
    curate: REPLAY,
    ...ONLINE,
    paper: { inDomain: 81.25, outOfDomain: 56.3, standard: 29.9, hard: 23.8, offline: 27.3 },
  },
];

/** Task selection: the same number of rollouts of the selected tasks, or of all. */
export const SELECTION: readonly ArpoArm[] = [
  { name: 'selected', label: 'ARPO on the selected tasks', tasks: 'selected', curate: REPLAY, ...ONLINE, paper: {} },
  { name: 'all', label: 'ARPO on all tasks', tasks: 'all', curate: REPLAY, ...ONLINE, paper: {} },
];
