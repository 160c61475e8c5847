// The view Findings: what to worry about, in words, with the figure and what to do; the last backup;
// what other strategies would cost.

import { get, segment } from './api.js';
import { ownFindings } from './causes.js';
import { el, fill, note } from './dom.js';
import { ago, bytes, clock, integer, metric, percent } from './format.js';
import { timeOf } from './model.js';

export function findings(model) {
  const list = el('div', {});
  const backup = el('section', { class: 'panel', 'aria-label': 'Last backup' });
  const advice = el('section', { class: 'panel', 'aria-label': 'Strategy advice' });
  const root = el('section', { 'aria-label': 'Findings' }, list, backup, advice);
  let asked = null;
  let told = null;
  let adviceShown = null;

  async function show() {
    draw();
    if (model.store === null) {
      return;
    }
    asked = model.store;
    try {
      told = (await get(`/v1/stores/${segment(asked)}/findings`)).findings ?? [];
    } catch {
      told = null; // then the page says what it sees by itself
    }
    draw();
    if (adviceShown !== asked) {
      fill(advice, el('h2', {}, 'What would another strategy save?'), note('loading', 'Asking for advice …'));
      try {
        showAdvice(await get(`/v1/stores/${segment(asked)}/advice`));
        adviceShown = asked;
      } catch (e) {
        fill(advice, el('h2', {}, 'What would another strategy save?'), e.status === 404
            ? note('empty', 'This server gives no advice.', `./turbidite advise ${model.description?.store ?? 'STORE'} does.`)
            : note('error', e.message, e.lines ?? []));
      }
    }
  }

  function draw() {
    const all = merged(told ?? [], ownFindings(model.description, model.ring, model.events, Date.now()));
    if (model.description === null) {
      fill(list, model.error ? note('error', model.error.message, model.error.lines) : note('loading', 'Loading the store …'));
    } else if (all.length === 0) {
      fill(list, note('empty', 'Nothing to worry about.', 'No figure and no event of this store asks for attention.'));
    } else {
      fill(list, all.map(one => el('section', { class: `panel finding finding-${one.level === 'note' ? 'note' : one.level === 'bad' ? 'bad' : 'warn'}` },
          el('h2', {}, one.what), one.figure ? el('p', {}, el('b', {}, one.metric ? `${one.metric}: ` : ''), one.text ?? metric(one.metric ?? '', one.figure)) : null,
          one.advice ? el('p', {}, one.advice) : null)));
    }
    const last = model.events.findLast(one => one.event === 'BackedUp' || one.event === 'Shipped');
    fill(backup, el('h2', {}, 'When was the last backup?'), last
        ? el('p', {}, el('b', {}, ago(timeOf(last), Date.now())), ` (${clock(timeOf(last))}), up to operation ${integer(last.timestamp)}, ${bytes(last.bytes)}.`)
        : el('p', {}, 'None since the store was opened. ./turbidite backup STORE DIR makes one while the store is in use.'));
  }

  function showAdvice(answer) {
    const all = answer.datasets ?? [];
    fill(advice, el('h2', {}, 'What would another strategy save?'),
        all.length === 0 ? note('empty', 'No dataset has an index yet.') : all.map(dataset => el('div', {},
            el('h3', {}, dataset.dataset),
            el('p', {}, savingOf(dataset)),
            el('details', {}, el('summary', {}, 'Why'), el('ul', {}, (dataset.reasons ?? []).map(reason => el('li', {}, reason)))),
            el('div', { class: 'scroll' }, el('table', {},
                el('thead', {}, el('tr', {}, ['index', 'now', 'advised', 'costs in pages'].map(name => el('th', {}, name)))),
                el('tbody', {}, (dataset.indexes ?? []).map(index => el('tr', {},
                    el('td', {}, index.index), el('td', {}, index.maintenance), el('td', {}, index.advised),
                    el('td', {}, costsOf(index))))))))));
  }

  for (const type of ['description', 'event', 'error', 'store']) {
    model.addEventListener(type, () => {
      if (root.isConnected) {
        if (asked === model.store) {
          draw();
        } else {
          show();
        }
      }
    });
  }
  return { root, show };
}

function savingOf({ pagesNow, pagesAdvised }) {
  const saved = pagesNow - pagesAdvised;
  return saved > 0
      ? `The advised strategies would save ${integer(saved)} pages of ${integer(pagesNow)}, ${percent((100 * saved) / pagesNow)}.`
      : `Nothing: what it has costs ${integer(pagesNow)} pages, the least of all.`;
}

function costsOf({ costs }) {
  return Object.entries(costs ?? {}).map(([name, parts]) =>
    `${name} ${integer(Object.values(parts).reduce((sum, one) => sum + one, 0))}`).join(', ');
}

/** The server's findings, and those of the page's own that say something else. */
function merged(told, own) {
  return [...told.map(one => ({ ...one, level: one.level ?? 'warn' })), ...(told.length > 0 ? own.filter(
      one => one.level === 'bad' && !told.some(two => two.what === one.what)) : own)];
}
