// The page: top line, rail, one view at a time. Each view is built when it is first asked for and
// kept, so that what was typed or chosen is there on return.

import { hasToken, setToken } from './api.js';
import { el, fill, note, say } from './dom.js';
import { bytes, rate, span } from './format.js';
import { feeds } from './feeds.js';
import { findings } from './findings.js';
import { Model } from './model.js';
import { pulse } from './pulse.js';
import { query } from './query.js';
import { strata } from './strata.js';
import { isDark, setTheme } from './theme.js';

const VIEWS = { strata, feeds, query, pulse, findings };
const byId = id => document.getElementById(id);

const model = new Model();
const built = new Map();
let current = null;

function show() {
  const name = location.hash.slice(1) in VIEWS ? location.hash.slice(1) : 'strata';
  if (!built.has(name)) {
    built.set(name, VIEWS[name](model, open));
  }
  const view = built.get(name);
  if (current !== view) {
    current?.hide?.();
    current = view;
    fill(byId('view'), view.root);
  }
  for (const link of document.querySelectorAll('.rail a')) {
    if (link.getAttribute('href') === `#${name}`) {
      link.setAttribute('aria-current', 'page');
    } else {
      link.removeAttribute('aria-current');
    }
  }
  document.title = `${name[0].toUpperCase()}${name.slice(1)} – Turbidite`;
  view.show();
}

/** Goes to another view, and hands it something to begin with. */
function open(name, what) {
  location.hash = name;
  show();
  built.get(name).open?.(what);
}

function showStores() {
  const select = byId('store');
  fill(select, model.stores.map(one => el('option', { value: one.name, selected: one.name === model.store }, one.name)));
  select.disabled = model.stores.length < 2;
}

function showState() {
  const node = byId('state');
  const [state, text] = stateOf();
  node.dataset.state = state;
  say(node, text);
}

function stateOf() {
  if (model.connection === 'lost') {
    return model.error && model.error.status === 401
        ? ['warn', 'the server wants a token']
        : ['bad', 'lost the connection; trying again'];
  }
  if (model.error !== null) {
    return ['bad', model.error.status === 401 ? 'the server wants a token' : model.error.message];
  }
  if (model.description === null) {
    return ['', model.connection === 'connected' && model.store === null ? 'no store' : 'loading'];
  }
  const store = model.stores.find(one => one.name === model.store);
  if (store?.problem || (store?.state && !['ready', 'open'].includes(store.state))) {
    return ['bad', store.problem ?? store.state];
  }
  const stalled = model.ring.grown('write.stall.time:count', 10);
  if (stalled > 0) {
    return ['warn', 'writers stall'];
  }
  if (model.ring.last('components.quarantined') > 0) {
    return ['warn', 'a component is set aside as damaged'];
  }
  if (model.ring.rate('write.delay.time:count', model.ring.length - 1) > 0) {
    return ['warn', 'writers are slowed down'];
  }
  return ['good', model.ring.last('merge.backlog.bytes') > 0 ? 'well, merging' : 'well'];
}

function showFigures() {
  const written = model.ring.lastRate('write.bytes');
  const used = model.ring.last('memory.used.bytes');
  const budget = model.description?.memoryBudgetBytes ?? model.ring.last('memory.budget.bytes');
  const lag = lagOf();
  fill(byId('figures'), [
    ['writes', rate(written)],
    ['lag', lag],
    ['memory', Number.isFinite(budget) ? `${bytes(used)} of ${bytes(budget)}` : bytes(used)],
  ].map(([term, text]) => el('div', {}, el('dt', {}, term), el('dd', {}, text))));
}

function lagOf() {
  const feeds = Object.values(model.feedFigures);
  if (feeds.length === 0) {
    return 'no feed';
  }
  const seconds = feeds.map(one => one.lagSeconds).filter(Number.isFinite);
  const behind = feeds.map(one => one.lagBytes).filter(Number.isFinite);
  return seconds.length > 0 ? span(Math.max(...seconds))
      : behind.length > 0 ? bytes(behind.reduce((sum, one) => sum + one, 0)) : 'not known';
}

function askToken() {
  byId('token-input').value = '';
  byId('token-dialog').showModal();
}

function takeToken() {
  setToken(byId('token-input').value);
  byId('token-input').value = '';
  byId('token-dialog').close();
  say(byId('token'), hasToken() ? 'Token set' : 'Token');
  model.start();
}

byId('store').addEventListener('change', () => model.choose(byId('store').value));
byId('theme').addEventListener('click', () => setTheme(isDark() ? 'light' : 'dark'));
byId('token').addEventListener('click', askToken);
byId('token-set').addEventListener('click', takeToken);
byId('token-cancel').addEventListener('click', () => byId('token-dialog').close());
byId('token-input').addEventListener('keydown', event => {
  if (event.key === 'Enter') {
    takeToken();
  }
});
window.addEventListener('hashchange', show);
for (const type of ['stores', 'store', 'description']) {
  model.addEventListener(type, showStores);
}
for (const type of ['stores', 'store', 'description', 'connection', 'error', 'sample', 'event']) {
  model.addEventListener(type, showState);
}
for (const type of ['sample', 'description']) {
  model.addEventListener(type, showFigures);
}
model.addEventListener('error', () => {
  if (model.error?.status === 401 && !hasToken() && !byId('token-dialog').open) {
    askToken();
  }
});
window.addEventListener('error', () => {
  fill(byId('view'), note('error', 'This view failed.', 'Load the page again; the browser’s console has the cause.'));
});

showFigures();
show();
model.start();
