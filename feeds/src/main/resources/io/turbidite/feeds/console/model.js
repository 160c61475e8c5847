// What the page knows: stores, the description of the one that is shown and its last hour, samples,
// events. Views listen and draw; nothing in here touches the page.

import { ApiError, follow, get, segment } from './api.js';
import { keyOf } from './beds.js';
import { Ring } from './ring.js';

const EVENTS_MAX = 512;
const HOUR_MILLIS = 3_600_000;
const MOMENTS_MAX = 720;
const DESCRIBE_SOON_MILLIS = 150;
const DESCRIBE_AT_REST_MILLIS = 2000;

export class Model extends EventTarget {
  stores = [];
  store = null;
  description = null;
  error = null;
  connection = 'loading';
  events = [];
  ring = new Ring();
  moments = [];
  feedFigures = {};
  /** Numbers of the files that the last query passed over, as far as its plan was asked for. */
  passedOver = new Set();

  #following = null;
  #soon = 0;
  #describing = false;
  #describedAt = 0;
  #memorySeen = NaN;
  #lastEvent = 0;

  /** Begins, or begins again with another token. */
  async start() {
    this.#following?.abort();
    this.#following = new AbortController();
    const { signal } = this.#following;
    await this.#load(signal);
    follow('/v1/events', {
      signal,
      onEvent: (name, data) => this.#heard(name, data),
      onState: (state, error) => this.#connected(state, error),
    });
  }

  /** Shows another store. */
  async choose(name) {
    this.store = name;
    this.description = null;
    this.error = null;
    this.moments = [];
    this.events = [];
    this.passedOver = new Set();
    this.#lastEvent = 0;
    this.ring.clear();
    this.#tell('store');
    await this.describe();
  }

  /** A plan tells which components it passed over; the next query begins with none. */
  passOver(files) {
    this.passedOver = new Set(files);
    this.#tell('passedOver');
  }

  async #load(signal) {
    try {
      const answer = await get('/v1/stores', signal);
      this.stores = storesOf(answer);
      this.error = null;
      const still = this.stores.some(one => one.name === this.store);
      if (!still) {
        await this.choose(this.stores[0]?.name ?? null);
      } else {
        await this.describe();
      }
      this.#tell('stores');
    } catch (e) {
      this.#failed(e);
    }
  }

  /** Asks for the description of the store; calls that come meanwhile are answered by this one. */
  async describe() {
    if (this.store === null || this.#describing) {
      return;
    }
    this.#describing = true;
    const store = this.store;
    try {
      const description = await get(`/v1/stores/${segment(store)}?since=${this.#lastEvent}`);
      if (store === this.store) {
        this.error = null;
        this.#described(description);
      }
    } catch (e) {
      this.#failed(e);
    } finally {
      this.#describing = false;
      this.#describedAt = Date.now();
    }
    if (store !== this.store) {
      await this.describe();
    }
  }

  #described(description) {
    for (const event of description.events ?? []) {
      this.#keep(event);
    }
    this.#lastEvent = description.lastEvent ?? 0;
    delete description.events;
    const before = this.moments.at(-1)?.description ?? null;
    shareComponents(before, description);
    this.description = description;
    if (before === null || fingerprint(before) !== fingerprint(description)) {
      this.moments.push({ millis: Date.now(), description });
      this.#forget();
    }
    this.#tell('description');
  }

  /** Drops moments older than an hour, and each second one of the older half if there are many. */
  #forget() {
    const since = Date.now() - HOUR_MILLIS;
    while (this.moments.length > 1 && this.moments[1].millis < since) {
      this.moments.shift();
    }
    if (this.moments.length > MOMENTS_MAX) {
      const half = MOMENTS_MAX / 2;
      this.moments = this.moments.filter((_, i) => i >= half || i % 2 === 0);
    }
  }

  /** What was there at a time of the last hour. */
  momentAt(millis) {
    let found = this.moments[0] ?? null;
    for (const moment of this.moments) {
      if (moment.millis <= millis) {
        found = moment;
      }
    }
    return found;
  }

  #heard(name, data) {
    if (name === 'sample') {
      this.#sampled(data);
    } else if (name === 'store' && data.store === this.store) {
      if (this.#keep(data)) {
        this.#tell('event', data);
      }
      this.#describeSoon();
    } else if (name === 'lost') {
      this.#describeSoon(); // more events than this page could take: the description has them
    }
  }

  #describeSoon() {
    clearTimeout(this.#soon);
    this.#soon = setTimeout(() => this.describe(), DESCRIBE_SOON_MILLIS);
  }

  #sampled(sample) {
    this.ring.add(timeOf(sample) || Date.now(), figuresOf(sample.stores?.[this.store] ?? {}));
    this.feedFigures = sample.feeds ?? {};
    const memory = this.ring.last('memory.unflushed.bytes');
    const stale = Date.now() - this.#describedAt > DESCRIBE_AT_REST_MILLIS;
    if (memory !== this.#memorySeen && stale && !document.hidden) {
      this.#memorySeen = memory;
      this.describe();
    }
    this.#tell('sample');
  }

  #keep(event) {
    const known = event.number !== undefined
        && this.events.some(one => one.number === event.number);
    if (known) {
      return false;
    }
    this.events.push(event);
    if (this.events.length > EVENTS_MAX) {
      this.events.shift();
    }
    return true;
  }

  #connected(state, error) {
    const again = state === 'connected' && this.connection === 'lost';
    this.connection = state;
    if (error !== null && error.status !== 0) {
      this.error = error;
    }
    this.#tell('connection');
    if (again) {
      // perhaps another start of the server, whose events are numbered anew
      this.events = [];
      this.#lastEvent = 0;
      this.#load(this.#following.signal);
    } else if (state === 'connected') {
      this.#describeSoon(); // what happened between the first answer and now
    }
  }

  #failed(error) {
    if (error.name === 'AbortError') {
      return;
    }
    if (error instanceof ApiError && error.status === 0) {
      this.connection = 'lost';
      this.#tell('connection');
      return;
    }
    this.error = error;
    this.#tell('error');
  }

  #tell(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }
}

