// Points, cells and rectangles on a plain grid: no map, no tiles, nothing from elsewhere.

import { el, say } from './dom.js';
import { count, short, ticks } from './format.js';
import { between, colour, sized } from './theme.js';

const HEIGHT = 420;
const MARGIN = 12;

export function plot() {
  const canvas = el('canvas', { 'aria-hidden': 'true' });
  const about = el('p', { class: 'muted' });
  const box = el('div', {}, canvas);
  const root = el('div', {}, about, box);
  let shapes = [];

  function set(found) {
    shapes = found;
    draw();
  }

  function draw() {
    const width = box.clientWidth;
    if (shapes.length === 0 || width === 0) {
      canvas.hidden = true;
      say(about, 'No column of the answer has points [x, y] or boxes [minX, minY, maxX, maxY].');
      return;
    }
    canvas.hidden = false;
    let [minX, minY, maxX, maxY] = [Infinity, Infinity, -Infinity, -Infinity];
    for (const { box: [a, b, c, d] } of shapes) {
      [minX, minY, maxX, maxY] = [Math.min(minX, a), Math.min(minY, b), Math.max(maxX, c), Math.max(maxY, d)];
    }
    const scale = Math.min((width - 2 * MARGIN) / (maxX - minX || 1), (HEIGHT - 2 * MARGIN) / (maxY - minY || 1));
    const x = at => MARGIN + (at - minX) * scale;
    const y = at => HEIGHT - MARGIN - (at - minY) * scale;
    const pen = sized(canvas, width, HEIGHT);
    pen.fillStyle = colour('line');
    ticks(minX, maxX, 8).forEach(at => pen.fillRect(x(at), MARGIN, 1, HEIGHT - 2 * MARGIN));
    ticks(minY, maxY, 6).forEach(at => pen.fillRect(MARGIN, y(at), width - 2 * MARGIN, 1));
    const heaviest = Math.max(...shapes.map(one => one.weight || 1));
    for (const { box: [a, b, c, d], weight } of shapes) {
      pen.fillStyle = between(colour('primary-new'), colour('primary-old'), Math.sqrt(Math.max(0, weight) / heaviest));
      if (a === c && b === d) {
        pen.beginPath();
        pen.arc(x(a), y(b), 2.5, 0, 7);
        pen.fill();
      } else {
        pen.fillRect(x(a), y(d), Math.max(1, (c - a) * scale - 1), Math.max(1, (d - b) * scale - 1));
      }
    }
    say(about, `${count(shapes.length, 'place')}: x from ${short(minX)} to ${short(maxX)}, `
        + `y from ${short(minY)} to ${short(maxY)}, in the units of the data.`);
  }

  new ResizeObserver(draw).observe(box);
  window.addEventListener('theme', draw);
  return { root, set };
}
