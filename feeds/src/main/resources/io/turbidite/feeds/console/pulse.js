// The view Pulse: how the store has been in the last hour, second by second.

import { get, segment } from './api.js';
import { causesOf, waitsOf, writersNow } from './causes.js';
import { chart } from './chart.js';
import { el, fill, note } from './dom.js';
import { bytes, clock, count, nanos, percent, rate } from './format.js';

const gauge = name => (ring, i) => ring.value(name, i);
const growth = name => (ring, i) => ring.rate(name, i);
const part = (name, one) => gauge(`${name}:${one}`);

export function pulse(model) {
  let seconds = 300;
  const charts = [
    chart({ title: 'Writes', about: 'keys and records; log', show: rate, lines: [
      { name: 'writers', at: growth('write.bytes') }, { name: 'log', at: growth('log.bytes.written') }] }),
    chart({ title: 'Commits', show: one => rate(one, 'records'), lines: [
      { name: 'log records', at: growth('log.records') }] }),
    chart({ title: 'Reads', about: 'records fetched by key', show: one => rate(one, 'keys'), lines: [
      { name: 'keys', at: growth('lookup.keys') }, { name: 'pages', at: growth('lookup.pages') }] }),
    chart({ title: 'Stalls', about: 'time that writers waited, for each second', show: one => `${nanos(one)}/s`, lines: [
      { name: 'stood still', at: growth('write.stall.time:nanosSum') },
      { name: 'kept to a pace', at: growth('write.delay.time:nanosSum') }] }),
    ...[['write.time', 'Write latency'], ['flush.time', 'Flush latency'], ['merge.time', 'Merge latency'], ['cache.load', 'Page read latency'],
      ['write.stall.time', 'Stall latency'], ['write.delay.time', 'Delay latency']].map(([name, title]) => chart({ title,
      about: 'of the last minute', show: nanos, lines: [
        { name: 'p50', at: part(name, 'p50Nanos') }, { name: 'p99', at: part(name, 'p99Nanos') },
        { name: 'p99.9', at: part(name, 'p999Nanos') }] })),
    chart({ title: 'Cache hit rate', about: 'of requested pages', show: percent, lines: [
      { name: 'hits', at: (ring, i) => {
        const hits = ring.rate('cache.hits', i);
        const all = hits + ring.rate('cache.loads', i);
        return all > 0 ? (100 * hits) / all : NaN;
      } }] }),
    chart({ title: 'Write amplification', show: percent, lines: [
      { name: 'written for each 100 B', at: gauge('write.amplification.percent') }] }),
    chart({ title: 'Memory', about: 'off the heap', show: bytes, lines: [
      { name: 'used', at: gauge('memory.used.bytes') }, { name: 'budget', at: gauge('memory.budget.bytes') },
      { name: 'not on disk yet', at: gauge('memory.unflushed.bytes') }, { name: 'cache', at: gauge('cache.bytes') }] }),
    chart({ title: 'Merges', about: 'what they still have to read', show: bytes, lines: [
      { name: 'backlog', at: gauge('merge.backlog.bytes') }] }),
    chart({ title: 'Merge backlog', about: 'above what the policy tolerates', show: one => count(one, 'component'), lines: [
      { name: 'backlog', at: gauge('merge.backlog.components') }] }),
  ];
  const writers = el('section', { class: 'panel finding', 'aria-label': 'Writers now' });
  const slow = el('section', { class: 'panel', 'aria-label': 'Slow operations' });
  const pick = el('select', { on: { change: () => { seconds = Number(pick.value); draw(); } } },
      [[60, 'last minute'], [300, 'last 5 minutes'], [900, 'last 15 minutes'], [3600, 'last hour']].map(
          ([value, text]) => el('option', { value, selected: value === seconds }, text)));
  const body = el('div', { class: 'charts' }, charts.map(one => one.root));
  const empty = el('div', {});
  const root = el('section', { 'aria-label': 'Pulse' }, writers, slow,
      el('p', { class: 'row' }, el('label', {}, 'Show ', pick)), empty, body);
  let operations = null;
  let limits = '';
  let askedAt = 0;

  function draw() {
    const nothing = model.ring.length === 0;
    fill(empty, nothing ? note('loading', model.connection === 'lost' ? 'No connection: figures come when it is back.'
        : 'Waiting for the first sample; one comes each second.') : null);
    body.hidden = nothing;
    charts.forEach(one => one.set(model.ring, seconds));
    const now = writersNow(model.ring, model.events, Date.now());
    writers.className = `panel finding finding-${now.level}`;
    fill(writers, el('h2', {}, `Why are writers slow now? ${now.title}`), now.lines.map(line => el('p', {}, line)));
    drawSlow();
    if (Date.now() - askedAt > 5000) {
      ask();
    }
  }

  async function ask() {
    askedAt = Date.now();
    if (model.store === null || operations === false) {
      return;
    }
    try {
      const answer = await get(`/v1/stores/${segment(model.store)}/slow`);
      operations = answer.operations ?? [];
      limits = [['write', answer.thresholdNanos], ['read by key', answer.readThresholdNanos]]
          .filter(([, least]) => least > 0).map(([kind, least]) => `a ${kind} above ${nanos(least)}`).join(', ');
    } catch (e) {
      operations = e.status === 404 ? false : operations; // this server keeps none
    }
  }

  /** From where on an operation is slow, which differs by kind. */
  function limitsNote() {
    return limits && operations !== false ? el('p', { class: 'muted' }, `Slow is ${limits}.`) : null;
  }

  /** What the slowest operations spent their time on; from counters where the server keeps no ring. */
  function drawSlow() {
    const minute = (Array.isArray(operations) ? operations : []).filter(one => Date.now() - Date.parse(one.at) < 60_000);
    if (minute.length > 0) {
      const slowest = minute.sort((a, b) => b.nanos - a.nanos).slice(0, 12);
      fill(slow, el('h2', {}, 'What did the last minute’s slowest operations consist of?'), limitsNote(), table(
          ['at', 'operation', 'took', 'its time by cause'], slowest.map(one => [clock(Date.parse(one.at)), one.operation,
            nanos(one.nanos), causesOf(one).map(([cause, time]) => `${cause} ${nanos(time)}`).join(', ')])));
      return;
    }
    const waits = waitsOf(model.ring, 60);
    fill(slow, el('h2', {}, 'What did the last minute’s 99.9th percentile consist of?'),
        el('p', { class: 'muted' }, operations === false
            ? 'This server keeps no single slow operations; these are the waits of all operations of the last minute.'
            : 'No write or read by key was slower than the 99.9th percentile of its kind; these are the waits of all operations.'),
        limitsNote(),
        table(['cause', 'times', 'together', 'p99.9, last minute'], waits.map(one => [one.cause, count(one.count, 'time'),
          nanos(one.nanos), one.count > 0 || one.p999 > 0 ? nanos(one.p999) : '–'])));
  }

  for (const type of ['sample', 'connection', 'store', 'event']) {
    model.addEventListener(type, () => {
      if (root.isConnected && !document.hidden) {
        draw();
      }
    });
  }
  return { root, show: draw };
}

function table(names, lines) {
  return el('div', { class: 'scroll' }, el('table', {},
      el('thead', {}, el('tr', {}, names.map(name => el('th', {}, name)))),
      el('tbody', {}, lines.map(line => el('tr', {}, line.map(text => el('td', {}, text)))))));
}
