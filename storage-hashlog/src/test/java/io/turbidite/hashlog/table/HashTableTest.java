package io.turbidite.hashlog.table;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.epoch.EpochSession;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.task.ThreadTasks;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * Claims, swings and growth; the Lincheck part has ten properties in one bucket and a growth among
 * them.
 */
@Param(name = "property", gen = IntGen.class, conf = "1:10")
@Param(name = "address", gen = IntGen.class, conf = "1:100")
public class HashTableTest {
    private static final long SEED = Seeds.of("HashTableTest");

    /** Lincheck makes one object after the other and closes none. */
    private static @Nullable HashTableTest previous;

    private final MemoryBudget budget = MemoryBudget.of(64 << 20);
    private final Epochs epochs = Epochs.create(8, new SimClock());
    private final HashTable table = HashTable.create(6, epochs, budget.account("table"));

    public HashTableTest() {
        synchronized (HashTableTest.class) {
            if (previous != null) {
                previous.table.close();
            }
            previous = this;
        }
    }

    @AfterEach
    void close_the_last() {
        synchronized (HashTableTest.class) {
            if (previous != null) {
                previous.table.close();
            }
            previous = null;
        }
    }

    /** All in bucket 3, with tags that a growth parts. */
    private static long hash(int property) {
        return ((long) property << 50) | ((long) (property & 1) << 63) | 3;
    }

    /** Puts the address into the entry if it is higher; what the entry holds afterwards. */
    @Operation
    public long raise(
            @Param(name = "property") int property, @Param(name = "address") int address) {
        HashTable.Slot slot = new HashTable.Slot();
        while (true) {
            table.findOrClaim(hash(property), address, slot);
            if (slot.isClaimed()) {
                return address;
            }
            do {
                if (slot.address() >= address) {
                    return slot.address();
                }
                if (slot.swing(address)) {
                    return address;
                }
            } while (slot.reload());
        }
    }

    @Operation
    public long head(@Param(name = "property") int property) {
        return table.headOf(hash(property));
    }

    /** Starts a growth or goes on with it; what readers see doesn't change. */
    @Operation(nonParallelGroup = "growth")
    public void grow() {
        table.grow();
    }

