import type { Step, Trajectory } from '../../stream/records.ts';
import { type Fact, outcomeWords, rewardWords, trajectoryFacts } from './facts.ts';
import { type Html, html } from './html.ts';
import type { Screens } from './screens.ts';
import { stepSection } from './step_html.ts';
import { binOf, stepValue, type TokenTexts } from './tokens.ts';
import { actionWords } from './words.ts';

/** Nats at which the bar of the step list is full. */
const FULL_BAR = 3;

export interface TrajectoryParts {
  trajectory: Trajectory;
  /** `t1`. */
  id: string;
  screens: Screens;
  spell?: (trajectory: Trajectory) => TokenTexts | undefined;
}

/** One trajectory as parts of a page: its head, the list of its steps, the steps. */
export async function* trajectoryArticle({ trajectory, id, screens, spell }: TrajectoryParts): AsyncGenerator<Html> {
  const { steps, outcome } = trajectory;
  const facts = trajectoryFacts(trajectory);
  yield html`<article class="trajectory" id="${id}" data-title="${trajectory.task_id}">
<header><h2>${trajectory.instruction}</h2>
<p class="badges">${outcomeBadge(trajectory)}<span class="badge">${trajectory.domain}</span></p>
${trajectory.error !== undefined && html`<p class="problem"><strong>${outcome}:</strong> ${trajectory.error}</p>`}
<details><summary>${trajectory.task_id}: ${brief(facts)}</summary>${factTable(facts)}</details></header>
<div class="body">${stepList(steps, id)}<div class="steps">
`;
  if (steps.length === 0) yield html`<p class="quiet">No step was taken.</p>`;
  const texts = spell?.(trajectory);
  for (const [index, step] of steps.entries()) {
    const screen = await screens.show(step.observation.screenshot);
    yield stepSection({ step, id: `${id}s${index}`, screen, total: steps.length, spell: texts });
  }
  yield html`</div></div></article>
`;
}

/** The outcome as a coloured word with the reward; `brief` for tables. */
export function outcomeBadge({ outcome, reward }: Pick<Trajectory, 'outcome' | 'reward'>, brief = false): Html {
  const kind = outcome === 'success' ? 'good' : outcome.endsWith('_error') ? 'error' : 'bad';
  const short = reward === null ? outcome : `${outcome} ${rewardWords(reward)}`;
  return html`<span class="badge ${kind}">${brief ? short : outcomeWords({ outcome, reward })}</span>`;
}

/** The closed `details` say what one looks for first. */
function brief(facts: readonly Fact[]): string {
  const wanted = ['policy', 'steps', 'time'];
  return facts
    .filter(([name]) => wanted.includes(name))
    .map(([name, text]) => (name === 'steps' ? `${text} steps` : text))
    .join(' · ');
}

function factTable(facts: readonly Fact[]): Html {
  return html`<dl class="facts">${facts.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>`;
}

function stepList(steps: readonly Step[], id: string): Html {
  const items = steps.map(
    (step, index) => html`<li><a href="#${id}s${index}">
<span class="n">${step.index + 1}</span> <span class="what">${stepWords(step)}</span>${entropyBar(step)}</a></li>`,
  );
  return html`<nav class="list" aria-label="steps"><ol>${items}</ol></nav>`;
}

function stepWords(step: Step): Html {
  if (step.parse_error !== undefined) return html`<span class="unread">could not be read</span>`;
  return html`${step.actions.map((action) => actionWords(action)).join(', ') || 'nothing'}`;
}

function entropyBar(step: Step): Html | null {
  const value = stepValue(step);
  if (value === null) return null;
  const width = Math.round(100 * Math.min(1, value / FULL_BAR));
  return html`<svg class="bar" viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true"><rect class="h-${binOf(value)}" width="${width}" height="4"/></svg>`;
}
