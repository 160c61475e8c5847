// The figures of the last hour, one a second, in numbers of 8 bytes: 120 figures take 3.5 MB, and
// nothing grows after that. Pure.

export const SECONDS = 3600;
const FIGURES_MAX = 120;

export class Ring {
  #times;
  #series = new Map();
  #capacity;
  #count = 0;

  constructor(capacity = SECONDS) {
    this.#capacity = capacity;
    this.#times = new Float64Array(capacity);
  }

  /** Adds what was measured at a time in milliseconds: name → number. */
  add(millis, figures) {
    const slot = this.#count % this.#capacity;
    this.#times[slot] = millis;
    for (const values of this.#series.values()) {
      values[slot] = NaN;
    }
    for (const [name, figure] of Object.entries(figures)) {
      if (!this.#series.has(name)) {
        if (this.#series.size >= FIGURES_MAX) {
          continue;
        }
        this.#series.set(name, new Float64Array(this.#capacity).fill(NaN));
      }
      this.#series.get(name)[slot] = figure;
    }
    this.#count++;
  }

  get length() {
    return Math.min(this.#count, this.#capacity);
  }

  /** The time of the i-th sample, counted from the oldest that is kept. */
  time(i) {
    return this.#times[this.#slot(i)];
  }

  has(name) {
    return this.#series.has(name);
  }

  names() {
    return [...this.#series.keys()];
  }

  value(name, i) {
    return this.#series.get(name)?.[this.#slot(i)] ?? NaN;
  }

  last(name) {
    return this.length === 0 ? NaN : this.value(name, this.length - 1);
  }

  /** How much a counter grew in a second before the i-th sample; NaN where it isn't known. */
  rate(name, i) {
    if (i < 1) {
      return NaN;
    }
    const seconds = (this.time(i) - this.time(i - 1)) / 1000;
    const grown = this.value(name, i) - this.value(name, i - 1);
    return seconds > 0 && grown >= 0 ? grown / seconds : NaN; // less than before: opened anew
  }

  lastRate(name) {
    return this.rate(name, this.length - 1);
  }

  /** How much a counter grew in the last seconds. */
  grown(name, seconds) {
    let sum = 0;
    for (let i = this.length - 1; i > 0 && this.time(i) > this.time(this.length - 1) - seconds * 1000; i--) {
      const grown = this.value(name, i) - this.value(name, i - 1);
      sum += grown > 0 ? grown : 0;
    }
    return sum;
  }

  get byteLength() {
    return this.#capacity * 8 * (1 + this.#series.size);
  }

  clear() {
    this.#count = 0;
    this.#series.clear();
  }

  #slot(i) {
    return this.#count <= this.#capacity ? i : (this.#count + i) % this.#capacity;
  }
}