function storesOf(answer) {
  return answer.stores ?? [];
}

/** The time of an event in milliseconds. */
export function timeOf(event) {
  return Date.parse(event.at);
}

/** The figures of a store by name; each part of a latency by its name behind a colon. */
export function figuresOf(store) {
  const found = {};
  for (const [name, figure] of Object.entries(store)) {
    if (typeof figure === 'number') {
      found[name] = figure;
    } else if (figure !== null) {
      Object.entries(figure).forEach(([part, one]) => { found[`${name}:${part}`] = one; });
    }
  }
  return found;
}

/** Components that are as before are the same objects, so an hour of moments takes little memory. */
function shareComponents(before, description) {
  if (before === null) {
    return;
  }
  const known = new Map();
  eachIndex(before, (path, index) => index.components.forEach(
      component => known.set(`${path}/${keyOf(component)}`, component)));
  eachIndex(description, (path, index) => {
    index.components = index.components.map(component => {
      const same = known.get(`${path}/${keyOf(component)}`);
      return same && JSON.stringify(same) === JSON.stringify(component) ? same : component;
    });
  });
  for (const dataset of description.datasets) {
    const old = before.datasets.find(one => one.name === dataset.name);
    if (old && JSON.stringify(old.type) === JSON.stringify(dataset.type)) {
      dataset.type = old.type;
    }
  }
}

function eachIndex(description, visit) {
  for (const dataset of description.datasets) {
    for (const partition of dataset.partitions) {
      for (const index of partition.indexes) {
        visit(`${dataset.name}/${partition.partition}/${index.name}`, index);
      }
    }
  }
}

function fingerprint(description) {
  const parts = [];
  for (const dataset of description.datasets) {
    for (const partition of dataset.partitions) {
      parts.push(Math.round(Math.log2(1 + partition.memoryBytes) * 4));
    }
  }
  eachIndex(description, (path, index) => parts.push(path, index.state,
      ...index.components.map(one => `${keyOf(one)}:${one.deadEntries}:${one.repairedTs}:${one.quarantine}:${one.underWork}`)));
  return parts.join('|');
}
