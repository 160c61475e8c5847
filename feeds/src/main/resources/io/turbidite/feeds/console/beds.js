// Where the beds of an index lie. Pure: components in, rectangles out, in pixels of a lane whose
// origin is its upper left corner.
//
// x  what the bed covers: its operation numbers, or the values of its filter.
// y  beds come to rest on those below them, the oldest first, as sediment does. Beds of one
//    partition never share operation numbers, so there they lie side by side on the ground;
//    by filter they may overlap, and then they pile up.
// height  the logarithm of the size.

import { bound, ticks, timeTicks } from './format.js';

const BED_WIDTH_MIN = 3;
const BED_HEIGHT_MIN = 5;
const SMALLEST_BYTES = 512;
const GAP = 1;

/**
 * A scale of operation numbers from 0 to `last`. *even* gives each number the same room; *newest*
 * gives the recent ones more, for each level of a merge policy holds some times as many as the one
 * above, and would leave a hair's breadth to the newest.
 */
export function numberScale(last, kind) {
  const max = Math.max(1, last);
  if (kind !== 'newest') {
    return { min: 0, max, at: ts => clamp(ts / max), ticks: wanted => ticks(0, max, wanted) };
  }
  const unit = Math.max(1, max / 400);
  const whole = Math.log1p(max / unit);
  const at = ts => clamp(1 - Math.log1p(Math.max(0, max - ts) / unit) / whole);
  return { min: 0, max, at, ticks: wanted => spread(newestTicks(max), at, wanted) };
}

function newestTicks(max) {
  const found = [0];
  for (let back = 10 ** Math.floor(Math.log10(max)); back >= 1; back /= 10) {
    for (const times of [5, 2, 1]) {
      if (back * times < max) {
        found.push(max - back * times);
      }
    }
  }
  found.push(max);
  return [...new Set(found)].sort((a, b) => a - b);
}

/** Those of the ticks that leave each other room. */
function spread(all, at, wanted) {
  const room = 1 / Math.max(1, wanted);
  const kept = [];
  for (let i = all.length - 1; i >= 0; i--) {
    if (kept.length === 0 || at(kept.at(-1)) - at(all[i]) >= room) {
      kept.push(all[i]);
    }
  }
  return kept.reverse();
}

/** A scale of a filter's values, or null if no component has bounds that are numbers or times. */
export function filterScale(components, field) {
  let min = Infinity;
  let max = -Infinity;
  let time = false;
  for (const component of components) {
    const filter = filterOf(component, field);
    if (filter) {
      min = Math.min(min, bound(filter.min));
      max = Math.max(max, bound(filter.max));
      time ||= typeof filter.min === 'string';
    }
  }
  if (!(max >= min)) {
    return null;
  }
  const length = max - min || 1;
  return {
    min, max: min + length, time,
    at: value => clamp((value - min) / length),
    ticks: wanted => (time ? timeTicks : ticks)(min, min + length, wanted),
  };
}

function filterOf(component, field) {
  const filter = component.filters?.find(one => one.field === field);
  return filter && Number.isFinite(bound(filter.min)) && Number.isFinite(bound(filter.max))
      ? filter : null;
}

function clamp(fraction) {
  return Math.min(1, Math.max(0, fraction));
}

/** What part of the scale a component covers; one without this filter covers all of it. */
export function spanOf(component, scale, field) {
  if (field === null) {
    return [scale.at(component.minTs - 1), scale.at(component.maxTs)];
  }
  const filter = filterOf(component, field);
  return filter ? [scale.at(bound(filter.min)), scale.at(bound(filter.max))] : [0, 1];
}

/** How high a bed of some bytes is, as a share of the highest: by the logarithm of both. */
export function heightShare(bytes, largest) {
  const top = Math.log(Math.max(largest, SMALLEST_BYTES * 2) / SMALLEST_BYTES);
  return clamp(Math.log(Math.max(bytes, SMALLEST_BYTES) / SMALLEST_BYTES) / top);
}

/**
 * The beds of one index in one partition.
 *
 * @param components as the server describes them
 * @param lane {width, height, scale, field (null: by operation number), largest (bytes)}
 * @returns beds {component, x, y, width, height, age: 0 newest to 1 oldest, dead: share of entries,
 *     unchecked: [from, to] in pixels or null}, the oldest first
 */
