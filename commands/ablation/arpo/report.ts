import { curvesSvg } from '../../../lib/report/curves.ts';
import type { PairedMean } from '../../../lib/report/paired.ts';
import { meanOf, pairedBySeed } from '../compare.ts';
import type { RunRecord } from '../job.ts';
import { change, counted, fixed, gain, IDLE, markdownTable, type Section, share, type Table } from '../report.ts';
import type { Stretch } from '../rollouts.ts';
import { type ArpoArm, COMPARED, SELECTION } from './arms.ts';
import { sumOf } from './correction.ts';
import type { ArpoRun } from './details.ts';
import { type ArpoSettings, CUT, endedEarly } from './pieces.ts';
import { CASE } from './tasks.ts';

const SETS = [
  { name: 'in-domain', head: 'in domain' },
  { name: 'out-of-domain', head: 'out of domain' },
  { name: 'heldout', head: 'held-out' },
] as const;
const PROTOCOLS = ['standard', 'hard'] as const;
const MEASURES = SETS.flatMap(({ name }) => PROTOCOLS.map((protocol) => `${name}-${protocol}`));

/** Success of a run in a measure. */
export const successIn = (run: RunRecord, name: string): number | null =>
  run.measures[`${CUT}/${name}`]?.success ?? null;

/** The section `arpo` of docs/results.md. */
export function arpoSection(settings: ArpoSettings, runs: readonly ArpoRun[], selected: number): Section {
  const curves = stretchesByArm(runs);
  const seeds = new Set(runs.map((run) => run.seed)).size;
  const { trajectories, inDomain, selectRollouts, repeats, sample } = settings;
  const ran = (arms: readonly string[]) => runs.some(({ name }) => arms.includes(name));
  const text = [
    `${counted(runs.length, 'run')}, ${counted(seeds, 'paired seed')}; ${inDomain} tasks are learned from, drawn from the ${selected} that the base policy solves at least once in ${selectRollouts} rollouts. Each arm learns from ${trajectories} rollouts of them: reject sampling, DPO and KTO from the very same of the base policy, GRPO and ARPO from their own. Out of domain are all other training tasks, and the held-out variants. Success over ${repeats} rollouts a task at temperature 1, at most 15 steps; standard counts the last action at the limit as FAIL, hard does not. ARPO’s own figures (arXiv 2505.16282) are of OSWorld tasks.`,
    ...(sample === null ? [] : [`A trial: only ${sample} tasks in each evaluation, drawn by its seed.`]),
    markdownTable(successes(runs)),
    ...notesOf(settings, runs),
    'Gains, paired by seed, with Student’s 95% interval over the seeds (hard protocol):',
    markdownTable(gains(runs)),
    ...(ran(REPLAY)
      ? [
          '### Replay',
          'Mean reward of the rollouts in training. ARPO’s paper has 0.75 with replay and 0.65 without, apart from about step 30 on.',
          markdownTable(stretchTable(curves, REPLAY)),
          ...comparison(runs, REPLAY),
          '![Mean reward with and without replay](results/arpo-replay.svg)',
        ]
      : []),
    ...(runs.some(({ details }) => details.corrections !== null)
      ? [
          '### Self-correction',
          `\`${CASE}\`: one format of a menu is wanted; a wrong one can be undone. *Came back*: rollouts that returned to a screen that they had left. In the paper’s case, a subscript, success went from 25% to 62.5%.`,
          markdownTable(corrections(runs)),
        ]
      : []),
    ...(ran(SELECTED)
      ? [
          '### Task selection',
          'The same number of rollouts of the selected tasks, and of all. The paper’s selected tasks learn faster and keep a higher spread of rewards within groups.',
          markdownTable(stretchTable(curves, SELECTED)),
          ...comparison(runs, SELECTED),
          markdownTable(selection(runs)),
          '![Spread of rewards within groups](results/arpo-selection.svg)',
        ]
      : []),
  ].join('\n\n');
  const pictures = {
    ...(ran(REPLAY) && {
      'arpo-replay.svg': picture('Mean reward of the rollouts', curves, REPLAY, ({ reward }) => reward),
    }),
    ...(ran(SELECTED) && {
      'arpo-selection.svg': picture(
        'Standard deviation of the rewards within groups',
        curves,
        SELECTED,
        ({ spread }) => spread,
      ),
    }),
  };
  return { name: 'arpo', text, pictures };
}

