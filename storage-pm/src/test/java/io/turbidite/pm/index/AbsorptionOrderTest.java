package io.turbidite.pm.index;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.SimClock;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionSpec;
import io.turbidite.pm.region.SegmentMemory;
import io.turbidite.pm.sim.SlowMemory;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * What readers see between two steps of an absorption, and what a cut there leaves: layers that
 * split pages and touch many leaves, and keys that lose stale entries while readers stand on them.
 */
class AbsorptionOrderTest {
    private static final RegionSpec SPEC = new RegionSpec(1, 2, 512, 256 << 20);
    private static final int SECONDARY_KEYS = 400;
    private static final String LONG_KEY = "a primary key of many bytes";

    private final MemoryBudget.Account account = MemoryBudget.of(64 << 20).account("stale keys");
    private final Epochs epochs = newEpochs();
    private final List<SegmentMemory> memories = new ArrayList<>();
    private long time;

    private static Epochs newEpochs() {
        return Epochs.create(8, new SimClock());
    }

    @AfterEach
    void close() {
        memories.forEach(SegmentMemory::close);
    }

    private SegmentMemory newMemory() {
        SegmentMemory memory = SegmentMemory.inMemory("region", 1 << 20);
        memories.add(memory);
        return memory;
    }

    private static Slice key(String text) {
        return Slice.of(text.getBytes(StandardCharsets.US_ASCII));
    }

    /** An operation on a record; no secondary key if it is deleted. */
    private record Operation(String primaryKey, long timestamp, String secondaryKey) {
        boolean hasEntry() {
            return !secondaryKey.isEmpty();
        }

        @Override
        public String toString() {
            return "%s %s@%d".formatted(secondaryKey, primaryKey, timestamp);
        }
    }

    private Operation put(String primaryKey, String secondaryKey) {
        return new Operation(primaryKey, ++time, secondaryKey);
    }

    private Operation delete(String primaryKey) {
        return put(primaryKey, "");
    }

    private void absorb(PmIndex index, long horizon, List<Operation> layer) {
        index.begin(horizon, time);
        Map<String, List<Operation>> byRecord = new TreeMap<>();
        layer.forEach(operation -> byRecord.computeIfAbsent(
                        operation.primaryKey, none -> new ArrayList<>())
                .add(operation));
        byRecord.forEach((primaryKey, versions) -> index.addVersion(
                key(primaryKey),
                versions.getLast().timestamp,
                versions.getLast().hasEntry(),
                (int) versions.stream().filter(Operation::hasEntry).count()));
        layer.stream()
                .filter(Operation::hasEntry)
                .sorted(Comparator.comparing(Operation::secondaryKey)
                        .thenComparingLong(Operation::timestamp))
                .forEach(operation -> index.addEntry(
                        key(operation.secondaryKey),
                        key(operation.primaryKey),
                        operation.timestamp));
        index.commit(time);
    }

    private void absorb(PmIndex index, long horizon, Operation... layer) {
        absorb(index, horizon, List.of(layer));
    }

    private static PmSearch opened(PmIndex index, String secondaryKey, long snapshot) {
        PmSearch search = index.search();
        search.open(key(secondaryKey), snapshot, snapshot);
        return search;
    }

    /** Entries that a search says are valid, or may be. */
    private static Set<String> rest(PmSearch search, String secondaryKey, boolean alsoDoubtful) {
        Set<String> found = new HashSet<>();
        while (search.next()) {
            if (alsoDoubtful || !search.needsPrimary()) {
                found.add("%s %s@%d"
                        .formatted(secondaryKey, search.primaryKey().toUtf8(), search.timestamp()));
            }
        }
        return found;
    }

    /** All entries of a moment are found, and what is called valid is one of them. */
    private static void check(PmIndex index, Epochs of, Map<String, Operation> live, long moment) {
        Map<String, Set<String>> expected = new HashMap<>();
        live.values()
                .forEach(operation -> expected.computeIfAbsent(
                                operation.secondaryKey, none -> new HashSet<>())
                        .add(operation.toString()));
        EpochSession reader = of.open("reader");
        reader.protect();
        try {
            for (int i = 0; i < SECONDARY_KEYS; i++) {
                String asked = secondaryKey(i);
                Set<String> wanted = expected.getOrDefault(asked, Set.of());
                assertThat(rest(opened(index, asked, moment), asked, false)).isSubsetOf(wanted);
                assertThat(rest(opened(index, asked, moment), asked, true)).containsAll(wanted);
            }
        } finally {
            reader.close();
        }
    }

    private static String secondaryKey(int number) {
        return "s%04d".formatted(number);
    }

    private final class Watch implements Runnable {
        private final SegmentMemory memory;
        private final Map<String, Operation> live = new HashMap<>();
        private PmIndex index;
        private boolean isOn;
        private int fenceCount;

