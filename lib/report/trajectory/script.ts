/** Runs before the page is laid out, so that nothing is that will not be seen: a page may hold thousands of steps. */
export const EARLY_SCRIPT = "document.documentElement.classList.add('js');";

/**
 * What a page does by itself: one step at a time, keys, the filter, light or dark. Without it everything is there, one
 * below the other. Plain JavaScript for any browser; it must not hold the text of a closing script tag.
 */
export const SCRIPT = `(() => {
'use strict';
const $ = (id) => document.getElementById(id);
const root = document.documentElement;
const index = $('index');
const articles = [...document.querySelectorAll('article.trajectory')];
const steps = articles.map((article) => [...article.querySelectorAll('.step')]);
const links = articles.map((article) => [...article.querySelectorAll('nav.list a')]);
const rows = index ? [...index.querySelectorAll('table.rollouts tbody tr')] : [];
/* -1: the list of all. */
let at = -1;
let step = 0;

function show(article, number) {
  at = article;
  if (index) index.hidden = at !== -1;
  for (const item of root.querySelectorAll('article.open')) item.classList.remove('open');
  if (at !== -1) articles[at].classList.add('open');
  root.classList.toggle('listing', at === -1);
  if (at === -1) { $('place').textContent = ''; return; }
  const all = steps[at];
  step = Math.max(0, Math.min(number, all.length - 1));
  all.forEach((item, i) => { item.classList.toggle('open', i === step); });
  links[at].forEach((link, i) => {
    if (i === step) link.setAttribute('aria-current', 'step'); else link.removeAttribute('aria-current');
  });
  centre(links[at][step]);
  const name = index ? articles[at].dataset.title + ': ' : '';
  $('place').textContent = all.length === 0 ? name : name + 'step ' + (step + 1) + ' of ' + all.length;
  $('back').disabled = step === 0;
  $('on').disabled = step >= all.length - 1;
}

/* Only the list itself scrolls, never the page. */
function centre(link) {
  const list = link && link.closest('nav');
  if (!list) return;
  list.scrollTop = link.offsetTop - list.clientHeight / 2;
  list.scrollLeft = link.offsetLeft - list.clientWidth / 2;
}

function fromHash() {
  const found = /^#t(\\d+)(?:s(\\d+))?$/.exec(location.hash);
  if (found && articles[Number(found[1])]) show(Number(found[1]), Number(found[2] || 0));
  else if (index) show(-1, 0);
  else show(0, 0);
}

function go(article, number) {
  if (article !== at) window.scrollTo(0, 0);
  show(article, number);
  history.replaceState(null, '', article === -1 ? '#index' : '#t' + article + 's' + step);
}

/* Trajectories that the filter hides are passed over. */
function turn(by) {
  let next = at + by;
  while (rows[next] && rows[next].hidden) next += by;
  if (articles[next]) go(next, 0);
}

function filter() {
  const words = $('filter').value.toLowerCase().split(/\\s+/).filter(Boolean);
  const outcome = $('outcome').value;
  let count = 0;
  for (const row of rows) {
    const text = row.textContent.toLowerCase();
    row.hidden = !(words.every((word) => text.includes(word)) && (outcome === '' || row.dataset.outcome === outcome));
    if (!row.hidden) count += 1;
  }
  $('matches').textContent = count + ' of ' + rows.length;
}

function marks() { root.classList.toggle('unmarked'); }
function large() { root.classList.toggle('large'); }

function theme() {
  const dark = root.dataset.theme ? root.dataset.theme === 'dark' : matchMedia('(prefers-color-scheme: dark)').matches;
  root.dataset.theme = dark ? 'light' : 'dark';
}

const KEYS = {
  ArrowRight: () => go(at, step + 1), l: () => go(at, step + 1), j: () => go(at, step + 1),
  ArrowLeft: () => go(at, step - 1), h: () => go(at, step - 1), k: () => go(at, step - 1),
  Home: () => go(at, 0), End: () => go(at, Infinity),
  n: () => turn(1), p: () => turn(-1),
};

addEventListener('keydown', (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) return;
  if (event.key === 'a') marks();
  else if (event.key === 'z') large();
  else if (event.key === 't') theme();
  else if (event.key === 'Escape' && index) go(-1, 0);
  else if (at !== -1 && KEYS[event.key]) KEYS[event.key]();
  else return;
  event.preventDefault();
});
addEventListener('hashchange', () => { fromHash(); window.scrollTo(0, 0); });
$('back').addEventListener('click', () => go(at, step - 1));
$('on').addEventListener('click', () => go(at, step + 1));
$('marks').addEventListener('click', marks);
$('large').addEventListener('click', large);
$('theme').addEventListener('click', theme);
for (const list of document.querySelectorAll('nav.list')) {
  list.addEventListener('click', (event) => {
    const link = event.target.closest('a');
    if (!link) return;
    event.preventDefault();
    go(at, links[at].indexOf(link));
  });
}
if (index) {
  $('filter').addEventListener('input', filter);
  $('outcome').addEventListener('change', filter);
  filter();
} else $('all').remove();
fromHash();
})();`;
