// Lines over time, drawn here: a few hundred points, two axes and a reader's line need no library.
// What is text stands in the page, so it can be copied and read aloud.

import { el, fill, say } from './dom.js';
import { clock, ticks } from './format.js';
import { colour, sized } from './theme.js';

const LEFT = 4;
const BOTTOM = 18;
const TOP = 8;
const POINTS_MAX = 600;

/**
 * A chart.
 *
 * @param title what is drawn
 * @param lines [{name, at: (ring, i) → number}], at most five
 * @param show a number as text, with its unit
 */
export function chart({ title, lines, show, about }) {
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const labels = el('div', { 'aria-hidden': 'true' });
  const keys = el('p', { class: 'keys' });
  const box = el('div', { class: 'chart' }, canvas, labels);
  const root = el('section', { class: 'panel', 'aria-label': title },
      el('div', { class: 'panel-head' }, el('h2', {}, title), el('span', { class: 'muted' }, about ?? '')), keys, box);
  const keyNodes = lines.map((line, i) => el('span', { class: `key key-${i + 1}` }));
  fill(keys, keyNodes);
  let ring = null;
  let seconds = 300;
  let pointer = null;

  box.addEventListener('pointermove', event => {
    pointer = event.clientX - box.getBoundingClientRect().left;
    draw();
  });
  box.addEventListener('pointerleave', () => {
    pointer = null;
    draw();
  });

  function set(newRing, newSeconds) {
    ring = newRing;
    seconds = newSeconds;
    draw();
  }

  function draw() {
    if (ring === null) {
      return;
    }
    root.hidden = !lines.some(isMeasured); // what this server does not measure takes no room
    const width = box.clientWidth;
    const height = box.clientHeight;
    if (width === 0) {
      return;
    }
    const pen = sized(canvas, width, height);
    const from = Math.max(0, ring.length - seconds);
    const step = Math.max(1, Math.ceil((ring.length - from) / POINTS_MAX));
    const series = lines.map(line => sampled(line, from, step));
    const top = Math.max(...series.flat().map(point => point.y).filter(Number.isFinite), 0);
    const max = top > 0 ? top * 1.1 : 1;
    const end = ring.length > 0 ? ring.time(ring.length - 1) : 0;
    const start = end - seconds * 1000;
    const x = millis => LEFT + ((millis - start) / (end - start)) * (width - 2 * LEFT);
    const y = figure => TOP + (1 - figure / max) * (height - TOP - BOTTOM);
    const marks = top > 0 ? ticks(0, max, 3) : [0];
    pen.fillStyle = colour('line');
    marks.forEach(at => pen.fillRect(LEFT, Math.round(y(at)), width - 2 * LEFT, 1));
    fill(labels, marks.filter(at => at > 0).map(at => label(show(at), LEFT, y(at) - 15)),
        end > 0 ? [label(clock(start), LEFT, height - 16), endLabel(clock(end), height - 16)] : []);
    series.forEach((points, i) => line(pen, points, colour(`c${i + 1}`), x, y));
    readOut(pen, series, x, height);
  }

  /** Whether there is a figure in the time that is shown; a share of nothing is none for a while. */
  function isMeasured({ at }) {
    for (let i = ring.length - 1; i >= Math.max(0, ring.length - seconds); i--) {
      if (Number.isFinite(at(ring, i))) {
        return true;
      }
    }
    return false;
  }

  function sampled({ at }, from, step) {
    const points = [];
    for (let i = from; i < ring.length; i += step) {
      let most = NaN;
      for (let j = i; j < Math.min(i + step, ring.length); j++) {
        const one = at(ring, j);
        most = Number.isFinite(most) ? Math.max(most, Number.isFinite(one) ? one : most) : one;
      }
      points.push({ x: ring.time(Math.min(i + step, ring.length) - 1), y: most });
    }
    return points;
  }

  function readOut(pen, series, x, height) {
    let chosen = -1;
    if (pointer !== null && series[0].length > 0) {
      let nearest = Infinity;
      series[0].forEach((point, i) => {
        const away = Math.abs(x(point.x) - pointer);
        if (away < nearest) {
          [nearest, chosen] = [away, i];
        }
      });
      pen.fillStyle = colour('muted');
      pen.fillRect(x(series[0][chosen].x), TOP, 1, height - TOP - BOTTOM);
    }
    lines.forEach((one, i) => {
      const point = chosen < 0 ? series[i].at(-1) : series[i][chosen];
      say(keyNodes[i], `${one.name} ${show(point?.y ?? NaN)}${chosen < 0 ? '' : ` at ${clock(point.x)}`}`);
    });
  }

  window.addEventListener('theme', draw);
  new ResizeObserver(draw).observe(box);
  return { root, set };
}

function line(pen, points, stroke, x, y) {
  pen.strokeStyle = stroke;
  pen.lineWidth = 1.6;
  pen.lineJoin = 'round';
  pen.beginPath();
  let open = false;
  for (const point of points) {
    if (!Number.isFinite(point.y)) {
      open = false;
    } else if (open) {
      pen.lineTo(x(point.x), y(point.y));
    } else {
      pen.moveTo(x(point.x), y(point.y));
      open = true;
    }
  }
  pen.stroke();
}

function label(text, left, top) {
  const node = el('span', { class: 'chart-label' }, text);
  node.style.left = `${left}px`;
  node.style.top = `${Math.max(0, top)}px`;
  return node;
}

function endLabel(text, top) {
  const node = label(text, 0, top);
  node.style.left = 'auto';
  node.style.right = '4px';
  return node;
}