export function settle(components, lane) {
  const oldestFirst = [...components].sort((a, b) => a.maxTs - b.maxTs || a.minTs - b.minTs);
  const skyline = [];
  const beds = oldestFirst.map((component, i) => {
    const [from, to] = spanOf(component, lane.scale, lane.field);
    const width = Math.max(BED_WIDTH_MIN, (to - from) * lane.width - GAP);
    const x = Math.max(0, Math.min(from * lane.width, lane.width - width));
    const height = BED_HEIGHT_MIN
        + heightShare(component.bytes, lane.largest) * Math.max(0, lane.height - BED_HEIGHT_MIN);
    return { component, x, width, height, y: 0,
        age: oldestFirst.length < 2 ? 0 : 1 - i / (oldestFirst.length - 1),
        dead: deadShare(component), unchecked: null };
  });
  let top = 0;
  for (const bed of beds) {
    const ground = restsOn(skyline, bed);
    bed.y = ground;
    const level = ground + bed.height + GAP;
    skyline.push({ from: bed.x, to: bed.x + bed.width, level });
    top = Math.max(top, level - GAP);
  }
  const squeeze = top > lane.height ? lane.height / top : 1;
  for (const bed of beds) {
    bed.height = Math.max(2, bed.height * squeeze);
    bed.y = lane.height - bed.y * squeeze - bed.height;
    bed.unchecked = uncheckedOf(bed, lane);
  }
  return beds;
}

function restsOn(skyline, bed) {
  let ground = 0;
  for (const below of skyline) {
    if (below.from < bed.x + bed.width - GAP && bed.x < below.to - GAP) {
      ground = Math.max(ground, below.level);
    }
  }
  return ground;
}

export function deadShare(component) {
  return component.entries > 0 ? clamp((component.deadEntries ?? 0) / component.entries) : 0;
}

function uncheckedOf(bed, lane) {
  const { repairedTs, minTs, maxTs } = bed.component;
  if (!lane.repairs || repairedTs >= maxTs) {
    return null;
  }
  const from = lane.field !== null || repairedTs < minTs
      ? bed.x : Math.max(bed.x, lane.scale.at(repairedTs) * lane.width);
  return [Math.min(from, bed.x + bed.width - BED_WIDTH_MIN), bed.x + bed.width];
}

/** Where the memory component hangs: above the numbers that are not on disk yet. */
export function memoryBox(partition, lastTimestamp, lane) {
  if (lane.field !== null) {
    return { x: 0, width: lane.width };
  }
  const from = lane.scale.at(Math.min(partition.flushedTs, lastTimestamp)) * lane.width;
  const width = Math.max(18, lane.width - from);
  return { x: lane.width - width, width };
}

/** What lies in the place of a bed that is gone: the one that covers all of its numbers. */
export function successor(gone, beds) {
  return beds.find(bed => bed.component.minTs <= gone.minTs && bed.component.maxTs >= gone.maxTs)
      ?? null;
}

/** The name of a component within its store. Files are never named twice. */
export function keyOf(component) {
  return `${component.minTs}-${component.maxTs}-${component.file}`;
}

/** Sums of an index over all partitions. */
export function sumsOf(components) {
  const sums = { count: components.length, bytes: 0, entries: 0, dead: 0, antimatter: 0, quarantined: 0 };
  for (const component of components) {
    sums.bytes += component.bytes;
    sums.entries += component.entries;
    sums.dead += component.deadEntries ?? 0;
    sums.antimatter += component.antimatter ?? 0;
    sums.quarantined += component.quarantine ? 1 : 0;
  }
  return sums;
}

/** By partition, the beds that a merge or a repair is about to replace: {dataset, policy, index, beds}. */
export function workOf(description) {
  return description.datasets.flatMap(dataset => indexesOf(dataset).flatMap(({ index, lanes }) => lanes.map(lane => ({
    dataset: dataset.name, policy: dataset.mergePolicy, index: index.name,
    beds: lane.index.components.filter(one => one.underWork),
  })))).filter(one => one.beds.length > 0);
}

/** The indexes of a dataset, each with its partitions' components: what rows are drawn from. */
export function indexesOf(dataset) {
  const byName = new Map();
  for (const partition of dataset.partitions) {
    for (const index of partition.indexes) {
      if (!byName.has(index.name)) {
        byName.set(index.name, { index, lanes: [] });
      }
      byName.get(index.name).lanes.push({ partition, index });
    }
  }
  return [...byName.values()].map(one => ({
    ...one, sums: sumsOf(one.lanes.flatMap(lane => lane.index.components)),
  }));
}

/** The index that has most bytes, and the component with the largest share of dead entries. */
export function extremesOf(description) {
  let bytes = 0;
  let largest = null;
  let deadest = null;
  for (const dataset of description.datasets) {
    for (const one of indexesOf(dataset)) {
      bytes += one.sums.bytes;
      if (one.sums.bytes > 0 && (largest === null || one.sums.bytes > largest.bytes)) {
        largest = { dataset: dataset.name, index: one.index.name, bytes: one.sums.bytes,
            lane: one.lanes[0] };
      }
      for (const lane of one.lanes) {
        for (const component of lane.index.components) {
          const share = deadShare(component);
          if (share > 0 && (deadest === null || share > deadest.share)) {
            deadest = { dataset: dataset.name, index: one.index.name, share, component, lane };
          }
        }
      }
    }
  }
  return { bytes, largest, deadest };
}
