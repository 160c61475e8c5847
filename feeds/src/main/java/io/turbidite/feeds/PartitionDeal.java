package io.turbidite.feeds;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SequencedMap;
import java.util.Set;

/**
 * Which partition of the source is with which parse worker.
 *
 * <p>Partitions of a source that has an end are fetched by the workers, one after the other. Those
 * of an endless one are dealt out by the run, which may move them later. Invariants:
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

    /** In the order in which they are to be moved: those last that were kept. */
    private final SequencedMap<String, Dealt> dealt = new LinkedHashMap<>();

    /** Those of them that their workers are to give up. */
    private final Set<String> released = new LinkedHashSet<>();

    /** Those of the released that only go to another worker: theirs may keep them for now. */
    private final Set<String> moving = new HashSet<>();

    /** Those that have changed their worker, or were to. */
    private final Set<String> moved = new HashSet<>();

    /** Workers that are given nothing more. */
    private final Set<ParseWorker> dismissed = new HashSet<>();

    /** Those that were given up, or have ended, and are not delivered yet. */
    private final Set<String> closed = new LinkedHashSet<>();

    /** How many each worker has, without those. */
    private final Map<ParseWorker, Integer> counts = new HashMap<>();

    private final Set<String> ended = new HashSet<>();
    private Set<String> there = Set.of();
    private long dealtCount;
    private int begunCount;

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
        begunCount = partitions.size();
    }

    /** The next partition for the worker that asks; null if there is none for it. */
    synchronized @Nullable String next(ParseWorker worker) {
        return dismissed.contains(worker) ? null : left.poll();
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
        gone.forEach(moved::remove); // it begins anew, or not at all
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
        moving.remove(partition); // what is gone is not kept
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

    // ---- when workers come and go

    /** The worker is given nothing more; of an endless source {@link #level} takes what it has. */
    synchronized void dismiss(ParseWorker worker) {
        dismissed.add(worker);
    }

    /** Whether a dismissed worker of an endless source has given all up, and it is delivered. */
    synchronized boolean hasNone(ParseWorker worker) {
        for (Dealt of : dealt.values()) {
            if (of.worker.equals(worker)) {
                return false;
            }
        }
        return true;
    }

    /** Knows nothing any more of a dismissed worker. */
    synchronized void forget(ParseWorker worker) {
        dismissed.remove(worker);
        counts.remove(worker);
    }

    /** How many partitions the worker has of an endless source. */
    synchronized int count(ParseWorker worker) {
        return counts.getOrDefault(worker, 0);
    }

    /**
     * Releases partitions that are to be with another worker: those of dismissed ones, and as many
     * as make the numbers of the others level. A worker that can't give one up now {@linkplain
     * #keeps keeps} it.
     *
     * @param workers at least one, none of them dismissed
     * @return whether nothing is left to be moved
     */
    synchronized boolean level(List<ParseWorker> workers) {
        if (dismissed.isEmpty() && areLevel(workers)) {
            return true;
        }
        if (!released.isEmpty() || !closed.isEmpty()) {
            return false; // where these go is not known yet
        }
        Map<ParseWorker, ArrayDeque<String>> movable = new HashMap<>();
        dealt.forEach((partition, of) ->
                movable.computeIfAbsent(of.worker, _ -> new ArrayDeque<>()).add(partition));
        boolean isLevel = true;
        Map<ParseWorker, Integer> planned = new HashMap<>(counts);
        Comparator<ParseWorker> byCount =
                Comparator.comparingInt(worker -> planned.getOrDefault(worker, 0));
        for (ParseWorker worker : dismissed) {
            isLevel &= count(worker) == 0;
            movable.getOrDefault(worker, new ArrayDeque<>()).forEach(this::move);
        }
        while (true) {
            ParseWorker most = Collections.max(workers, byCount);
            ParseWorker least = Collections.min(workers, byCount);
            if (planned.getOrDefault(most, 0) - planned.getOrDefault(least, 0) <= 1) {
                return isLevel;
            }
            isLevel = false;
            ArrayDeque<String> of = movable.get(most);
            if (of == null || of.isEmpty()) {
                return false;
            }
            move(of.remove());
            planned.merge(most, -1, Integer::sum);
            planned.merge(least, 1, Integer::sum);
        }
    }

    private boolean areLevel(List<ParseWorker> workers) {
        int most = 0;
        int least = Integer.MAX_VALUE;
        for (ParseWorker worker : workers) {
            most = Math.max(most, count(worker));
            least = Math.min(least, count(worker));
        }
        return most - least <= 1;
    }

    private void move(String partition) {
        release(partition);
        moving.add(partition);
        moved.add(partition);
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

    /**
     * How many partitions can be read at once.
     *
     * @param workers how many there are, each with a partition of a source that has an end
     */
    synchronized int countToRead(int workers) {
        int count = Math.min(begunCount, workers + left.size());
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
     * The worker keeps a released partition for now.
     *
     * @return false if it must not: it is not to be moved, but gone
     */
    synchronized boolean keeps(String partition, ParseWorker worker) {
        if (!moving.remove(partition)) {
            return false;
        }
        released.remove(partition);
        dealt.putLast(partition, Objects.requireNonNull(dealt.get(partition))); // others are tried
        counts.merge(worker, 1, Integer::sum);
        dealtCount++; // it is in none of the rounds that were made since
        return true;
    }

    /** Whether another worker has read of the partition in this run. */
    synchronized boolean wasMoved(String partition) {
        return moved.contains(partition);
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
        moving.remove(partition);
        of.lastBatch = lastBatch;
        closed.add(partition);
        if (hasEnded) {
            ended.add(partition);
        }
    }
}
