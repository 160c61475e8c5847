package io.turbidite.lsm.partition;

import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.DatasetCounts.IndexReads;
import io.turbidite.lsm.version.DatasetCounts.Lookups;
import io.turbidite.lsm.version.DatasetCounts.Reads;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;

/**
 * Counts what is looked up and read of one dataset, going on from what the manifest has, for {@link
 * DatasetCounts}. <em>Thread-safe: adders, which never contend.</em>
 */
public final class WorkMeter {
    private final LongAdder lookedUp = new LongAdder();
    private final LongAdder found = new LongAdder();
    private final LongAdder fetched = new LongAdder();
    private final LongAdder validated = new LongAdder();
    private final LongAdder valid = new LongAdder();
    private final Map<Integer, IndexMeter> indexes = new ConcurrentHashMap<>();

    private static final class IndexMeter {
        final LongAdder searches = new LongAdder();
        final LongAdder entries = new LongAdder();
    }

    WorkMeter(DatasetCounts before) {
        lookedUp.add(before.lookups().lookedUp());
        found.add(before.lookups().found());
        fetched.add(before.reads().fetched());
        validated.add(before.reads().validated());
        valid.add(before.reads().valid());
        before.indexes().forEach((id, reads) -> searched(id, reads.searches(), reads.entries()));
    }

    /** A writer looked for the version that its write takes the place of. */
    public void lookedUp(boolean wasFound) {
        lookedUp.increment();
        if (wasFound) {
            found.increment();
        }
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
        IndexMeter meter = indexes.get(index);
        if (meter == null) {
            meter = indexes.computeIfAbsent(index, _ -> new IndexMeter());
        }
        meter.searches.add(searches);
        meter.entries.add(entries);
    }

    /** The same counts with what this meter has of lookups and reads, of indexes that are there. */
    public DatasetCounts stamp(DatasetCounts counts, DatasetSchema schema) {
        Map<Integer, IndexReads> searched = new HashMap<>();
        indexes.forEach((id, meter) -> {
            if (schema.index(id) != null) {
                searched.put(id, new IndexReads(meter.searches.sum(), meter.entries.sum()));
            }
        });
        // found first: a write that comes in between must not make it more than lookedUp
        long foundNow = found.sum();
        long validNow = valid.sum();
        return new DatasetCounts(
                counts.flushes(),
                new Lookups(lookedUp.sum(), foundNow),
                new Reads(fetched.sum(), validated.sum(), validNow),
                searched);
    }
}
