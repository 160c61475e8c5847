package io.turbidite.feeds;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which partition of the source is with which parse worker.
 *
 * <p>Partitions of a source that has an end are fetched by the workers, one after the other. Those
 * of an endless one are dealt out by the run. Invariants:
 *
 * <ol>
 *   <li>a partition is with one worker at a time,
 *   <li>it comes to another one, or back to the same, only when all batches of it are delivered: so
 *       its order is kept, and its row says where to go on.
 * </ol>
 *
 * <p><em>Thread-safe by its lock</em>, under which nothing is waited for.
 */
final class PartitionDeal {
    // guarded by this
    private final ArrayDeque<String> left = new ArrayDeque<>();
    private final Map<String, Dealt> dealt = new HashMap<>();

    /** Those of them that their workers are to give up. */
    private final Set<String> released = new LinkedHashSet<>();

    /** Those that were given up, or have ended, and are not delivered yet. */
    private final Set<String> closed = new LinkedHashSet<>();

    /** How many each worker has, without those. */
    private final Map<ParseWorker, Integer> counts = new HashMap<>();

    private final Set<String> ended = new HashSet<>();
    private Set<String> there = Set.of();
    private long dealtCount;

    /** A partition of an endless source that is with a worker, or was until just now. */
    private static final class Dealt {
        private final ParseWorker worker;
        private boolean isOpen;

        /** The last batch of it, once it was given up. */
        private long lastBatch;

        Dealt(ParseWorker worker) {
            this.worker = worker;
        }
    }

    // ---- of a source with an end

    /** The partitions to be read, in their order. */
    synchronized void begin(List<String> partitions) {
        left.addAll(partitions);
    }

    /** The next partition for the worker that asks; null if there is none. */
    synchronized @Nullable String next() {
        return left.poll();
    }

    // ---- of an endless source, what the run does

    /**
     * Takes note of what there is.
     *
     * @param now the partitions that there are
     * @param gone those that are another feed's, or that must be opened anew
     */
    synchronized void note(List<String> now, List<String> gone) {
        there = new LinkedHashSet<>(now);
        ended.retainAll(there);
        gone.forEach(this::release);
    }

    /**
     * Deals out what nobody has.
     *
     * @param workers at least one
     * @return whether each partition is with a worker, so that who waits misses none
     */
    synchronized boolean deal(List<ParseWorker> workers) {
        closed.removeIf(this::isDelivered);
        boolean isWhole = true;
        for (String partition : there) {
            if (ended.contains(partition)) {
                continue;
            }
            if (!dealt.containsKey(partition)) {
                ParseWorker worker = leastOf(workers);
                dealt.put(partition, new Dealt(worker));
                counts.merge(worker, 1, Integer::sum);
                dealtCount++;
            }
            isWhole &= isHeld(partition);
        }
        return isWhole;
    }

    private void release(String partition) {
        Dealt of = dealt.get(partition);
        if (of != null && isHeld(partition)) {
            released.add(partition);
            counts.merge(of.worker, -1, Integer::sum);
        }
    }

    /** Whether a partition that was dealt out is its worker's, and stays so. */
    private boolean isHeld(String partition) {
        return !released.contains(partition) && !closed.contains(partition);
    }

    private boolean isDelivered(String partition) {
        Dealt of = dealt.get(partition);
        if (of != null && !of.worker.hasDelivered(of.lastBatch)) {
            return false;
        }
        dealt.remove(partition);
        return true;
    }

    private ParseWorker leastOf(List<ParseWorker> workers) {
        ParseWorker least = workers.getFirst();
        for (ParseWorker worker : workers) {
            if (counts.getOrDefault(worker, 0) < counts.getOrDefault(least, 0)) {
                least = worker;
            }
        }
        return least;
    }

    /** How often a partition was dealt out so far. */
    synchronized long dealtCount() {
        return dealtCount;
    }

    /** What a worker is to do now. */
    synchronized ParseWorker.Round round(ParseWorker worker) {
        List<String> read = new ArrayList<>();
        List<String> close = new ArrayList<>();
        for (String partition : there) {
            Dealt of = dealt.get(partition);
            if (of != null && of.worker.equals(worker) && isHeld(partition)) {
                read.add(partition);
            }
        }
        for (String partition : released) {
            Dealt of = dealt.get(partition);
            if (of != null && of.worker.equals(worker)) {
                close.add(partition);
            }
        }
        return new ParseWorker.Round(read, close);
    }

    /** How many partitions can be read at once. */
    synchronized int countToRead() {
        int count = left.size();
        for (String partition : there) {
            count += ended.contains(partition) ? 0 : 1;
        }
        return count;
    }

    // ---- of an endless source, what the workers do

    /** Whether the worker is to open the partition, which it then has. */
    synchronized boolean opens(String partition, ParseWorker worker) {
        Dealt of = dealt.get(partition);
        if (of == null || !of.worker.equals(worker) || of.isOpen || !isHeld(partition)) {
            return false;
        }
        of.isOpen = true;
        return true;
    }

    /** Whether the worker has the partition and is to read it on. */
    synchronized boolean holds(String partition, ParseWorker worker) {
        Dealt of = dealt.get(partition);
        return of != null && of.worker.equals(worker) && of.isOpen && isHeld(partition);
    }

    /** Whether the worker is to give the partition up. */
    synchronized boolean isReleased(String partition, ParseWorker worker) {
        Dealt of = dealt.get(partition);
        return of != null && of.worker.equals(worker) && released.contains(partition);
    }

    /**
     * A worker does not have the partition any more.
     *
     * @param lastBatch the last one that it published
     * @param hasEnded whether there is nothing more to read
     */
    synchronized void closed(
            String partition, ParseWorker worker, long lastBatch, boolean hasEnded) {
        Dealt of = dealt.get(partition);
        if (of == null || !of.worker.equals(worker)) {
            throw new IllegalStateException(partition + " is not with the worker");
        }
        if (!released.remove(partition)) {
            counts.merge(worker, -1, Integer::sum);
        }
        of.lastBatch = lastBatch;
        closed.add(partition);
        if (hasEnded) {
            ended.add(partition);
        }
    }
}
