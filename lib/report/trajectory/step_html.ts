import { counted } from '../../stream/counted.ts';
import type { Step } from '../../stream/records.ts';
import { replyParts, stepFacts } from './facts.ts';
import { Html, html } from './html.ts';
import { actionChips, actionMarks } from './overlay.ts';
import type { Screen } from './screens.ts';
import { binOf, type ShownToken, shownTokens, stepValue, type TokenTexts } from './tokens.ts';
import { actionWords } from './words.ts';

/** Tokens of one step that are shown one by one; a reply of more is cut, and says so. */
const MOST_TOKENS = 4000;

export interface StepParts {
  step: Step;
  /** `t1s0`: where links lead. */
  id: string;
  screen: Screen;
  /** How many steps there are in all. */
  total: number;
  spell?: TokenTexts;
}

/** One step: the screen with what was done on it, the reply, its tokens, its times. */
export function stepSection({ step, id, screen, total, spell }: StepParts): Html {
  return html`${screen.definition}<section class="step" id="${id}" aria-label="step ${step.index + 1}">
<h3>Step ${step.index + 1} <span class="of">of ${total}</span></h3>
<div class="columns">${figure(step, screen)}
<div class="panel">${reply(step)}${tokenPart(step, spell)}${factList(step)}</div></div>
</section>
`;
}

function figure(step: Step, { picture, missing }: Screen): Html {
  const { screenshot } = step.observation;
  const [width, height] = [Math.max(1, screenshot.width), Math.max(1, screenshot.height)];
  const words = step.actions.map((action) => actionWords(action)).join(', then ');
  const description = `screen of ${width} × ${height} pixels${words === '' ? '' : `; ${words}`}`;
  return html`<figure>
<div class="screen"><svg viewBox="0 0 ${width} ${height}" role="img" aria-label="${description}">${picture}${actionMarks(step.actions, screenshot)}</svg>${missing !== null && html`<p class="missing">${missing}</p>`}${actionChips(step.actions)}</div>
<figcaption>${actionList(step)}</figcaption>
</figure>`;
}

function actionList({ actions }: Step): Html {
  if (actions.length === 0) return html`<span class="quiet">nothing was done</span>`;
  const words = actions.map((action) => html`<li>${actionWords(action)}</li>`);
  return html`<ol class="${actions.length === 1 ? 'actions one' : 'actions'}">${words}</ol>`;
}

function reply(step: Step): Html {
  const { thought, action } = replyParts(step);
  return html`${thought !== null && html`<h4>Thought</h4><p class="thought">${thought}</p>`}
${action !== null && html`<h4>Action</h4><pre class="action">${action}</pre>`}
${thought === null && action === null && html`<p class="quiet">The reply is empty.</p>`}
${step.parse_error !== undefined && html`<p class="problem"><strong>Could not be read:</strong> ${step.parse_error}</p>`}`;
}

function tokenPart(step: Step, spell?: TokenTexts): Html | null {
  const { measure, tokens } = shownTokens(step, spell);
  if (tokens.length === 0) return null;
  const mean = stepValue(step);
  const what =
    measure === null ? '' : mean === null ? `, coloured by ${measure}` : `, mean ${measure} ${mean.toFixed(2)} nats`;
  const shown = tokens.slice(0, MOST_TOKENS);
  const rest = tokens.length - shown.length;
  return html`<h4>Tokens <span class="of">${counted(tokens.length, 'token')}${what}</span></h4>
<p class="tokens">${shown.map(tokenMark)}${rest > 0 && html`<span class="quiet"> and ${rest} more</span>`}</p>`;
}

/** The text of a token, or its id in a box; its numbers are in the tooltip. */
function tokenMark(token: ShownToken, index: number): Html {
  const bin = token.value === null ? 'none' : binOf(token.value);
  const numbers = [
    `token ${index + 1}, id ${token.id}`,
    token.entropy === null ? null : `entropy ${token.entropy.toFixed(3)} nats`,
    token.logprob === null ? 'unscored' : `log p ${token.logprob.toFixed(3)}`,
  ];
  const title = numbers.filter((part) => part !== null).join(', ');
  const id = token.text === null;
  return html`<span class="${id ? 'token id' : 'token'} h-${bin}" title="${title}">${id ? token.id : token.text}</span>${new Html(id ? ' ' : '')}`;
}

function factList(step: Step): Html {
  return html`<dl class="facts">${stepFacts(step).map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>`;
}
