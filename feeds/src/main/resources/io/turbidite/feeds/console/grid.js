// A table of any number of rows of which the page holds a few dozen: rows leave at one end and come
// back at the other, with other text.

import { el, fill } from './dom.js';
import { Whole, value } from './format.js';
import { ROW_HEIGHT, firstRow, poolOf } from './rows.js';

const CELL_CHARS_MAX = 500;
const CHAR_WIDTH = 8;
const CELL_ROOM = 24;

export function grid() {
  const head = el('div', { class: 'grid-head', role: 'row' });
  const body = el('div', { class: 'grid-body', role: 'rowgroup' });
  const root = el('div', { class: 'grid', role: 'table', tabindex: 0, 'aria-label': 'Rows' },
      el('div', { role: 'rowgroup' }, head), body);
  let columns = [];
  let rows = [];
  let pool = [];
  let queued = 0;
  let shownFrom = -1;

  function set(newColumns, newRows) {
    const same = newColumns.length === columns.length && newColumns.every((one, i) => one === columns[i]);
    columns = newColumns;
    rows = newRows;
    const size = poolOf(columns.length, Math.ceil(window.innerHeight * 0.62 / ROW_HEIGHT));
    const wanted = Math.min(size.rows + 2, rows.length); // two are seen in part, above and below
    if (!same || pool.length !== wanted) {
      build(columns.slice(0, size.columns), wanted);
    }
    body.style.height = `${rows.length * ROW_HEIGHT}px`;
    root.style.height = `${Math.min(size.rows, Math.max(1, rows.length)) * ROW_HEIGHT + ROW_HEIGHT + 18}px`;
    root.setAttribute('aria-rowcount', String(rows.length + 1));
    shownFrom = -1;
    paint();
  }

  function build(shown, count) {
    const widths = shown.map(name => width(name, rows));
    fill(head, shown.map((name, i) => sizedCell(el('div', { class: 'cell', role: 'columnheader', title: name }, name), widths[i])));
    pool = Array.from({ length: count }, () => {
      const cells = shown.map((_, i) => sizedCell(el('div', { class: 'cell', role: 'cell' }), widths[i]));
      const chars = widths.map(wide => Math.floor((wide - CELL_ROOM) / CHAR_WIDTH));
      return { node: el('div', { class: 'grid-row', role: 'row' }, cells), cells, names: shown, chars };
    });
    fill(body, pool.map(one => one.node));
  }

  function paint() {
    const from = firstRow(root.scrollTop, rows.length, pool.length);
    if (from === shownFrom) {
      return;
    }
    shownFrom = from;
    pool.forEach((slot, i) => {
      const row = rows[from + i];
      slot.node.style.transform = `translateY(${(from + i) * ROW_HEIGHT}px)`;
      slot.node.setAttribute('aria-rowindex', String(from + i + 2));
      slot.cells.forEach((cell, c) => {
        const one = row?.[slot.names[c]];
        const text = value(one);
        const written = text.length > CELL_CHARS_MAX ? `${text.slice(0, CELL_CHARS_MAX)}…` : text;
        cell.textContent = written;
        cell.title = text.length > slot.chars[c] ? written : ''; // what the column has no room for
        cell.className = one === null || one === undefined ? 'cell null' : typeof one === 'number' || one instanceof Whole ? 'cell number' : 'cell';
      });
    });
  }

  root.addEventListener('scroll', () => {
    cancelAnimationFrame(queued);
    queued = requestAnimationFrame(paint);
  });
  return { root, set };
}

function sizedCell(cell, wide) {
  cell.style.width = `${wide}px`;
  return cell;
}

function width(name, rows) {
  let longest = name.length;
  for (const row of rows.slice(0, 50)) {
    longest = Math.max(longest, value(row[name]).length);
  }
  return Math.min(420, Math.max(70, longest * CHAR_WIDTH + CELL_ROOM));
}