/** Arms whose curves stand beside each other: what is compared, and with what. */
const REPLAY = ['arpo', 'grpo'] as const;
const SELECTED = ['selected', 'all'] as const;

const labelOf = (arm: string) => [...COMPARED, ...SELECTION].find(({ name }) => name === arm)!.label;

/** The name of an arm in a table, marked where one of its runs has not learned. */
function nameOf({ label }: ArpoArm, own: readonly ArpoRun[]): string {
  return own.some(({ details }) => details.updates === 0) ? `${label} ${IDLE}` : label;
}

/** What the table of successes does not show: arms without a run, and runs that did not learn. */
function notesOf(settings: ArpoSettings, runs: readonly ArpoRun[]): string[] {
  const arms = [...COMPARED, ...SELECTION];
  const early = runs
    .filter((run) => endedEarly(settings, run))
    .map(({ name, seed }) => `“${labelOf(name)}”, seed ${seed}`);
  const missing = arms.filter(({ name }) => !runs.some((run) => run.name === name)).map(({ label }) => `“${label}”`);
  const idle = arms.flatMap(({ name, label }) =>
    runs.filter((run) => run.name === name && run.details.updates === 0).map(({ seed }) => `“${label}”, seed ${seed}`),
  );
  return [
    ...(idle.length > 0
      ? [`${IDLE} Not one update: ${idle.join('; ')}. What was measured is the policy that it began with.`]
      : []),
    ...(early.length > 0
      ? [`Ended by their limit of seconds before they had learned from all rollouts: ${early.join('; ')}.`]
      : []),
    ...(missing.length > 0 ? [`Arms that were not run: ${missing.join(', ')}.`] : []),
  ];
}

function successes(runs: readonly ArpoRun[]): Table {
  const paper = (value: number | undefined) => (value === undefined ? null : `${value}%`);
  return {
    head: [
      ...['', 'ARPO’s paper: in / out of domain', 'OSWorld standard / hard', 'offline comparison', 'seeds'],
      ...SETS.flatMap(({ head }) => [`${head}: standard`, 'hard']),
    ],
    rows: present(COMPARED, runs).map(({ arm, own }) => [
      nameOf(arm, own),
      `${paper(arm.paper.inDomain) ?? '–'} / ${paper(arm.paper.outOfDomain) ?? '–'}`,
      `${paper(arm.paper.standard) ?? '–'} / ${paper(arm.paper.hard) ?? '–'}`,
      paper(arm.paper.offline),
      own.length,
      ...MEASURES.map((name) => share(meanOf(own.map((run) => successIn(run, name))))),
    ]),
  };
}

function gains(runs: readonly RunRecord[]): Table {
  const row = (arm: string, other: string): (string | null)[] => [
    `${labelOf(arm)} over ${labelOf(other)}`,
    ...SETS.map(({ name }) => gain(pairOf(runs, arm, other, (run) => successIn(run, `${name}-hard`)))),
  ];
  const arms = present(COMPARED, runs).map(({ arm }) => arm.name);
  const rows = arms.filter((name) => name !== 'base').map((name) => row(name, 'base'));
  return {
    head: ['', ...SETS.map(({ head }) => head)],
    rows: arms.includes('arpo') ? [...rows, row(...REPLAY)] : rows,
  };
}

/** Differences of a figure between the runs of two arms, paired by seed; null where no seed has both. */
function pairOf<R extends RunRecord>(
  runs: readonly R[],
  arm: string,
  other: string,
  figure: (run: R) => number | null,
): PairedMean | null {
  const own = runs.filter(({ name }) => name === arm);
  return pairedBySeed(own, runs, other, figure);
}

/** How the rollouts of two arms differ in training, over all of it and over its second half; nothing of one alone. */
function comparison(runs: readonly ArpoRun[], [arm, other]: readonly [string, string]): string[] {
  const parts = { 'the whole training': 0, 'its second half': 0.5 };
  const rows = Object.entries(parts).map(([part, from]) => [
    part,
    ...FIGURES.map(({ figure }) =>
      change(
        pairOf(runs, arm, other, ({ details: { stretches } }) =>
          meanOf(stretches.slice(Math.floor(from * stretches.length)).map(figure)),
        ),
      ),
    ),
  ]);
  if (rows.every((cells) => cells.slice(1).every((cell) => cell === null))) return [];
  return [
    markdownTable({ head: [`${labelOf(arm)} over ${labelOf(other)}`, ...FIGURES.map(({ head }) => head)], rows }),
  ];
}

