// The view Strata: a row for each index, a lane for each of its partitions. The canvas of a row has
// the picture; over it lies one clear button for each bed, so that beds can be reached by keyboard
// and are read aloud.

import { el, facts, fill, note, say, copy } from './dom.js';
import { ago, bytes, clock, count, integer, nanos, percent, share, span, timeLabel, value, words } from './format.js';
import { deadShare, extremesOf, filterScale, indexesOf, keyOf, memoryBox, numberScale, settle, successor, workOf } from './beds.js';
import { timeOf } from './model.js';
import { paintBed, paintMemory } from './paint.js';
import { colour, isStill, sized } from './theme.js';

const MOVE_MILLIS = 900;
const LANE_HEIGHTS = [72, 52, 38, 32];
const LANE_HEIGHT_MANY = 24;
const MEMORY_SHARE = 0.34;
const PALE = 0.3;

export function strata(model) {
  let axis = 'newest';
  let selected = null;
  let shownMillis = null; // null: now
  const rows = new Map();

  const cards = { space: card('Most space'), dead: card('Most dead'), merging: card('Merging') };
  const strip = el('div', { class: 'strip', hidden: true }, Object.values(cards).map(one => one.node));
  const slider = el('input', { type: 'range', min: 0, max: 3600, value: 3600, step: 1, id: 'hour',
      on: { input: () => look() } });
  const when = el('output', { for: 'hour' }, 'now');
  const axisPick = el('select', { on: { change: () => { axis = axisPick.value; draw(); } } },
      el('option', { value: 'newest' }, 'operation numbers, newest wide'),
      el('option', { value: 'even' }, 'operation numbers, even'),
      el('option', { value: 'filter' }, 'values of the filter'));
  const tools = el('div', { class: 'tools' },
      el('label', { class: 'hour' }, el('span', {}, 'Last hour'), slider, when),
      el('label', {}, el('span', {}, 'Across'), axisPick),
      el('details', { class: 'legend' }, el('summary', {}, 'Legend'), legend()));
  const field = el('div', { class: 'field' });
  const aside = el('aside', { class: 'aside', 'aria-label': 'Facts', 'aria-live': 'polite' });
  const root = el('section', { class: 'strata', 'aria-label': 'Strata' },
      el('div', { class: 'strata-main' }, strip, tools, field), aside);

  function moment() {
    if (shownMillis === null) {
      return model.description;
    }
    return model.momentAt(shownMillis)?.description ?? model.description;
  }

  function look() {
    const back = 3600 - Number(slider.value);
    shownMillis = back === 0 ? null : Date.now() - back * 1000;
    const first = model.moments[0]?.millis;
    say(when, back === 0 ? 'now'
        : shownMillis < first ? `before this page was opened (${clock(first)})`
            : `${clock(shownMillis)}, ${span(back)} ago`);
    slider.setAttribute('aria-valuetext', when.textContent);
    draw();
  }

  /** Builds rows where the indexes have changed, then draws all that can be seen. */
  function draw() {
    const description = moment();
    if (description === null) {
      fill(field, model.error
          ? note('error', model.error.message, model.error.lines)
          : note('loading', model.store === null && model.connection === 'connected'
              ? 'This server has no store.' : 'Loading the store …'));
      strip.hidden = true;
      rows.clear();
      return;
    }
    summary(description);
    const wanted = [];
    for (const dataset of description.datasets) {
      wanted.push(datasetOf(dataset, description));
    }
    if (wanted.length === 0) {
      fill(field, note('empty', 'No dataset yet.',
          'Start a feed, or CREATE TABLE in the view Query: beds appear with the first flush.'));
      rows.clear();
      return;
    }
    const kept = new Set(wanted.map(one => one.node));
    if (field.children.length !== kept.size || [...field.children].some(one => !kept.has(one))) {
      fill(field, wanted.map(one => one.node));
    }
    wanted.forEach(one => one.draw());
    showFacts(description);
  }

  function datasetOf(dataset, description) {
    const names = indexesOf(dataset).map(one => `${one.index.name}*${one.lanes.length}`).join('\n');
    let panel = rows.get(dataset.name);
    if (!panel || panel.names !== names) {
      panel = datasetPanel(dataset.name, names, dataset);
      rows.set(dataset.name, panel);
    }
    panel.dataset = dataset;
    panel.description = description;
    return panel;
  }

  function datasetPanel(name, names, dataset) {
    const internal = name.startsWith('_');
    const about = el('span', { class: 'muted' });
    const body = el('div', { class: 'rows' });
    const ticksOf = el('div', { class: 'ticks', 'aria-hidden': 'true' });
    const node = el('details', { class: 'dataset', open: !internal },
        el('summary', {}, el('h2', {}, name), about), body, ticksOf);
    const panel = { names, node, dataset, description: null };
    const lines = indexesOf(dataset).map(one => rowOf(name, one.index.name, one.lanes.length));
    fill(body, lines.map(one => one.node));
    node.addEventListener('toggle', () => draw());
    panel.draw = () => {
      const all = indexesOf(panel.dataset);
      const records = all[0]?.sums.entries ?? 0;
      const size = all.reduce((sum, one) => sum + one.sums.bytes, 0);
      say(about, `${count(records, 'entry', 'entries')} on disk, ${bytes(size)}, `
          + `${count(panel.dataset.partitions.length, 'partition')}, ${panel.dataset.maintenance}, `
          + panel.dataset.mergePolicy.replace(/\(.*/, ''));
      about.title = panel.dataset.mergePolicy;
      if (!node.open) {
        return;
      }
      const by = scaleOf(panel.dataset, panel.description);
      const largest = Math.max(1, ...panel.description.datasets.flatMap(one => indexesOf(one))
          .flatMap(one => one.lanes).flatMap(lane => lane.index.components).map(one => one.bytes));
      const widths = lines.map(line => line.width());
      lines.forEach((line, i) => line.draw(all[i], panel, by, largest, widths[i]));
      axisTicks(ticksOf, by, widths[0] ?? 0);
    };
    return panel;
  }

  function scaleOf(dataset, description) {
    const field = dataset.filter?.[0] ?? null;
    if (axis === 'filter' && field !== null) {
      const all = dataset.partitions.flatMap(one => one.indexes).flatMap(one => one.components);
      const scale = filterScale(all, field);
      if (scale !== null) {
        return { scale, field };
      }
    }
    return { scale: numberScale(description.lastTimestamp, axis === 'even' ? 'even' : 'newest'),
        field: null };
  }

  function axisTicks(node, { scale, field }, width) {
    const found = scale.ticks(Math.max(2, Math.floor(width / 110)));
    fill(node, el('span', { class: 'ticks-name' }, field === null ? 'operation' : field),
        el('span', { class: 'ticks-line' }, found.map(at => {
          const tick = el('span', { class: 'tick' },
              scale.time ? timeLabel(at, scale.max - scale.min) : integer(at));
          const share = scale.at(at);
          tick.style.left = `${share * 100}%`;
          tick.classList.toggle('tick-last', share > 0.93);
          tick.classList.toggle('tick-first', share < 0.04);
          return tick;
        })));
  }

  function rowOf(datasetName, indexName, laneCount) {
    const laneHeight = LANE_HEIGHTS[laneCount - 1] ?? LANE_HEIGHT_MANY;
    const height = laneCount * laneHeight + 8;
    const canvas = el('canvas', { 'aria-hidden': 'true' });
    const buttons = el('div', { class: 'bed-buttons' });
    const about = el('span', { class: 'muted' });
    const title = el('button', { type: 'button', class: 'row-name',
        on: { click: () => select({ dataset: datasetName, index: indexName }) } }, indexName);
    const picture = el('div', { class: 'picture' }, canvas, buttons);
    picture.style.height = `${height}px`;
    const node = el('div', { class: 'bed-row' }, el('div', { class: 'row-about' }, title, about), picture);
    const drawn = new Map();
    let leaving = [];
    let scaleBefore = '';
    let frame = 0;
    let latest = null;

    function drawRow(one, panel, by, largest, width) {
      say(about, `${count(one.sums.count, 'bed')}, ${bytes(one.sums.bytes)}`
          + (one.sums.dead > 0 ? `, ${share(one.sums.dead, one.sums.entries)} dead` : '')
          + (one.index.state === 'ready' ? '' : `, ${one.index.state}`)
          + passedOverOf(one));
      const scaleNow = `${by.field}/${axis}/${width}/${shownMillis === null}`;
      const jump = scaleNow !== scaleBefore || isStill();
      scaleBefore = scaleNow;
      const now = performance.now();
      const targets = new Map();
      const lanes = one.lanes.map((lane, i) => {
        const ground = laneHeight - 4;
        const bedHeight = ground * (1 - MEMORY_SHARE) - 3;
        const options = { width, height: bedHeight, scale: by.scale, field: by.field, largest,
            repairs: one.index.maintenance !== 'eager' && one.index.name !== 'primary' };
        const beds = settle(lane.index.components, options);
        const top = 4 + i * laneHeight;
        for (const bed of beds) {
          const key = `${lane.partition.partition}/${keyOf(bed.component)}`;
          targets.set(key, { ...bed, key, partition: lane.partition.partition,
              y: top + ground - bedHeight + bed.y });
        }
        const box = memoryBox(lane.partition, panel.description.lastTimestamp, options);
        return { top, ground, beds, memory: { ...box, y: top + 1, height: ground * MEMORY_SHARE - 4,
            bytes: lane.partition.memoryBytes, entries: lane.partition.memoryEntries },
            partition: lane.partition.partition };
      });
      for (const [key, shown] of drawn) {
        if (!targets.has(key)) {
          drawn.delete(key);
          if (!jump) {
            const after = successor(shown.bed.component, [...targets.values()]
                .filter(bed => bed.partition === shown.bed.partition));
            leaving.push({ ...shown, from: place(shown, now), since: now,
                to: after ?? { ...shown.bed, height: 0, y: shown.bed.y + shown.bed.height } });
          }
        }
      }
      for (const [key, bed] of targets) {
        const shown = drawn.get(key);
        if (!shown) {
          const merged = leaving.some(gone => gone.to === bed || gone.to?.key === key);
          const lane = lanes.find(one => one.partition === bed.partition);
          drawn.set(key, { bed, since: jump ? -1e9 : now, fresh: !jump && !merged, merged,
              from: merged || jump ? bed : { x: bed.x, width: bed.width, y: lane.memory.y, height: lane.memory.height } });
        } else {
          const moved = Math.abs(shown.bed.x - bed.x) + Math.abs(shown.bed.width - bed.width)
              + Math.abs(shown.bed.height - bed.height) + Math.abs(shown.bed.y - bed.y) > 0.5;
          if (moved) {
            Object.assign(shown, { from: jump ? bed : place(shown, now), since: jump ? -1e9 : now,
                fresh: false, merged: false });
          }
          shown.bed = bed;
        }
      }
      if (jump) {
        leaving = [];
      }
      latest = { one, lanes, width, panel };
      placeButtons(targets);
      cancelAnimationFrame(frame);
      paint();
    }

    function paint() {
      const now = performance.now();
      const { one, lanes, width, panel } = latest;
      const pen = sized(canvas, width, height);
      let moving = false;
      for (const lane of lanes) {
        pen.fillStyle = colour('line');
        pen.fillRect(0, lane.top + lane.ground, width, 1);
        paintMemory(pen, lane, panel.description);
      }
      leaving = leaving.filter(gone => now - gone.since < MOVE_MILLIS);
      for (const gone of leaving) {
        moving = true;
        const done = ease((now - gone.since) / MOVE_MILLIS);
        pen.globalAlpha = 1 - done;
        const at = mix(gone.from, { ...gone.from, y: gone.to.y, height: gone.to.height }, done);
        paintBed(pen, { ...gone.bed, ...at }, one.index);
      }
      for (const shown of drawn.values()) {
        const done = (now - shown.since) / MOVE_MILLIS;
        moving ||= done < 1;
        const at = place(shown, now);
        pen.globalAlpha = (shown.merged && done < 1 ? ease(done) : 1)
            * (model.passedOver.has(shown.bed.component.file) ? PALE : 1);
        paintBed(pen, { ...shown.bed, ...at }, one.index, shown.fresh && done < 1 ? 1 - ease(done) : 0,
            isSelected(datasetName, indexName, shown.bed));
      }
      pen.globalAlpha = 1;
      if (moving) {
        frame = requestAnimationFrame(() => {
          if (canvas.isConnected) {
            paint();
          }
        });
      }
    }

    function placeButtons(targets) {
      const old = new Map([...buttons.children].map(one => [one.dataset.key, one]));
      const list = [...targets.values()].sort((a, b) => a.partition - b.partition || a.x - b.x);
      const nodes = list.map(bed => {
        const button = old.get(bed.key) ?? el('button', { type: 'button', class: 'bed', tabindex: '-1',
            'data-key': bed.key, on: { click: () => select({ dataset: datasetName, index: indexName,
                partition: bed.partition, key: keyOf(bed.component) }), keydown: step } });
        button.setAttribute('aria-label', `${indexName}, partition ${bed.partition}, operations `
            + `${bed.component.minTs} to ${bed.component.maxTs}, ${bytes(bed.component.bytes)}, `
            + `${percent(100 * bed.dead)} dead`
            + (model.passedOver.has(bed.component.file) ? ', passed over by the last query' : ''));
        Object.assign(button.style, { left: `${bed.x}px`, top: `${bed.y}px`,
            width: `${Math.max(6, bed.width)}px`, height: `${Math.max(6, bed.height)}px` });
        return button;
      });
      if (nodes.length !== buttons.children.length || nodes.some((one, i) => buttons.children[i] !== one)) {
        const focused = document.activeElement;
        fill(buttons, nodes);
        if (nodes.includes(focused)) {
          focused.focus();
        }
      }
      if (nodes.length > 0 && !nodes.some(one => one.tabIndex === 0)) {
        nodes.at(-1).tabIndex = 0;
      }
    }

    function step(event) {
      const all = [...buttons.children];
      const here = all.indexOf(event.currentTarget);
      const to = { ArrowRight: here + 1, ArrowLeft: here - 1, Home: 0, End: all.length - 1 }[event.key];
      if (to !== undefined && all[to]) {
        event.preventDefault();
        all[here].tabIndex = -1;
        all[to].tabIndex = 0;
        all[to].focus();
      }
    }

    return { node, draw: drawRow, width: () => Math.floor(picture.clientWidth) };
  }

  /** How many beds of an index the last query passed over, in words. */
  function passedOverOf(one) {
    const found = one.lanes.flatMap(lane => lane.index.components)
        .filter(component => model.passedOver.has(component.file)).length;
    return found > 0 ? `, ${integer(found)} passed over by the last query` : '';
  }

  function isSelected(dataset, index, bed) {
    return selected !== null && selected.dataset === dataset && selected.index === index
        && selected.partition === bed.partition && selected.key === keyOf(bed.component);
  }

  function select(what) {
    selected = what;
    draw();
    if (matchMedia('(max-width: 1000px)').matches) {
      aside.scrollIntoView({ block: 'nearest' });
    }
  }

  /** The three questions that are asked most, answered before anybody asks. */
  function summary(description) {
    const { bytes: all, largest, deadest } = extremesOf(description);
    const last = model.events.findLast(one => one.event === 'Merged');
    const backlog = model.ring.last('merge.backlog.bytes');
    const work = workOf(description);
    cards.space.set(largest === null ? 'nothing on disk yet' : `${largest.dataset}.${largest.index}`,
        largest === null ? '' : `${bytes(largest.bytes)}, ${share(largest.bytes, all)} of ${bytes(all)}`,
        largest && { dataset: largest.dataset, index: largest.index });
    cards.dead.set(deadest === null ? 'no dead entries' : `${deadest.dataset}.${deadest.index}`,
        deadest === null ? 'in any component'
            : `${percent(100 * deadest.share)} of ${count(deadest.component.entries, 'entry', 'entries')}`,
        deadest && { dataset: deadest.dataset, index: deadest.index,
            partition: deadest.lane.partition.partition, key: keyOf(deadest.component) });
    cards.merging.set(work.length > 0 ? [...new Set(work.map(one => `${one.dataset}.${one.index}`))].join(', ')
        : backlog > 0 ? 'about to begin' : 'nothing now',
        work.length > 0 ? `${bytes(backlog)} left to read`
            : last ? `last: ${last.dataset}.${last.index}, ${last.cause}, ${ago(timeOf(last), Date.now())}`
            : 'no merge since the store was opened', { merges: true });
    strip.hidden = false;
  }

  /** A card keeps its elements, so that a click or a focus on it outlives the next figure. */
  function card(title) {
    const main = el('span', { class: 'card-main' });
    const more = el('span', { class: 'muted' });
    let target = null;
    const node = el('button', { type: 'button', class: 'card', on: { click: () => select(target) } },
        el('span', { class: 'card-title' }, title), main, more);
    return { node, set(text, moreText, newTarget) {
      say(main, text);
      say(more, moreText);
      target = newTarget;
      node.disabled = target === null;
    } };
  }

  function showFacts(description) {
    const found = selected === null ? null : selected.merges ? mergeFacts(description) : factsOf(description);
    if (found === null) {
      aside.classList.toggle('aside-empty', true);
      fill(aside, el('h2', {}, 'Facts'), el('p', { class: 'muted' },
          'Choose a bed or an index. Each bed is a component on disk: its width is what it covers, its height the logarithm of its size, its shade its age.'));
      return;
    }
    aside.classList.toggle('aside-empty', false);
    const text = found.pairs.filter(one => one).map(pair => pair.join(': ')).join('\n');
    const button = el('button', { type: 'button', on: { click: () => copy(button, `${found.title}\n${text}`) } }, 'Copy');
    const shut = el('button', { type: 'button', on: { click: () => select(null) } }, 'Close');
    const list = facts(found.pairs);
    const pressed = aside.querySelector('button:active') !== null;
    if (!pressed && (aside.dataset.shown !== found.title + text || aside.children.length < 3)) {
      aside.dataset.shown = found.title + text;
      const focus = aside.contains(document.activeElement) ? document.activeElement.textContent : null;
      fill(aside, el('h2', {}, found.title), list, el('p', { class: 'row' }, button, shut));
      [button, shut].find(one => one.textContent === focus)?.focus();
    }
  }

  function mergeFacts(description) {
    const merges = model.events.filter(one => one.event === 'Merged').slice(-12).reverse();
    const backlog = model.ring.last('merge.backlog.components');
    return { title: 'Merges', pairs: [
      ['running merges still read', bytes(model.ring.last('merge.backlog.bytes'))],
      ['components above what the policy tolerates', integer(backlog)],
      ['why', backlog > 0 ? 'the index that is most behind has more components than its merge policy tolerates'
          : 'no index is behind its merge policy'],
      ...workOf(description).map(one => [`now ${one.dataset}.${one.index}`, one.beds.length === 1
          ? `1 bed of ${bytes(one.beds[0].bytes)} is checked or made anew`
          : `${one.policy}: ${one.beds.length} beds of ${bytes(one.beds.reduce((sum, bed) => sum + bed.bytes, 0))} are merged`]),
      ...merges.map(one => [`${clock(timeOf(one))} ${one.dataset}.${one.index}`,
        `${one.cause}: ${count(one.inputCount, 'bed')} became one, ${bytes(one.bytesRead)} in, `
        + `${bytes(one.bytesWritten)} out, ${nanos(one.nanos)}`]),
      merges.length === 0 ? ['merges', 'none since the store was opened'] : null,
    ] };
  }

  function factsOf(description) {
    const dataset = description.datasets.find(one => one.name === selected.dataset);
    const one = dataset && indexesOf(dataset).find(two => two.index.name === selected.index);
    if (!one) {
      return null;
    }
    if (selected.key === undefined) {
      return indexFacts(dataset, one);
    }
    const lane = one.lanes.find(two => two.partition.partition === selected.partition);
    const component = lane?.index.components.find(two => keyOf(two) === selected.key);
    return component ? bedFacts(one, lane, component)
        : { title: 'This bed is gone', pairs: [['bed', selected.key], ['why', 'it was merged or dropped since it was chosen']] };
  }

  function indexFacts(dataset, { index, lanes, sums }) {
    return { title: `${dataset.name}.${index.name}`, pairs: [
      ['kind', `${index.kind} on ${index.on.join(', ')}${index.unique ? ', unique' : ''}`],
      ['state', index.state],
      ['maintenance', index.maintenance + (index.repair ? `, repair ${index.repair}` : '')],
      ['merge policy', dataset.mergePolicy],
      ['beds', integer(sums.count)],
      ['size', bytes(sums.bytes)],
      ['entries', integer(sums.entries)],
      ['dead entries', `${integer(sums.dead)}, ${share(sums.dead, sums.entries)}`],
      ['anti-matter', count(sums.antimatter, 'entry', 'entries')],
      index.garbageEntries > 0 ? ['garbage', count(index.garbageEntries, 'entry', 'entries')] : null,
      ['pages', `${bytes(index.pageBytes)}, compression ${index.compression}`],
      sums.quarantined > 0 ? ['quarantined', count(sums.quarantined, 'bed')] : null,
      ['in memory', `${count(lanes.reduce((sum, lane) => sum + lane.partition.memoryEntries, 0), 'entry', 'entries')} of its dataset`],
    ] };
  }

  function bedFacts({ index }, lane, component) {
    return { title: `${selected.dataset}.${index.name}, partition ${lane.partition.partition}`, pairs: [
      ['operations', `${integer(component.minTs)} to ${integer(component.maxTs)}`],
      ['size', bytes(component.bytes)],
      ['entries', integer(component.entries)],
      ['dead entries', `${integer(component.deadEntries ?? 0)}, ${percent(100 * deadShare(component))}`],
      ['anti-matter', count(component.antimatter, 'entry', 'entries')],
      ['checked by repair', index.maintenance === 'eager' ? 'always: eager'
          : component.repairedTs >= component.maxTs ? 'all of it' : `up to operation ${integer(component.repairedTs)}`],
      ...(component.filters ?? []).map(one => [`filter ${one.field}`, `${value(one.min)} to ${value(one.max)}`
          + (one.hasAbsent ? ', some without' : '')]),
      ['file', integer(component.file)],
      model.passedOver.has(component.file) ? ['last query', 'passed it over, unread'] : null,
      component.quarantine ? ['quarantined', value(component.quarantine)] : null,
      component.underWork ? ['now', 'about to be replaced: by a merge, a repair or retention'] : null,
    ] };
  }

  let queued = 0;
  const redraw = () => {
    cancelAnimationFrame(queued);
    queued = requestAnimationFrame(draw);
  };
  const observer = new ResizeObserver(redraw);
  observer.observe(field);
  window.addEventListener('theme', redraw);
  for (const type of ['description', 'error', 'connection', 'store', 'stores', 'passedOver']) {
    model.addEventListener(type, () => {
      if (root.isConnected) {
        redraw();
      }
    });
  }
  model.addEventListener('sample', () => {
    if (root.isConnected && model.description !== null && !document.hidden) {
      summary(moment());
    }
  });
  return { root, show: draw };
}

function legend() {
  return el('ul', {},
      [['width', 'what the bed covers: operations, or values of the filter'],
        ['height', 'logarithm of the size'],
        ['shade', 'age: the darker, the older'],
        ['dark, from below', 'dead entries'],
        ['dashed', 'not yet checked by repair'],
        ['blue, above', 'memory component, filling'],
        ['blue outline', 'being merged or repaired'],
        ['pale', 'passed over by the last query whose plan was asked for'],
        ['red', 'quarantined']].map(([term, text]) => el('li', {}, el('b', {}, term), ` ${text}`)));
}

function ease(done) {
  const t = Math.min(1, Math.max(0, done));
  return 1 - (1 - t) ** 3;
}

function mix(from, to, done) {
  const at = name => from[name] + (to[name] - from[name]) * done;
  return { x: at('x'), y: at('y'), width: at('width'), height: at('height') };
}

function place(shown, now) {
  return mix(shown.from, shown.bed, ease((now - shown.since) / MOVE_MILLIS));
}
