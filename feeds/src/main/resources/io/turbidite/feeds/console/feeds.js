// The view Feeds: source → parse → route → store, what waits for what, and what was rejected.

import { get, post, segment } from './api.js';
import { el, facts, fill, note, say } from './dom.js';
import { bytes, clock, count, integer, percent, rate, span } from './format.js';

const ASK_EACH_MILLIS = 2000;
const LETTERS = 50;
// a stage so busy is what the others wait for
const HOLDS_PERCENT = 80;
const STAGES = ['source', 'parse', 'route', 'store'];

export function feeds(model) {
  const list = el('div', {});
  const letters = el('section', { class: 'panel', 'aria-label': 'Dead letters', 'aria-live': 'polite', hidden: true });
  const root = el('section', { 'aria-label': 'Feeds' }, list, letters);
  const before = new Map();
  let timer = 0;
  let seen = '';
  let moved = false;

  async function show() {
    clearTimeout(timer);
    if (list.children.length === 0) {
      fill(list, note('loading', 'Loading the feeds …'));
    }
    try {
      draw(await get('/v1/feeds'));
    } catch (e) {
      seen = '';
      fill(list, e.status === 404 ? nothing()
          : note('error', e.status === 0 ? 'The connection is lost; feeds are shown when it is back.' : e.message, e.lines ?? []));
    }
    timer = setTimeout(() => {
      if (root.isConnected && !document.hidden) {
        show();
      } else {
        timer = setTimeout(show, ASK_EACH_MILLIS);
      }
    }, ASK_EACH_MILLIS);
  }

  function nothing() {
    return note('empty', 'No feed.', 'A feed definition behind the stores makes one: ./turbidite serve STORE FEED.yaml. '
        + 'feeds/samples has one for each source.');
  }

  function draw(answer) {
    const all = answer.feeds ?? [];
    const text = JSON.stringify(answer);
    if (all.length === 0) {
      fill(list, nothing());
    } else if (list.querySelector('button:active') !== null) {
      return; // a button that is pressed stays until it is let go
    } else if (text !== seen || moved) {
      moved = text !== seen; // once more when nothing changes: then the rates are 0
      const focused = document.activeElement?.id;
      fill(list, all.map(feedOf));
      if (focused && focused.startsWith('feed-')) {
        document.getElementById(focused)?.focus();
      }
    }
    seen = text;
  }

  function feedOf(feed) {
    const name = feed.feed;
    const key = `${feed.store ?? ''}/${name}`; // two stores may have a feed of one name each
    const old = before.get(key);
    const now = { millis: Date.now(), feed };
    before.set(key, now);
    const rates = ratesOf(old, now);
    const stages = stagesOf(old, now);
    const held = stages.find(one => one.holds);
    const paused = feed.state === 'paused';
    const status = el('span', { class: 'muted', role: 'status' });
    const button = el('button', { type: 'button', id: `feed-toggle-${key}`,
        on: { click: () => act(feed, paused ? 'resume' : 'pause', status) } }, paused ? 'Resume' : 'Pause');
    const rejected = el('button', { type: 'button', id: `feed-letters-${key}`, on: { click: () => showLetters(feed) } },
        `${count(feed.rejected ?? 0, 'record')} rejected: show why`);
    return el('section', { class: 'panel', 'aria-label': name },
        el('div', { class: 'panel-head' }, el('h2', {}, name),
            el('span', {}, `${feed.stopped ? 'stopped' : feed.state ?? 'state not known'}${feed.since ? ` since ${clock(Date.parse(feed.since))}` : ''}`
                + (feed.retryAt ? `, tries again at ${clock(Date.parse(feed.retryAt))}` : '')),
            el('span', { class: 'muted' }, `into ${feed.store ?? model.store}.${feed.dataset ?? '?'}`)),
        feed.cause ? el('p', { class: 'state', 'data-state': 'warn' }, feed.cause) : null,
        el('div', { class: 'flow', role: 'list' }, stages.map(stageNode)),
        el('p', {}, el('b', {}, 'Lag: '), lagOf(feed, held)),
        facts([
          ['records', `${integer(feed.records ?? 0)} records, ${rate(rates.records, 'records')}`],
          ['read', `${bytes(feed.bytes ?? 0)}, ${rate(rates.bytes)}`],
          ['rejected', count(feed.rejected ?? 0, 'record')],
          ['dropped', count(feed.dropped ?? 0, 'record')],
          feed.spilled ? ['spilled', `${count(feed.spilled, 'record')}, ${bytes(feed.spillBytes ?? 0)} wait in files`] : null,
        ]),
        el('p', { class: 'row' }, button, rejected, status));
  }

  function stageNode(one) {
    const fillOf = one.stage === 'route' ? one.queuePercent : NaN;
    const inner = el('i', {});
    inner.style.width = `${Math.min(100, fillOf || 0)}%`;
    return el('div', { class: `stage${one.holds ? ' holding' : ''}`, role: 'listitem' }, el('b', {}, one.stage),
        el('span', {}, Number.isFinite(one.recordsPerSecond) ? rate(one.recordsPerSecond, 'records') : ''),
        el('span', { class: 'muted' }, Number.isFinite(one.busyPercent)
            ? `${percent(one.busyPercent)} busy${one.workers > 1 ? ` of ${one.workers} workers` : ''}` : ''),
        Number.isFinite(fillOf) ? el('span', {}, `queue ${percent(fillOf)} full`) : null,
        Number.isFinite(fillOf) ? el('div', { class: 'bar', 'aria-hidden': 'true' }, inner) : null,
        one.holds ? el('span', {}, 'the others wait for this stage') : null);
  }

  function lagOf(feed, held) {
    const parts = [
      Number.isFinite(feed.lagRecords) ? count(feed.lagRecords, 'record') : null,
      Number.isFinite(feed.lagBytes) ? bytes(feed.lagBytes) : null,
      Number.isFinite(feed.lagSeconds) ? span(feed.lagSeconds) : null,
    ].filter(one => one !== null);
    return (parts.length > 0 ? `${parts.join(', ')} behind its source` : 'its source does not say how much there is')
        + (held ? `; the stage “${held.stage}” makes the others wait.` : '.');
  }

  async function act(feed, what, status) {
    try {
      say(status, 'asked …');
      await post(`${pathOf(feed)}/${what}${storeOf(feed)}`);
      seen = '';
      await show();
    } catch (e) {
      say(status, e.status === 401 || e.status === 403 ? 'A token with the right to manage is needed.' : e.message);
    }
  }

  async function showLetters(feed) {
    const name = feed.feed;
    letters.hidden = false;
    fill(letters, el('h2', {}, `Rejected by ${name}`), note('loading', 'Loading …'));
    try {
      const answer = await get(`${pathOf(feed)}/letters${storeOf(feed)}limit=${LETTERS}`);
      const all = answer.letters ?? [];
      fill(letters, el('h2', {}, `Rejected by ${name}`),
          all.length === 0 ? note('empty', feed.rejected > 0 ? 'Its definition keeps no letters.' : 'Nothing was rejected.')
              : el('div', { class: 'scroll' }, el('table', {},
                  el('thead', {}, el('tr', {}, ['where', 'why', 'raw text'].map(one => el('th', {}, one)))),
                  el('tbody', {}, all.map(one => el('tr', {}, el('td', {}, placeOf(one)), el('td', {}, one.reason ?? ''),
                      el('td', {}, el('pre', {}, rawOf(one)))))))));
      letters.scrollIntoView({ block: 'nearest' });
    } catch (e) {
      fill(letters, el('h2', {}, `Rejected by ${name}`), note('error', e.message, e.lines ?? []));
    }
  }

  return { root, show, hide: () => clearTimeout(timer) };
}