/** What the rollouts of a training are looked at for. */
const FIGURES = [
  { head: 'reward', figure: ({ reward }: Stretch) => reward },
  { head: 'spread in groups', figure: ({ spread }: Stretch) => spread },
  { head: 'groups that vary', figure: ({ varied }: Stretch) => varied },
] as const;

function corrections(runs: readonly ArpoRun[]): Table {
  const rows: (string | null)[][] = [];
  for (const { arm, own } of present(COMPARED, runs)) {
    const parts = own.map(({ details }) => details.corrections).filter((part) => part !== null);
    if (parts.length === 0) continue;
    const { rollouts, successes: solved, returned, corrected } = sumOf(parts);
    const of = (count: number, all: number) => (all > 0 ? `${share(count / all, 0)} (${count} of ${all})` : null);
    const rate = ({ details }: ArpoRun) =>
      details.corrections === null ? null : details.corrections.successes / details.corrections.rollouts;
    const over = arm.name === 'base' ? null : gain(pairedBySeed(own, runs, 'base', rate));
    rows.push([arm.label, of(solved, rollouts), over, of(returned, rollouts), of(corrected, returned)]);
  }
  return { head: ['', 'success', 'over the base', 'came back', 'success where it came back'], rows };
}

function selection(runs: readonly ArpoRun[]): Table {
  const sets = ['all', 'heldout'];
  const rows = present(SELECTION, runs).map(({ arm, own }) => [
    nameOf(arm, own),
    own.length,
    ...sets.map((name) => share(meanOf(own.map((run) => successIn(run, name))))),
  ]);
  const gains = sets.map((name) => gain(pairOf(runs, ...SELECTED, (run) => successIn(run, name))));
  return {
    head: ['', 'seeds', 'success on all training tasks', 'held-out'],
    rows: gains.every((cell) => cell === null) ? rows : [...rows, ['the first over the second', null, ...gains]],
  };
}

function present<R extends RunRecord>(arms: readonly ArpoArm[], runs: readonly R[]) {
  return arms
    .map((arm) => ({ arm, own: runs.filter((run) => run.name === arm.name) }))
    .filter(({ own }) => own.length > 0);
}

type Curves = Map<string, Stretch[][]>;

function stretchesByArm(runs: readonly ArpoRun[]): Curves {
  const curves: Curves = new Map();
  for (const { name, details } of runs) {
    if (details.stretches.length > 0) curves.set(name, [...(curves.get(name) ?? []), details.stretches]);
  }
  return curves;
}

/** The mean of a figure over the seeds, stretch by stretch. */
function meanCurve(seeds: readonly Stretch[][], figure: (stretch: Stretch) => number | null) {
  const longest = Math.max(0, ...seeds.map((stretches) => stretches.length));
  return Array.from({ length: longest }, (_, index) => {
    const there = seeds.flatMap((stretches) => stretches[index] ?? []);
    return { rollouts: there[0]!.rollouts, value: meanOf(there.map(figure)) };
  });
}

function stretchTable(curves: Curves, names: readonly string[]): Table {
  const columns = names.flatMap((name) => {
    const seeds = curves.get(name) ?? [];
    return FIGURES.map(({ head, figure }, index) => ({
      head: index === 0 ? `${labelOf(name)}, ${head}` : head,
      curve: meanCurve(seeds, figure),
    }));
  });
  const longest = columns.reduce((most, { curve }) => (curve.length > most.length ? curve : most), columns[0]!.curve);
  return {
    head: ['rollouts', ...columns.map(({ head }) => head)],
    rows: longest.map(({ rollouts }, index) => [
      rollouts,
      ...columns.map(({ curve }) => fixed(curve[index]?.value, 2)),
    ]),
  };
}

function picture(
  title: string,
  curves: Curves,
  names: readonly string[],
  figure: (stretch: Stretch) => number | null,
): string {
  return curvesSvg({
    title,
    x: 'rollouts',
    y: '',
    curves: names.map((name) => ({
      name: labelOf(name),
      points: meanCurve(curves.get(name) ?? [], figure).flatMap(({ rollouts, value }) =>
        value === null ? [] : [{ x: rollouts, y: value }],
      ),
    })),
  });
}