        Watch(SegmentMemory memory) {
            this.memory = memory;
            this.index =
                    PmIndex.create(new SlowMemory(memory, () -> {}, this), SPEC, epochs, account);
        }

        @Override
        public void run() {
            if (isOn) {
                fenceCount++;
                check(index, epochs, live, index.absorbedThrough());
                SegmentMemory cut = newMemory();
                copy(memory, cut);
                Epochs fresh = newEpochs();
                long moment = index.absorbedThrough();
                try (PmIndex again = PmIndex.open(cut, SPEC, fresh, account, moment)) {
                    check(again, fresh, live, moment);
                }
                memories.removeLast().close();
            }
        }

        private static void copy(RegionMemory from, RegionMemory to) {
            int bytes = (int) from.byteSize();
            byte[] all = new byte[bytes];
            from.getBytes(0, MemorySegment.ofArray(all), 0, bytes);
            assertThat(to.grow(bytes)).isTrue();
            to.putBytes(0, MemorySegment.ofArray(all), 0, bytes);
        }
    }

    /**
     * Research 2.3.2: a page that was split was used again before the pointers to it were replaced.
     */
    @Test
    void a_page_is_used_again_only_after_nothing_leads_to_it() {
        SplittableRandom random = new SplittableRandom(1);
        Watch watch = new Watch(newMemory());
        for (int layer = 0; layer < 26; layer++) {
            Map<String, Operation> operations = new HashMap<>();
            while (operations.size() < 300) {
                String record = "k%07d".formatted(random.nextInt(4_000));
                if (!operations.containsKey(record)) {
                    operations.put(
                            record, put(record, secondaryKey(random.nextInt(SECONDARY_KEYS))));
                }
            }
            watch.isOn = layer >= 20;
            absorb(watch.index, watch.index.absorbedThrough(), List.copyOf(operations.values()));
            watch.live.putAll(operations);
        }
        watch.isOn = false;
        assertThat(watch.fenceCount).isGreaterThan(20);
        watch.index.close();
    }

    private PmIndex newIndex() {
        return PmIndex.create(newMemory(), SPEC, epochs, account);
    }

    private void meet(PmIndex index, String secondaryKey) {
        EpochSession reader = epochs.open("meets");
        reader.protect();
        var _ = rest(opened(index, secondaryKey, time), secondaryKey, true);
        reader.close();
    }

    /** It left with the batch of its first stale entry while a reader stood on its second. */
    @Test
    void a_key_leaves_the_stale_ones_with_its_last_batch() {
        try (PmIndex index = newIndex()) {
            absorb(index, 0, put("K", "a"));
            absorb(index, 0, put("K", "b"));
            EpochSession before = epochs.open("before");
            before.protect();
            meet(index, "a");
            assertThat(index.collectHints(64, time)).isEqualTo(1);
            absorb(index, time, put("K", "c"));
            before.close();
            meet(index, "b");
            EpochSession reader = epochs.open("reader");
            reader.protect();
            PmSearch search = opened(index, "b", time);
            assertThat(index.collectHints(64, time)).isEqualTo(1);
            assertThat(rest(search, "b", true)).isEmpty();
            reader.close();
            absorb(index, time, put("L", "d"));
            absorb(index, time, put("L", "d"));
            assertThat(index.validation().staleCount(key("K"))).isZero();
        }
    }

    /** Its place kept the cell of before, whose page was used again: nobody found the key. */
    @Test
    void a_long_key_that_comes_back_is_found_where_it_is_now() {
        try (PmIndex index = newIndex()) {
            List<Operation> first = new ArrayList<>(List.of(put(LONG_KEY, "a")));
            for (int i = 0; i < 20; i++) {
                first.add(put("filler number " + i, "z" + i));
            }
            absorb(index, 0, first);
            absorb(index, 0, delete(LONG_KEY));
            meet(index, "a");
            EpochSession before = epochs.open("before");
            before.protect();
            assertThat(index.collectHints(64, time)).isEqualTo(1);
            before.close();
            List<Operation> third =
                    new ArrayList<>(List.of(put(LONG_KEY, "b"), put(LONG_KEY, "c")));
            for (int i = 100; i < 200; i++) {
                third.add(put("filler number " + i, "z" + i));
            }
            long newest = third.get(1).timestamp;
            absorb(index, 0, third);
            for (int round = 0; round < 5; round++) {
                List<Operation> more = new ArrayList<>();
                for (int i = 0; i < 300; i++) {
                    more.add(put("other %d number %d".formatted(round, i), "y" + i));
                }
                absorb(index, 0, more);
                assertThat(rest(opened(index, "b", time), "b", true)).isEmpty();
                assertThat(rest(opened(index, "c", time), "c", false))
                        .containsExactly("c %s@%d".formatted(LONG_KEY, newest));
            }
        }
    }
}
