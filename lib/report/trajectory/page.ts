import type { Trajectory } from '../../stream/records.ts';
import { type Fact, trajectoryTime } from './facts.ts';
import { Html, html } from './html.ts';
import { contentHash, type LoadBlob, Screens } from './screens.ts';
import { EARLY_SCRIPT, SCRIPT } from './script.ts';
import { STYLE } from './style.ts';
import { binLabels, type TokenTexts } from './tokens.ts';
import { outcomeBadge, trajectoryArticle } from './trajectory_html.ts';

export interface PageTable {
  caption: string;
  head: readonly string[];
  rows: readonly (readonly (string | number | null)[])[];
}

export interface ReportPage {
  title: string;
  /** What stands below the title, name and text. */
  facts?: readonly Fact[];
  /** Tables before the list of trajectories; null is shown as a dash. */
  tables?: readonly PageTable[];
  trajectories: readonly Trajectory[];
  loadBlob: LoadBlob;
  /** What the token ids of a trajectory spell, where that is known and not in the record. */
  spell?: (trajectory: Trajectory) => TokenTexts | undefined;
}

/** One trajectory as a self-contained HTML page; see `reportPage`. */
export function trajectoryPage(trajectory: Trajectory, loadBlob: LoadBlob, spell?: ReportPage['spell']) {
  return pageParts({ title: trajectory.instruction, trajectories: [trajectory], loadBlob, spell }, false);
}

/**
 * A self-contained HTML page: facts, tables, a list of trajectories that can be filtered, and each trajectory with its
 * screens. It asks nothing of the network, works from a file, without script as one long page, and gives the parts one
 * after another, so that a page larger than the longest string can be written.
 */
export function reportPage(page: ReportPage): AsyncGenerator<string> {
  return pageParts(page, true);
}

async function* pageParts(page: ReportPage, withIndex: boolean): AsyncGenerator<string> {
  const screens = new Screens(page.loadBlob);
  yield head(page.title).text;
  if (withIndex) yield index(page).text;
  for (const [number, trajectory] of page.trajectories.entries()) {
    const parts = trajectoryArticle({ trajectory, id: `t${number}`, screens, spell: page.spell });
    for await (const part of parts) yield part.text;
  }
  yield tail().text;
}

/** Nothing but this style, this script and pictures inside the page may be used by it, whatever a reply holds. */
const POLICY = [
  "default-src 'none'",
  'img-src data:',
  `style-src ${contentHash(STYLE)}`,
  `script-src ${contentHash(EARLY_SCRIPT)} ${contentHash(SCRIPT)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join('; ');

function head(title: string): Html {
  return html`<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${new Html(POLICY)}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>${title}</title>
<style>${new Html(STYLE)}</style>
<script>${new Html(EARLY_SCRIPT)}</script>
</head>
<body>
${toolbar()}
<main>
`;
}

function toolbar(): Html {
  const button = (id: string, label: string, text: string, key: string) =>
    html`<button type="button" id="${id}" title="${label} (${key})" aria-label="${label}">${text}</button>`;
  return html`<div class="toolbar">
<a id="all" href="#index">all trajectories</a><span id="place" aria-live="polite"></span>
<span class="buttons">${button('back', 'step before', '←', 'left arrow')}${button('on', 'next step', '→', 'right arrow')}${button('large', 'large screens', '⤢', 'z')}${button('marks', 'actions on the screen', '◎', 'a')}${button('theme', 'light or dark', '◐', 't')}</span>
</div>`;
}

function index({ title, facts = [], tables = [], trajectories }: ReportPage): Html {
  return html`<section id="index">
<h1>${title}</h1>
${facts.length > 0 && html`<dl class="facts">${facts.map(([name, text]) => html`<div><dt>${name}</dt><dd>${text}</dd></div>`)}</dl>`}
${tables.map(table)}
<div class="filter"><label>Show <input type="search" id="filter" placeholder="task, domain, words" autocomplete="off"></label>
<label>Outcome <select id="outcome"><option value="">any</option>${outcomes(trajectories).map((name) => html`<option>${name}</option>`)}</select></label>
<span id="matches"></span></div>
<div class="wide"><table class="rollouts"><thead><tr><th>task</th><th>outcome</th><th class="number">steps</th><th class="number">time</th></tr></thead>
<tbody>${trajectories.map(row)}</tbody></table></div>
</section>
`;
}

function outcomes(trajectories: readonly Trajectory[]): string[] {
  return [...new Set(trajectories.map(({ outcome }) => outcome))].sort();
}

function row(trajectory: Trajectory, number: number): Html {
  const { task_id, domain, instruction, steps, outcome } = trajectory;
  const time = trajectoryTime(trajectory) ?? '–';
  return html`<tr data-outcome="${outcome}"><td><a href="#t${number}">${task_id}</a> <span class="quiet">${domain}</span><br>${instruction}</td>
<td>${outcomeBadge(trajectory, true)}</td><td class="number">${steps.length}</td><td class="number">${time}</td></tr>
`;
}

function table({ caption, head: names, rows }: PageTable): Html {
  const cells = (cell: string | number | null) => {
    const numeric = cell === null || /^[-+−]?[\d.,]+( ?(%|ms|s|pt)|%?–[\d.,]+%)?$/.test(String(cell));
    return html`<td${new Html(numeric ? ' class="number"' : '')}>${cell === null ? '–' : cell}</td>`;
  };
  return html`<div class="wide"><table><caption>${caption}</caption><thead><tr>${names.map((name) => html`<th>${name}</th>`)}</tr></thead>
<tbody>${rows.map((items) => html`<tr>${items.map(cells)}</tr>`)}</tbody></table></div>
`;
}

function tail(): Html {
  const bins = binLabels().map((label, bin) => html`<span class="token h-${bin}">${label}</span> `);
  return html`</main>
<footer><p class="legend">Tokens by entropy, in nats: ${bins}<span class="token h-none">unscored</span></p>
<p class="quiet">Entropy is that of the policy's whole distribution. Where it could not report it, colours show the surprisal, −log p of the token that was drawn, and the step says so.</p>
<p class="quiet keys">Keys: ← → steps, Home and End first and last, n and p next and previous trajectory, Esc all trajectories, z large screens, a actions on or off, t light or dark.</p></footer>
<script>${new Html(SCRIPT)}</script>
</body>
</html>
`;
}