function ratesOf(old, now) {
  const seconds = old ? (now.millis - old.millis) / 1000 : NaN;
  return { records: (now.feed.records - old?.feed.records) / seconds, bytes: (now.feed.bytes - old?.feed.bytes) / seconds };
}

/** The stages with rates since the answer before; those of a feed that does not run have no figures. */
function stagesOf(old, now) {
  const told = now.feed.stages ?? [];
  if (told.length === 0) {
    return STAGES.map(stage => ({ stage }));
  }
  const seconds = old ? (now.millis - old.millis) / 1000 : NaN;
  const rated = told.map((one, i) => {
    const was = old?.feed.stages?.[i];
    const works = one.stage === 'parse' || one.stage === 'store';
    return { ...one,
      recordsPerSecond: works ? (one.records - was?.records) / seconds : NaN,
      busyPercent: works ? Math.min(100, Math.max(0, one.busyNanos - was?.busyNanos) / (1e7 * seconds * Math.max(1, one.workers))) : NaN };
  });
  const busiest = rated.reduce((most, one) => ((one.busyPercent || 0) > (most?.busyPercent || 0) ? one : most), null);
  return rated.map(one => ({ ...one, holds: one === busiest && one.busyPercent >= HOLDS_PERCENT }));
}

function pathOf(feed) {
  return `/v1/feeds/${segment(feed.feed)}`;
}

/** Two stores may have a feed of one name each. */
function storeOf(feed) {
  return feed.store === undefined ? '?' : `?store=${encodeURIComponent(feed.store)}&`;
}

function rawOf({ raw, rawBase64, rawBytes }) {
  if (raw !== null && raw !== undefined) {
    return raw;
  }
  return rawBase64 ? `${rawBase64} (base64, for it is no text)` : `${bytes(rawBytes ?? 0)}, not kept`;
}

function placeOf({ at, source, line, offset }) {
  const parts = [at ? clock(Date.parse(at)) : null, source, line > 0 ? `line ${integer(line)}` : null,
    Number.isFinite(offset) ? `at ${bytes(offset)}` : null];
  return parts.filter(one => one).join(', ');
}
