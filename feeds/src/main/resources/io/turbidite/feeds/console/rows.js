// What the view Query does with rows, as far as it needs no page. Pure.

import { value } from './format.js';

const NODES_MAX = 1700;
const COLUMNS_MAX = 60;
export const ROW_HEIGHT = 28;

/** The columns of rows that are objects, in the order in which they are met. */
export function columnsOf(rows) {
  const names = new Set();
  for (const row of rows) {
    Object.keys(row).forEach(name => names.add(name));
  }
  return [...names];
}

/** How many rows and columns may be on the page at once: at most 1,700 elements. */
export function poolOf(columnCount, visibleRows) {
  const columns = Math.min(columnCount, COLUMNS_MAX);
  return { columns, rows: Math.max(8, Math.min(visibleRows, Math.floor(NODES_MAX / (columns + 1)))) };
}

/** The first row of those on the page, where the top of the viewport is so many pixels down. */
export function firstRow(scrollTop, rowCount, poolRows) {
  return Math.max(0, Math.min(Math.floor(scrollTop / ROW_HEIGHT), rowCount - poolRows));
}

/**
 * Rows as CSV, after RFC 4180: null is an empty cell, an empty text is "". A text that a spreadsheet
 * would run as a formula gets an apostrophe before it; one that is a number stays.
 */
export function toCsv(columns, rows) {
  const line = cells => `${cells.map(csvCell).join(',')}\r\n`;
  return [columns, ...rows.map(row => columns.map(name => row[name]))].map(line).join('');
}

const FORMULA = /^[=+\-@\t\r\n\uff1d\uff0b\uff0d\uff20]/;
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

function csvCell(one) {
  if (one === null || one === undefined) {
    return '';
  }
  const text = value(one);
  const safe = typeof one === 'string' && FORMULA.test(text) && !NUMBER.test(text) ? `'${text}` : text;
  // a semicolon or a tab separates cells, too, in spreadsheets of some countries
  return safe === '' || /[",;\t\r\n]|^ | $/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export function toJson(rows) {
  return rows.map(row => `${JSON.stringify(row)}\n`).join('');
}

/** The command that asks the same, for a shell; behind "--" nothing is taken for an option. */
export function toCommand(directory, statement) {
  return `./turbidite sql -- ${quoted(directory)} ${quoted(statement)}`;
}

function quoted(text) {
  return /^[\w./:-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}

/** Points, cells and rectangles in rows: what a plot shows. */
export function shapesOf(columns, rows, max = 20_000) {
  const found = [];
  const numbers = (one, length) => Array.isArray(one) && one.length === length && one.every(Number.isFinite);
  const weight = columns.find(name => ['count', 'n', 'cnt', 'weight'].includes(name.toLowerCase()));
  for (const row of rows.slice(0, max)) {
    for (const name of columns) {
      const one = geometry(row[name]);
      if (numbers(one, 2)) {
        found.push({ box: [one[0], one[1], one[0], one[1]], weight: weight ? Number(row[weight]) : 1 });
      } else if (numbers(one, 4)) {
        found.push({ box: one, weight: weight ? Number(row[weight]) : 1 });
      }
    }
  }
  return found;
}

/** Points may come as JSON within text. */
function geometry(one) {
  if (typeof one === 'string' && /^\[[-\d.,eE+\s]+\]$/.test(one)) {
    try {
      return JSON.parse(one);
    } catch {
      return one; // looks like a point and is none: text like any other
    }
  }
  return one;
}

export const KEYWORDS = ['SELECT', 'FROM', 'WHERE', 'GROUP BY', 'ORDER BY', 'HAVING', 'LIMIT', 'OFFSET', 'AND', 'OR',
  'NOT', 'IN', 'IS NULL', 'BETWEEN', 'LIKE', 'JOIN', 'LEFT JOIN', 'ON', 'AS', 'DISTINCT', 'COUNT(*)', 'SUM(', 'AVG(',
  'MIN(', 'MAX(', 'DESC', 'INSERT INTO', 'UPSERT INTO', 'UPDATE', 'DELETE FROM', 'VALUES', 'SET', 'EXPLAIN ANALYZE',
  'CREATE TABLE', 'DROP TABLE', 'SHOW TABLES', 'DESCRIBE', 'UNION ALL', 'WITH', 'CASE', 'WHEN', 'THEN', 'ELSE', 'END'];

/** What the word before the caret may become: fields and tables of the store, then words of SQL. */
export function completions(text, caret, datasets, max = 12) {
  const word = /[\w$.]*$/.exec(text.slice(0, caret))[0];
  const part = word.slice(word.lastIndexOf('.') + 1);
  if (part === '' && !word.endsWith('.')) {
    return { word: '', found: [] };
  }
  const lower = part.toLowerCase();
  const found = [];
  const offer = (name, kind) => {
    if (found.length < max && name.toLowerCase().startsWith(lower) && name !== part
        && !found.some(one => one.text === name)) {
      found.push({ text: name, kind });
    }
  };
  const named = datasets.filter(one => new RegExp(`\\b${one.name.replace(/[^\w]/g, '\\$&')}\\b`).test(text));
  for (const dataset of named.length > 0 ? named : datasets) {
    Object.entries(dataset.type ?? {}).forEach(([name, type]) => offer(name, String(type)));
  }
  if (!word.includes('.')) {
    datasets.forEach(one => offer(one.name, 'table'));
    KEYWORDS.forEach(one => offer(one, 'SQL'));
  }
  return { word: part, found };
}

/** Operators in a line, each with its depth, as a tree: an operator's inputs follow it, deeper. */
export function planTree(operators) {
  const root = { children: [] };
  const path = [root];
  operators.forEach((operator, i) => {
    const depth = Math.min(i === 0 ? 0 : Math.max(1, operator.depth ?? path.length - 1), path.length - 1);
    const node = { operator, children: [] };
    path[depth].children.push(node);
    path.length = depth + 1;
    path.push(node);
  });
  return root.children;
}