    @Test
    void claims_swings_and_growth_are_linearizable() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 12, 200))
                .invocationsPerIteration(Tier.count(18, 150, 2_000))
                .threads(3)
                .actorsPerThread(4)
                .actorsBefore(6)
                .actorsAfter(4)
                .sequentialSpecification(Model.class)
                .check(HashTableTest.class);
    }

    /** The highest address by property. */
    public static final class Model {
        private final Map<Integer, Long> heads = new HashMap<>();

        public long raise(int property, int address) {
            return heads.merge(property, (long) address, Math::max);
        }

        public long head(int property) {
            return heads.getOrDefault(property, 0L);
        }

        public void grow() {}
    }

    @Test
    void nothing_is_lost_while_the_table_grows_under_writers() {
        int perThread = 40_000;
        AtomicInteger done = new AtomicInteger();
        ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
        try (ThreadTasks tasks = ThreadTasks.create("grow", (name, e) -> errors.add(e))) {
            for (int t = 0; t < 3; t++) {
                long seed = Seeds.mix(SEED, t);
                int first = 1 + t * perThread;
                tasks.start("writer" + t, 1_000_000, () -> {
                    if (done.get() >= 3) {
                        return false;
                    }
                    write(seed, first, perThread);
                    done.incrementAndGet();
                    while (done.get() < 3 && errors.isEmpty()) {
                        Thread.onSpinWait();
                    }
                    return false;
                });
            }
            tasks.start("grower", 100, table::grow);
            tasks.await(() -> done.get() >= 3 || !errors.isEmpty());
            assertThat(errors).isEmpty();
            tasks.await(() -> !table.wantsGrowth());
        }
        assertThat(table.bucketCount()).isEqualTo(64 << Buckets.DOUBLING_COUNT_MAX);
        for (int t = 0; t < 3; t++) {
            SplittableRandom random = new SplittableRandom(Seeds.mix(SEED, t));
            for (int i = 0; i < perThread; i++) {
                // a property of the same bucket and tag may have raised the entry since
                assertThat(table.headOf(random.nextLong()))
                        .as("%d of %d", i, t)
                        .isGreaterThanOrEqualTo(1 + t * perThread + i);
            }
        }
        assertThat(epochs.waitingCount()).isZero();
    }

    private void write(long seed, int first, int count) {
        SplittableRandom random = new SplittableRandom(seed);
        HashTable.Slot slot = new HashTable.Slot();
        try (EpochSession epoch = epochs.open("writer")) {
            for (int i = 0; i < count; i++) {
                epoch.protect();
                raise(random.nextLong(), first + i, slot);
                epoch.unprotect();
            }
        }
    }

    private void raise(long hash, long address, HashTable.Slot slot) {
        while (true) {
            table.findOrClaim(hash, address, slot);
            if (slot.isClaimed()) {
                return;
            }
            do {
                if (slot.address() >= address || slot.swing(address)) {
                    return;
                }
            } while (slot.reload());
        }
    }

    @Test
    void a_table_that_may_not_grow_shares_chains_and_loses_nothing() {
        MemoryBudget small = MemoryBudget.of(Buckets.bytes(64));
        HashTable full = HashTable.create(6, epochs, small.account("full"));
        SplittableRandom random = new SplittableRandom(SEED);
        HashTable.Slot slot = new HashTable.Slot();
        for (int i = 1; i <= 5_000; i++) {
            long hash = random.nextLong();
            full.findOrClaim(hash, i, slot);
            if (!slot.isClaimed()) {
                assertThat(slot.swing(i)).isTrue();
            }
            assertThat(full.headOf(hash)).isEqualTo(i);
            assertThat(full.grow()).isFalse();
        }
        assertThat(full.isGrowthRefused()).isTrue();
        assertThat(small.bytesUsed()).isEqualTo(Buckets.bytes(64));
        full.close();
        assertThat(small.bytesUsed()).isZero();
    }

    @Test
    void a_folded_table_that_grows_after_all_keeps_its_chains() {
        Buckets from = new Buckets(6, 0, 0);
        Buckets to = new Buckets(6, 1, from.overflowCountMax());
        HashTable.Slot slot = new HashTable.Slot();
        SplittableRandom random = new SplittableRandom(SEED);
        long[] hashes = random.longs(3_000).toArray();
        for (int i = 0; i < hashes.length; i++) {
            assertThat(from.findOrClaim(hashes[i], i + 1, true, slot)).isEqualTo(Buckets.DONE);
            if (!slot.isClaimed()) {
                assertThat(slot.swing(i + 1)).isTrue();
            }
        }
        long[] heads = new long[hashes.length];
        for (int i = 0; i < hashes.length; i++) {
            heads[i] = from.headOf(hashes[i]);
        }
        for (int c = 0; c < from.chunks.length(); c++) {
            from.moveChunk(c, to);
        }
        for (int i = 0; i < hashes.length; i++) {
            assertThat(to.headOf(hashes[i])).as("%d", i).isEqualTo(heads[i]);
            assertThat(from.findOrClaim(hashes[i], 1, true, slot)).isEqualTo(Buckets.BUCKET_FROZEN);
        }
        // its free slots are for nobody: a new entry would hide the chain that its tag has shared
        for (int i = 0; i < hashes.length; i++) {
            assertThat(to.findOrClaim(hashes[i], 9_999, true, slot)).isEqualTo(Buckets.DONE);
            assertThat(slot.isClaimed()).as("%d", i).isFalse();
            assertThat(slot.address()).as("%d", i).isEqualTo(heads[i]);
        }
        from.close();
        to.close();
    }

    /** Two entries of one tag would hide one of two chains. */
    @Test
    void threads_that_claim_the_same_tags_at_once_make_one_entry_of_each() {
        int roundCount = Tier.count(20, 100, 2_000);
        AtomicInteger done = new AtomicInteger();
        ConcurrentLinkedQueue<Throwable> errors = new ConcurrentLinkedQueue<>();
        List<Claims> rounds = new ArrayList<>();
        for (int r = 0; r < roundCount; r++) {
            rounds.add(new Claims(Seeds.mix(SEED, r)));
        }
        try (ThreadTasks tasks = ThreadTasks.create("claim", (name, e) -> errors.add(e))) {
            for (int t = 0; t < Claims.THREAD_COUNT; t++) {
                AtomicBoolean begun = new AtomicBoolean();
                tasks.start("claimer" + t, 1_000_000, () -> {
                    if (begun.compareAndSet(false, true)) {
                        rounds.forEach(Claims::run);
                        done.incrementAndGet();
                    }
                    return false;
                });
            }
            tasks.await(() -> done.get() == Claims.THREAD_COUNT || !errors.isEmpty());
        }
        assertThat(errors).isEmpty();
        rounds.forEach(Claims::check);
    }

    /** One table, whose tags all threads claim in the same order and, nearly, at the same time. */
    private static final class Claims {
        static final int THREAD_COUNT = 3;

        /** Six or seven in a bucket: some of them need an overflow bucket. */
        private static final int CLAIM_COUNT = 400;

        /** 5 bits of tag and the 6 bits of the bucket. */
        private static final long TAG_AND_BUCKET = 0xF800_0000_0000_003FL;

        private final Buckets buckets = new Buckets(6, 0, 0);
        private final long[] hashes;
        private final AtomicIntegerArray arrived = new AtomicIntegerArray(CLAIM_COUNT);
        private final AtomicInteger claimed = new AtomicInteger();

        Claims(long seed) {
            hashes = new SplittableRandom(seed)
                    .longs(CLAIM_COUNT)
                    .map(hash -> hash & TAG_AND_BUCKET)
                    .toArray();
        }

        void run() {
            HashTable.Slot slot = new HashTable.Slot();
            for (int i = 0; i < CLAIM_COUNT; i++) {
                arrived.incrementAndGet(i);
                for (int s = 0; s < 2_000 && arrived.get(i) < THREAD_COUNT; s++) {
                    Thread.onSpinWait();
                }
                assertThat(buckets.findOrClaim(hashes[i], i + 1, false, slot))
                        .isEqualTo(Buckets.DONE);
                if (slot.isClaimed()) {
                    claimed.incrementAndGet();
                }
            }
        }

        void check() {
            int tags = (int) Arrays.stream(hashes).distinct().count();
            assertThat(claimed.get()).isEqualTo(tags);
            BucketEntries held = new BucketEntries();
            int found = 0;
            for (int b = 0; b < buckets.bucketCount(); b++) {
                buckets.read(b, held);
                found += held.count();
            }
            assertThat(found).isEqualTo(tags);
            buckets.close();
        }
    }

    @Test
    void a_table_that_does_not_fit_is_refused() {
        MemoryBudget small = MemoryBudget.of(1_000);
        assertThatThrownBy(() -> HashTable.create(6, epochs, small.account("t")))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("budget");
        assertThat(small.bytesUsed()).isZero();
    }
}
