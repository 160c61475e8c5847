// What figures and events mean in words: why writers wait, what a slow operation spent its time on.
// Pure.

import { bytes, count, integer, nanos, percent, rate } from './format.js';

const RECENT_MILLIS = 60_000;

/** Why writers are slow now, or that they are not: {level, title, lines}. */
export function writersNow(ring, events, now) {
  const stalls = ring.grown('write.stall.time:count', 60);
  const stalled = ring.grown('write.stall.time:nanosSum', 60);
  const delayed = ring.grown('write.delay.time:nanosSum', 60);
  const recent = events.filter(one => now - Date.parse(one.at) < RECENT_MILLIS);
  const stall = recent.findLast(one => one.event === 'Stalled');
  const slowed = events.findLast(one => one.event === 'Slowed');
  const backlog = ring.last('merge.backlog.components');
  const lines = [];
  if (stalls > 0 || stall) {
    lines.push(`${count(Math.max(stalls, stall ? 1 : 0), 'stall')} in the last minute, together ${nanos(Math.max(stalled, stall?.nanos ?? 0))}.`);
    if (stall) {
      lines.push(`The last: ${stall.dataset}, partition ${stall.partition}, ${nanos(stall.nanos)}: ${stall.cause}.`);
    }
    return { level: 'bad', title: 'Writers stand still at times', lines: [...lines, ...behind(ring, backlog)] };
  }
  if (slowed?.slowed || delayed > 0) {
    lines.push(`Writers waited ${nanos(delayed)} in the last minute to keep the pace that flushes and merges can follow`
        + `${slowed?.slowed ? ` (${rate(slowed.bytesPerSecond)})` : ''}.`);
    return { level: 'warn', title: 'Writers are held to a pace', lines: [...lines, ...behind(ring, backlog)] };
  }
  return { level: 'good', title: 'Nothing holds writers up', lines: ['No stall and no delay in the last minute.'] };
}

function behind(ring, backlog) {
  return backlog > 0
      ? [`The index that is most behind has ${count(backlog, 'component')} more than its merge policy tolerates; merges still have ${bytes(ring.last('merge.backlog.bytes'))} to read and may write ${rate(ring.last('merge.pace.bytes'))}.`]
      : [`Not on disk yet: ${bytes(ring.last('memory.unflushed.bytes'))}.`];
}

const CAUSES = [['lockNanos', 'lock'], ['logNanos', 'log'], ['stallNanos', 'stall'], ['pageReadNanos', 'page reads'], ['mergeNanos', 'merge']];

/** The times by cause of one slow operation: [[cause, nanoseconds]], the largest first. */
export function causesOf(operation) {
  const given = operation.causes && typeof operation.causes === 'object'
      ? Object.entries(operation.causes)
      : CAUSES.filter(([key]) => operation[key] > 0).map(([key, name]) => [name, operation[key]]);
  const known = given.filter(([, one]) => one > 0).sort((a, b) => b[1] - a[1]);
  const rest = (operation.nanos ?? 0) - known.reduce((sum, [, one]) => sum + one, 0);
  return rest > 0 ? [...known, ['its own work', rest]] : known;
}

/** What the waits of the last seconds consist of, from the counters: [{cause, nanos, count, longest}]. */
export function waitsOf(ring, seconds) {
  return [['write.stall.time', 'stall: write memory full, or merges too far behind'],
    ['write.delay.time', 'pace: writers kept to what flushes and merges can follow'],
    ['cache.load', 'page reads: pages read, checked and unpacked'],
    ['flush.time', 'flushes, beside the writers'],
    ['merge.time', 'merges, beside the writers'],
    ['repair.time', 'repairs, beside the writers']]
      .filter(([name]) => ring.has(`${name}:count`))
      .map(([name, cause]) => ({ cause, count: ring.grown(`${name}:count`, seconds),
        nanos: ring.grown(`${name}:nanosSum`, seconds), p999: ring.last(`${name}:p999Nanos`) }))
      .sort((a, b) => b.nanos - a.nanos);
}

/** What to worry about as far as this page can tell by itself: where the server tells, it asks there. */
export function ownFindings(description, ring, events, now) {
  const found = [];
  const add = (level, what, figure, advice) => found.push({ level, what, figure, advice });
  const writers = writersNow(ring, events, now);
  if (writers.level !== 'good') {
    add(writers.level, writers.title, writers.lines[0], 'Give more write memory or merge workers, a laxer merge policy, or fewer indexes.');
  }
  for (const dataset of description?.datasets ?? []) {
    for (const partition of dataset.partitions) {
      for (const index of partition.indexes) {
        const damaged = index.components.filter(one => one.quarantine).length;
        if (damaged > 0) {
          add('bad', `${dataset.name}.${index.name} has damaged components`, count(damaged, 'component'),
              `Rebuild the index (./turbidite index rebuild), or restore the component from a backup.`);
        }
        if (index.state !== 'ready') {
          add('warn', `${dataset.name}.${index.name} is ${index.state}`, `partition ${partition.partition}`,
              'Queries do without it until it is ready: ./turbidite index enable.');
        }
      }
    }
  }
  const garbage = ring.last('deferred.garbage.percent');
  if (garbage > 30) {
    add('warn', 'A deferred index has many obsolete entries', percent(garbage), 'Merge the primary: ./turbidite merge.');
  }
  for (const old of description?.snapshots ?? []) {
    if (old.ageSeconds > 600) {
      add('warn', 'A snapshot is old; the disk keeps what it shows', `operation ${integer(old.timestamp)}, ${integer(old.ageSeconds)} s`,
          'Close it, if somebody has forgotten it.');
    }
  }
  for (const event of events.filter(one => ['Failed', 'RegionRefused', 'ListenerSlow'].includes(one.event)).slice(-5)) {
    add('warn', event.what ?? event.event, event.cause ?? '', 'See docs/metrics.md, Events.');
  }
  return found;
}
