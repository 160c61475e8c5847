package io.turbidite.lsm.partition;

import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.RepairPlacement;
import io.turbidite.lsm.strategy.advice.RepairDecision;
import io.turbidite.lsm.strategy.advice.RepairPlanner;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.DatasetCounts.IndexReads;
import io.turbidite.lsm.version.DatasetCounts.Lookups;
import io.turbidite.lsm.version.DatasetCounts.Reads;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAccumulator;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what is looked up and read of one dataset, going on from what the manifest has, for {@link
 * DatasetCounts}; and has what follows from it for repair and for lookups side by side.
 * <em>Thread-safe: adders, which never contend.</em>
 */
public final class WorkMeter {
    /** About three questions for the ten newest. */
    private static final double PAGES_REMEMBERED = 32;

    /** As good as none. */
    private static final double NO_SHARE = 0.001;

    private final LongAdder lookedUp = new LongAdder();
    private final LongAdder found = new LongAdder();
    private final LongAdder fetched = new LongAdder();
    private final LongAdder validated = new LongAdder();
    private final LongAdder valid = new LongAdder();

    /** Of the leaf pages that fetches pinned lately, the share that the cache lacked. */
    private volatile double missShare;

    private final Map<Integer, IndexMeter> indexes = new ConcurrentHashMap<>();

    /** Where repair is placed, by the ids of indexes under auto. */
    private final Map<Integer, RepairDecision> repairs = new ConcurrentHashMap<>();

    private static final class IndexMeter {
        final LongAdder searches = new LongAdder();
        final LongAdder entries = new LongAdder();
        final LongAdder passedOver = new LongAdder();

        /** The most that one query passed over, if it was too much; since it was asked for. */
        final LongAccumulator passedOverMost = new LongAccumulator(Math::max, 0);
    }

    WorkMeter(DatasetCounts before) {
        lookedUp.add(before.lookups().lookedUp());
        found.add(before.lookups().found());
        fetched.add(before.reads().fetched());
        validated.add(before.reads().validated());
        valid.add(before.reads().valid());
        before.indexes().forEach((id, reads) -> searched(id, reads.searches(), reads.entries()));
        before.repairs()
                .forEach((id, placement) -> repairs.put(id, RepairDecision.kept(placement)));
    }

    /** A writer looked for the version that its write takes the place of. */
    public void lookedUp(boolean wasFound) {
        lookedUp.increment();
        if (wasFound) {
            found.increment();
        }
    }

    /**
     * A fetch has ended that pinned so many leaf pages, of which the cache lacked so many. What is
     * remembered fades with the pages that come after it; of two fetches that end at once, one may
     * not count.
     */
    public void pinned(long pages, long misses) {
        double before = missShare;
        // where all pages are at hand nobody writes to what all readers share
        if (pages > 0 && (misses > 0 || before > NO_SHARE)) {
            double weight = Math.min(1, pages / PAGES_REMEMBERED);
            missShare = before + ((double) misses / pages - before) * weight;
        }
    }

    /** Of the leaf pages that fetches pinned lately, the share that the cache lacked, 0 to 1. */
    public double missShare() {
        return missShare;
    }

    /** Records are looked up by the primary keys that an index gave. */
    public void fetched(long keys) {
        fetched.add(keys);
    }

    /** Candidates were validated by their timestamps. */
    public void validated(long candidates, long validOnes) {
        validated.add(candidates);
        valid.add(validOnes);
    }

    /** A search of an index in a partition has ended. */
    public void searched(int index, long searches, long entries) {
        IndexMeter meter = meter(index);
        meter.searches.add(searches);
        meter.entries.add(entries);
    }

    private IndexMeter meter(int index) {
        IndexMeter meter = indexes.get(index);
        return meter != null ? meter : indexes.computeIfAbsent(index, _ -> new IndexMeter());
    }

    /**
     * A query has found out that entries of an index are obsolete.
     *
     * @param count of these
     * @param queryCount the same of the whole query so far
     * @param queryCandidates what it has looked at so far
     */
    void passedOver(int index, long count, long queryCount, long queryCandidates) {
        IndexMeter meter = meter(index);
        meter.passedOver.add(count);
        if (RepairPlanner.isTooMuch(queryCount, queryCandidates)) {
            meter.passedOverMost.accumulate(queryCount);
        }
    }

    /** Obsolete entries of an index that queries met since the store was opened. */
    public long passedOver(int index) {
        return meter(index).passedOver.sum();
    }

    /**
     * The most that one query passed over, if it was too much, since this was taken last; else 0.
     */
    public long takePassedOverMost(int index) {
        return meter(index).passedOverMost.getThenReset();
    }

    /** Where the repair of an index under auto is placed. */
    public RepairDecision repair(int index) {
        return Objects.requireNonNullElse(repairs.get(index), RepairDecision.NONE);
    }

    /** Repair is placed elsewhere, or for another reason. */
    public void place(int index, RepairDecision decision) {
        repairs.put(index, decision);
    }

    /** The same counts with what this meter has of lookups and reads, of indexes that are there. */
    public DatasetCounts stamp(DatasetCounts counts, DatasetSchema schema) {
        Map<Integer, IndexReads> searched = new HashMap<>();
        indexes.forEach((id, meter) -> {
            if (schema.index(id) != null) {
                searched.put(id, new IndexReads(meter.searches.sum(), meter.entries.sum()));
            }
        });
        Map<Integer, RepairPlacement> placed = new HashMap<>();
        repairs.forEach((id, decision) -> {
            if (schema.index(id) != null) {
                placed.put(id, decision.placement());
            }
        });
        // found first: a write that comes in between must not make it more than lookedUp
        long foundNow = found.sum();
        long validNow = valid.sum();
        return new DatasetCounts(
                counts.flushes(),
                new Lookups(lookedUp.sum(), foundNow),
                new Reads(fetched.sum(), validated.sum(), validNow),
                searched,
                placed);
    }
}
