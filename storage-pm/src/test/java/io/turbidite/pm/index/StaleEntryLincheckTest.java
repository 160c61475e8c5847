package io.turbidite.pm.index;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.Tier;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.region.SegmentMemory;
import io.turbidite.pm.sim.SlowMemory;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jetbrains.lincheck.datastructures.Validate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Readers, hints and collection on the stale entries of one record, which moves between two
 * secondary keys: no reader ever takes an old place for the record's, and none misses it. What must
 * not happen: an entry is read, it is collected, its primary key leaves the table of stale keys, is
 * absent there, and so the entry counts as valid.
 *
 * <p>Readers linger between the copy of a group and the look at the tables: there all of a
 * collection may come in between.
 */
@Param(name = "key", gen = IntGen.class, conf = "0:1")
public final class StaleEntryLincheckTest {
    private static final RegionSpec SPEC = new RegionSpec(1, 2, 256, 1 << 20);
    private static final long NOBODY = Long.MAX_VALUE;

    /** A tenth of a millisecond, about: as long as a collection. */
    private static final int SPIN_COUNT = 2_000;

    /** Lincheck makes one object after the other and closes none. */
    private static @Nullable StaleEntryLincheckTest previous;

    /** A record's key lies in the table of stale keys, or its cell does: they take turns. */
    private static int madeCount;

    private final Epochs epochs = Epochs.create(8, new SimClock());
    private final AtomicInteger copyCount = new AtomicInteger();
    private final MemoryBudget.Account account = MemoryBudget.of(1 << 20).account("stale keys");
    private final RegionMemory memory =
            new SlowMemory(SegmentMemory.inMemory("lincheck", 1 << 16), this::linger);
    private final PmIndex index = PmIndex.create(memory, SPEC, epochs, account);
    private final Slice record = Slice.of(new byte[madeCount++ % 2 == 0 ? 8 : 20]);
    private final Slice[] keys = {Slice.of(new byte[] {1}), Slice.of(new byte[] {2})};
    private final ConcurrentLinkedQueue<Reader> idle = new ConcurrentLinkedQueue<>();
    private final ConcurrentLinkedQueue<Reader> all = new ConcurrentLinkedQueue<>();

    public StaleEntryLincheckTest() {
        closePrevious();
        previous = this;
    }

    private static void closePrevious() {
        StaleEntryLincheckTest open = previous;
        if (open != null) {
            previous = null;
            open.index.close();
            open.memory.close();
        }
    }

    @AfterEach
    void closeLast() {
        closePrevious();
    }

    /** Who reads at a snapshot, or at a later one. */
    private final class Reader {
        final EpochSession session = epochs.open("reader");
        final PmSearch search = index.search();
        final AtomicLong snapshotMin = new AtomicLong(NOBODY);
    }

    /** Of readers each second one: who writes holds the lock, and hurries. */
    private void linger() {
        if (!Thread.holdsLock(this) && (copyCount.incrementAndGet() & 1) == 0) {
            for (int i = 0; i < SPIN_COUNT; i++) {
                Thread.onSpinWait();
            }
        }
    }

    private Reader take() {
        Reader reader = idle.poll();
        if (reader == null) {
            reader = new Reader();
            all.add(reader);
        }
        return reader;
    }

    /** Nobody reads below it: readers say that they are there before they choose a snapshot. */
    private long horizon() {
        long horizon = index.absorbedThrough();
        for (Reader reader : all) {
            horizon = Math.min(horizon, reader.snapshotMin.get());
        }
        return horizon;
    }

    /** The record moves to a key; gives its new timestamp. */
    @Operation
    public synchronized long move(@Param(name = "key") int key) {
        long timestamp = index.absorbedThrough() + 1;
        index.begin(horizon(), timestamp);
        index.addVersion(record, timestamp, true, 1);
        index.addEntry(keys[key], record, timestamp);
        index.commit(timestamp);
        return timestamp;
    }

    /** Looks after what readers met. */
    @Operation
    public synchronized void collect() {
        index.collectHints(8, horizon());
    }

    /** The timestamp of the record, if it is at this key; else 0. */
    @Operation
    public long read(@Param(name = "key") int key) {
        Reader reader = take();
        reader.session.protect();
        try {
            reader.snapshotMin.set(index.absorbedThrough());
            long snapshot = index.absorbedThrough();
            reader.search.open(keys[key], snapshot, snapshot);
            long found = 0;
            while (reader.search.next()) {
                long timestamp = reader.search.timestamp();
                // each moment has its version: a primary would know none but that
                if (!reader.search.needsPrimary() || timestamp == snapshot) {
                    if (found != 0) {
                        throw new IllegalStateException(
                                "valid at once: " + found + ", " + timestamp);
                    }
                    found = timestamp;
                }
            }
            return found;
        } finally {
            reader.snapshotMin.set(NOBODY);
            reader.session.unprotect();
            idle.add(reader);
        }
    }

    @Validate
    public void theRegionIsWhole() {
        RegionCheck.run(index, account, finding -> {
            throw new IllegalStateException(finding);
        });
    }

    @Test
    void readers_hints_and_collection_are_linearizable() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 5, 200))
                .invocationsPerIteration(Tier.count(18, 150, 3_000))
                .threads(3)
                .actorsPerThread(5)
                .actorsBefore(2)
                .actorsAfter(3)
                .sequentialSpecification(Model.class)
                .check(StaleEntryLincheckTest.class);
    }

    /** The same without other threads; what a run of Lincheck is compared with. */
    public static final class Model {
        private int at = -1;
        private long timestamp;

        public long move(int key) {
            at = key;
            return ++timestamp;
        }

        /** Changes nothing that anybody sees. */
        public void collect() {}

        public long read(int key) {
            return key == at ? timestamp : 0;
        }
    }
}
