// Numbers, times and values as people read them. Pure: nothing here knows the page. Every figure
// comes with its unit; digits are grouped by thin spaces, so no reader takes them for decimals.

const KIB = 1024;
const BYTE_UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];
const MICROS_DATE = /^-?\d{4,}-\d\d-\d\dT/;

/** An integer with its digits in groups of three: 12 345. */
export function integer(value) {
  if (typeof value === 'bigint' || Number.isFinite(value)) {
    const text = typeof value === 'bigint' ? value.toString() : Math.round(value).toFixed(0);
    return text.replace(/\B(?=(\d{3})+$)/g, '\u202f');
  }
  return '–';
}

/** Three digits that count, no exponent: 1.23, 12.3, 123, 1 234. */
export function short(value) {
  if (!Number.isFinite(value)) {
    return '–';
  }
  const size = Math.abs(value);
  if (size >= 100 || value === 0) {
    return integer(value);
  }
  const digits = size >= 10 ? 1 : size >= 1 ? 2 : 3;
  return trimmed(value.toFixed(digits));
}

function trimmed(text) {
  return text.includes('.') ? text.replace(/\.?0+$/, '') : text;
}

/** A count of things: 1 record, 2 records. */
export function count(value, one, many = `${one}s`) {
  return `${integer(value)} ${value === 1 ? one : many}`;
}

export function bytes(value) {
  if (!Number.isFinite(value)) {
    return '–';
  }
  let size = Math.abs(value);
  let unit = 0;
  while (size >= KIB && unit < BYTE_UNITS.length - 1) {
    size /= KIB;
    unit++;
  }
  const text = unit === 0 ? size.toFixed(0) : size >= 100 ? size.toFixed(0) : trimmed(size.toFixed(1));
  return `${value < 0 ? '−' : ''}${text} ${BYTE_UNITS[unit]}`;
}

export function percent(value) {
  if (!Number.isFinite(value)) {
    return '–';
  }
  return `${value !== 0 && Math.abs(value) < 10 ? trimmed(value.toFixed(1)) : integer(value)} %`;
}

/** A share of a whole, as a percentage; nothing of nothing is 0 %. */
export function share(part, whole) {
  return percent(whole > 0 ? (100 * part) / whole : 0);
}

/** A length of time, from nanoseconds. */
export function nanos(value) {
  if (!Number.isFinite(value)) {
    return '–';
  }
  for (const [unit, size] of [['s', 1e9], ['ms', 1e6], ['µs', 1e3]]) {
    if (Math.abs(value) >= size) {
      return unit === 's' && value >= 120e9 ? span(value / 1e9) : `${short(value / size)} ${unit}`;
    }
  }
  return `${short(value)} ns`;
}

/** A length of time, from seconds: 12 s, 3 min, 2 h 5 min, 4 days. */
export function span(seconds) {
  if (!Number.isFinite(seconds)) {
    return '–';
  }
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) {
    return `${whole} s`;
  }
  if (whole < 7200) {
    return `${Math.floor(whole / 60)} min`;
  }
  if (whole < 172_800) {
    return `${Math.floor(whole / 3600)} h ${Math.floor((whole % 3600) / 60)} min`;
  }
  return `${Math.floor(whole / 86_400)} days`;
}

/** The time of a day in the reader's zone: 14:03:07. */
export function clock(millis) {
  const at = new Date(millis);
  return [at.getHours(), at.getMinutes(), at.getSeconds()]
      .map(part => String(part).padStart(2, '0')).join(':');
}

/** How long ago something was: just now, 12 s ago. */
export function ago(millis, now) {
  const seconds = (now - millis) / 1000;
  return seconds < 2 ? 'just now' : `${span(seconds)} ago`;
}

/** A rate of bytes, or of something that has a name. */
export function rate(value, unit = 'B') {
  return unit === 'B' ? `${bytes(value)}/s` : `${short(value)} ${unit}/s`;
}

/** A figure of a store with its unit, which its name tells (docs/metrics.md). */
export function metric(name, value) {
  if (typeof value !== 'number') {
    return String(value);
  }
  if (/\.pace\.bytes$/.test(name)) {
    return rate(value);
  }
  if (/bytes/.test(name)) {
    return bytes(value);
  }
  return /percent$/.test(name) ? percent(value)
      : /\.time$|\.load$|nanos$/.test(name) ? `${nanos(value)} at the 99th percentile` : count(value, 'time');
}

/** A whole number with more digits than a number of the page holds: it is shown with all of them. */
export class Whole {
  constructor(digits) {
    this.digits = digits;
  }

  valueOf() {
    return Number(this.digits);
  }

  toString() {
    return this.digits;
  }

  toJSON() {
    return JSON.rawJSON ? JSON.rawJSON(this.digits) : this.digits; // without it as a text
  }
}

/** A row as it was sent; a browser that does not tell a number's text rounds it beyond 2^53. */
export function row(line) {
  return /\d{16}/.test(line) ? JSON.parse(line, whole) : JSON.parse(line);
}

function whole(name, one, context) {
  return typeof one === 'number' && !Number.isSafeInteger(one) && /^-?\d+$/.test(context?.source ?? '')
    ? new Whole(context.source) : one;
}

/** A value of a record as text, whatever its type. */
export function value(one) {
  if (one === null || one === undefined) {
    return 'null';
  }
  if (one instanceof Whole) {
    return one.digits;
  }
  return typeof one === 'object' ? JSON.stringify(one) : String(one);
}

/** What a bound of a filter is as a number, or NaN: dates are milliseconds. */
export function bound(one) {
  if (typeof one === 'number') {
    return one;
  }
  if (typeof one === 'string' && MICROS_DATE.test(one)) {
    return Date.parse(one);
  }
  return NaN;
}

/** The plain word for a state or an event: IndexChanged is "index changed". */
export function words(name) {
  return String(name).replace(/([a-z])([A-Z])/g, '$1 $2').replace(/[_-]/g, ' ').toLowerCase();
}

/** Ticks at round numbers between two numbers, about as many as asked for. */
export function ticks(min, max, wanted) {
  if (!(max > min) || wanted < 1) {
    return [];
  }
  const rough = (max - min) / wanted;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find(one => one * power >= rough) ?? 10);
  const found = [];
  for (let at = Math.ceil(min / step) * step; at <= max + step * 1e-9; at += step) {
    found.push(Math.abs(at) < step * 1e-9 ? 0 : at);
  }
  return found;
}

const TIME_STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 21_600, 43_200,
    86_400, 172_800, 604_800, 1_209_600, 2_592_000, 7_776_000, 31_536_000, 157_680_000, 315_360_000];

/** Ticks at round times between two times in milliseconds. */
export function timeTicks(min, max, wanted) {
  if (!(max > min) || wanted < 1) {
    return [];
  }
  const rough = (max - min) / wanted / 1000;
  const step = 1000 * (TIME_STEPS.find(one => one >= rough) ?? TIME_STEPS.at(-1));
  const found = [];
  for (let at = Math.ceil(min / step) * step; at <= max; at += step) {
    found.push(at);
  }
  return found;
}

/** A time on an axis: as many parts of it as the length of the axis asks for. */
export function timeLabel(millis, length) {
  const iso = new Date(millis).toISOString();
  if (length > 3 * 365 * 86_400_000) {
    return iso.slice(0, 4);
  }
  if (length > 3 * 86_400_000) {
    return iso.slice(0, 10);
  }
  return length > 600_000 ? `${iso.slice(5, 10)} ${iso.slice(11, 16)}` : iso.slice(11, 19);
}
