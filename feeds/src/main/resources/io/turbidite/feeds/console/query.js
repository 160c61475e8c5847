// The view Query: a statement, its rows, its plan, its places on a plain grid.

import { postLines, problemFrom, segment } from './api.js';
import { copy, el, fill, note, say } from './dom.js';
import { count, integer, nanos, short } from './format.js';
import { grid } from './grid.js';
import { plot } from './plot.js';
import { columnsOf, completions, planTree, shapesOf, toCommand, toCsv, toJson } from './rows.js';

const SHOW_EACH_MILLIS = 200;
const ROWS_MAX = 100_000;

export function query(model) {
  let running = null;
  let columns = [];
  let rows = [];
  let statement = '';
  let plan = null;
  let offers = [];
  /** What the user has cleared stays empty. */
  let begun = false;
  let offered = 0;

  const text = el('textarea', { id: 'sql', spellcheck: 'false', rows: 5, role: 'combobox', 'aria-expanded': 'false',
    'aria-controls': 'offers', 'aria-autocomplete': 'list', 'aria-label': 'Statement in SQL',
    placeholder: 'SELECT … FROM … (Ctrl+Enter runs it)', on: { keydown: keys, input: () => { begun = true; offer(); }, blur: shut } });
  const list = el('ul', { class: 'offers', id: 'offers', role: 'listbox', 'aria-label': 'Completions', hidden: true });
  const limit = el('select', { 'aria-label': 'Most rows' },
      [100, 1000, 10_000, ROWS_MAX].map(n => el('option', { value: n, selected: n === 1000 }, `${integer(n)} rows at most`)));
  const run = el('button', { type: 'button', class: 'main', id: 'run', on: { click: () => start() } }, 'Run');
  const explain = el('button', { type: 'button', id: 'explain', on: { click: () => start(true) } }, 'Explain');
  const status = el('p', { class: 'muted', role: 'status', id: 'query-status' }, 'No statement was run yet.');
  const table = grid();
  const chart = plot();
  const planBox = el('div', {});
  const tabs = { rows: table.root, plan: planBox, places: chart.root };
  const names = { rows: 'Rows', plan: 'Plan', places: 'Places' };
  const bar = el('div', { class: 'tabs', role: 'tablist', 'aria-label': 'Answer' }, Object.keys(tabs).map(name => el('button',
      { type: 'button', role: 'tab', id: `tab-${name}`, 'aria-controls': 'answer', on: { click: () => choose(name), keydown: arrows } }, names[name])));
  const box = el('div', { id: 'answer', role: 'tabpanel' });
  const copies = el('p', { class: 'row' }, copyButton('Copy CSV', () => toCsv(columns, rows)),
      copyButton('Copy JSON', () => toJson(rows)),
      copyButton('Copy command', () => toCommand(model.description?.store ?? model.store, statement)));
  const root = el('section', { 'aria-label': 'Query' },
      el('div', { class: 'panel' }, el('div', { class: 'editor' }, text, list), el('p', { class: 'row' }, run, explain, limit)),
      el('div', { class: 'panel' }, status, bar, box, copies));

  function copyButton(label, make) {
    const button = el('button', { type: 'button', on: { click: () => copy(button, make()) } }, label);
    return button;
  }

  function choose(name) {
    for (const button of bar.children) {
      const on = button.id === `tab-${name}`;
      button.setAttribute('aria-selected', String(on));
      button.tabIndex = on ? 0 : -1;
    }
    box.setAttribute('aria-labelledby', `tab-${name}`);
    fill(box, tabs[name]);
    if (name === 'plan' && plan === null && statement !== '') {
      askPlan();
    }
    if (name === 'places') {
      chart.set(shapesOf(columns, rows));
    }
    if (name === 'rows') {
      showRows();
    }
  }

  function showRows() {
    if (rows.length === 0) {
      fill(box, statement === '' ? note('empty', 'Rows of the answer appear here.') : note('empty', 'No rows.'));
      return;
    }
    fill(box, table.root);
    table.set(columns, rows);
  }

  function arrows(event) {
    const all = [...bar.children];
    const to = all.indexOf(event.currentTarget) + ({ ArrowRight: 1, ArrowLeft: -1 }[event.key] ?? 0);
    if (event.key.startsWith('Arrow') && all[to]) {
      all[to].focus();
      all[to].click();
    }
  }

  async function start(planOnly = false) {
    if (running !== null) {
      running.abort();
      return;
    }
    const given = text.value.trim().replace(/;\s*$/, '');
    if (given === '' || model.store === null) {
      say(status, model.store === null ? 'There is no store to ask.' : 'Write a statement first.');
      return;
    }
    statement = given;
    plan = null;
    model.passOver([]);
    if (planOnly) {
      choose('plan');
      return;
    }
    await ask();
  }

  async function ask() {
    running = new AbortController();
    columns = [];
    rows = [];
    say(run, 'Stop');
    say(status, 'Running …');
    const began = performance.now();
    let last = null;
    let shownAt = 0;
    try {
      // the last line is the server's, all before are rows, whatever their columns are called
      await postLines(`/v1/stores/${segment(model.store)}/sql`, { statement, limit: Number(limit.value) }, line => {
        if (last !== null) {
          rows.push(last);
        }
        last = line;
        if (performance.now() - shownAt > SHOW_EACH_MILLIS) {
          shownAt = performance.now();
          say(status, `${count(rows.length, 'row')} so far …`);
        }
      }, running.signal);
      if (last?.error) {
        throw problemFrom(last.error, 200);
      }
      columns = (last?.summary?.columns ?? []).map(one => one.name);
      if (columns.length === 0) {
        columns = columnsOf(rows.slice(0, 1000));
      }
      say(status, summaryOf(last ?? {}, performance.now() - began));
      choose('rows');
      if (last?.operators) {
        plan = last;
        showPlan();
        choose('plan');
      }
    } catch (e) {
      if (e.name === 'AbortError') {
        say(status, `Stopped after ${count(rows.length, 'row')}.`);
        columns = columns.length > 0 ? columns : columnsOf(rows.slice(0, 1000));
        choose('rows');
      } else {
        failed(e);
      }
    } finally {
      running = null;
      say(run, 'Run');
    }
  }

  function summaryOf(last, millis) {
    const time = nanos((last.summary?.millis ?? last.millis ?? millis) * 1e6);
    if (Number.isFinite(last.changed)) {
      return `${count(last.changed, 'record')} changed in ${time}.`;
    }
    const more = rows.length > 0 && rows.length === Number(limit.value) ? ' The limit was met: there may be more.' : '';
    return `${count(rows.length, 'row')} in ${time}.${more}`;
  }

  function failed(e) {
    rows = [];
    say(status, 'The statement failed.');
    choose('rows');
    fill(box, note('error', e.message, e.lines ?? []));
  }

  async function askPlan() {
    fill(planBox, note('loading', 'Asking for the plan: the statement is run once to count its rows …'));
    const asked = statement;
    try {
      const answer = await explained(asked);
      if (statement === asked) {
        plan = answer;
        showPlan();
      }
    } catch (e) {
      fill(planBox, note('error', e.message, e.lines ?? []));
    }
  }

  /** A question is run, so that its rows are counted; what would change something is only planned. */
  async function explained(asked) {
    let found = {};
    const words = /^\s*(select|with|values)\b/i.test(asked) ? 'EXPLAIN ANALYZE' : 'EXPLAIN';
    await postLines(`/v1/stores/${segment(model.store)}/sql`, { statement: `${words} ${asked}` }, line => {
      found = line;
    });
    if (found.error) {
      throw problemFrom(found.error, 200);
    }
    return found;
  }

  function showPlan() {
    if (!plan.operators) {
      fill(planBox, note('empty', 'This statement has no plan to show.'));
      return;
    }
    model.passOver(plan.operators.flatMap(one => one.passedOverFiles ?? []));
    const considered = plan.considered ?? [];
    const chosen = considered.find(one => one.chosen);
    fill(planBox,
        el('p', {}, el('b', {}, plan.access ?? ''), plan.dataset ? ` of ${plan.dataset}` : ''),
        el('ul', { class: 'plan', 'aria-label': 'Plan' }, planTree(plan.operators).map(planNode)),
        el('h3', {}, 'Ways that were considered'),
        considered.length === 0 ? el('p', { class: 'muted' }, 'There was one way only.')
            : el('div', { class: 'scroll' }, el('table', { id: 'considered' },
                el('thead', {}, el('tr', {}, el('th', {}, 'way'), el('th', { class: 'num' }, 'cost in pages and rows'), el('th', {}, 'why'))),
                el('tbody', {}, considered.map(one => el('tr', { class: one.chosen ? 'chosen-row' : null },
                    el('td', {}, one.access), el('td', { class: 'num' }, `${short(one.cost)} units`),
                    el('td', {}, whyOf(one, chosen))))))),
        unusedOf(considered));
  }

  function whyOf(one, chosen) {
    if (one.reason) {
      return one.reason;
    }
    if (one.chosen) {
      return 'chosen: the least cost';
    }
    return chosen ? `not used: costs ${short(one.cost / Math.max(1e-9, chosen.cost))} times as much` : 'not used';
  }

  /** Indexes that the planner never had on its list, and what they would need. */
  function unusedOf(considered) {
    const dataset = model.description?.datasets.find(one => one.name === plan.dataset);
    const all = dataset?.partitions[0]?.indexes ?? [];
    const rest = all.filter(index => index.name !== 'primary'
        && !considered.some(one => one.access.includes(index.name)));
    if (rest.length === 0) {
      return null;
    }
    return el('div', {}, el('h3', {}, 'Indexes that could not be used'),
        el('ul', {}, rest.map(index => el('li', {}, el('b', {}, index.name), index.state === 'ready'
            ? ` on ${index.on.join(', ')}: the statement has no condition on its first field that an index of kind ${index.kind} can answer`
            : ` is ${index.state}`))));
  }

  function planNode({ operator, children }) {
    const figures = [
      Number.isFinite(operator.estimated) ? `${integer(operator.estimated)} rows estimated` : null,
      Number.isFinite(operator.actual) ? `${integer(operator.actual)} rows` : null,
      Number.isFinite(operator.cpuNanos) ? `${nanos(operator.cpuNanos)} of CPU` : null,
      operator.passedOver > 0 ? `${count(operator.passedOver, 'component')} passed over` : null,
      Number.isFinite(operator.estimated) && operator.actual > 0 && operator.estimated > 0
          && offBy(operator) >= 3 ? `estimate off by ${short(offBy(operator))} times` : null,
    ].filter(one => one !== null);
    return el('li', {}, el('div', { class: 'plan-op' }, el('b', {}, operator.operator), operator.detail ?? '',
        el('span', { class: 'muted' }, figures.length > 0 ? ` – ${figures.join(', ')}` : '')),
        children.length > 0 ? el('ul', {}, children.map(planNode)) : null);
  }

  function offBy({ estimated, actual }) {
    return Math.max(estimated / actual, actual / estimated);
  }

  function offer() {
    const { found } = completions(text.value, text.selectionStart, model.description?.datasets ?? []);
    offers = found;
    offered = 0;
    showOffers();
  }

  function showOffers() {
    list.hidden = offers.length === 0;
    text.setAttribute('aria-expanded', String(offers.length > 0));
    fill(list, offers.map((one, i) => el('li', { role: 'option', id: `offer-${i}`, 'aria-selected': String(i === offered),
      on: { mousedown: event => { event.preventDefault(); take(i); } } },
      el('span', {}, one.text), el('span', { class: 'muted' }, one.kind))));
    if (offers.length > 0) {
      text.setAttribute('aria-activedescendant', `offer-${offered}`);
      list.children[offered].scrollIntoView({ block: 'nearest' });
    } else {
      text.removeAttribute('aria-activedescendant');
    }
  }

  function take(i) {
    const { word } = completions(text.value, text.selectionStart, model.description?.datasets ?? []);
    text.setRangeText(offers[i].text, text.selectionStart - word.length, text.selectionStart, 'end');
    shut();
    text.focus();
  }

  function shut() {
    offers = [];
    showOffers();
  }

  function keys(event) {
    if (event.key === 'Enter' && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      shut();
      start();
    } else if (offers.length > 0) {
      const move = { ArrowDown: 1, ArrowUp: -1 }[event.key];
      if (move) {
        event.preventDefault();
        offered = (offered + move + offers.length) % offers.length;
        showOffers();
      } else if (event.key === 'Tab' || event.key === 'Enter') {
        event.preventDefault();
        take(offered);
      } else if (event.key === 'Escape') {
        shut();
      }
    }
  }

  function begin() {
    const first = model.description?.datasets.find(one => !one.name.startsWith('_'));
    if (!begun && first) {
      begun = true;
      text.value = `SELECT * FROM ${/^[A-Za-z]\w*$/.test(first.name) ? first.name : `"${first.name.replaceAll('"', '""')}"`}`;
    }
  }

  choose('rows');
  model.addEventListener('description', begin);
  return { root, show: begin };
}
