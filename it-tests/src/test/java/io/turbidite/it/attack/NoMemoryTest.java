package io.turbidite.it.attack;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.file.Disk;
import io.turbidite.core.memory.Holders;
import io.turbidite.core.memory.MemoryCheck;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;

/**
 * The nth time that memory off the heap is wanted there is none, for every n in turn, below every
 * kind of public call: the budget refuses, or the JVM throws. Each call comes back within ten
 * seconds, with a typed error or the JVM's; nothing is held after the store's closing; what was
 * acknowledged is there after reopening, and the store is sound.
 */
class NoMemoryTest {
    private static final long SEED = Seeds.of("NoMemoryTest");

    /** Every so manyth demand. */
    private static final int STRIDE = Tier.count(41, 5, 1);

    /** How there is no memory. */
    enum Lack {
        /** The budget's own answer. */
        REFUSED,
        /** No heap for the small objects that go with it, or no memory of the machine. */
        THROWN
    }

    /** Counts demands, and turns one of them down. */
    private static final class Gate implements MemoryCheck {
        private final Map<String, Integer> owners = new TreeMap<>();
        private final Lack lack;
        private final long refused;
        private long count;
        private String refusedOwner = "nobody";
        private @Nullable OutOfMemoryError thrown;

        Gate(Lack lack, long refused) {
            this.lack = lack;
            this.refused = refused;
        }

        private boolean isRefused(String owner) {
            owners.merge(owner, 1, Integer::sum);
            if (count++ != refused) {
                return false;
            }
            refusedOwner = owner;
            if (lack == Lack.THROWN) {
                thrown = new OutOfMemoryError("injected");
                throw thrown;
            }
            return true;
        }

        @Override
        public boolean reserves(String owner, long bytes) {
            return !isRefused(owner);
        }

        @Override
        public void allocates(String owner, long bytes) {
            if (lack == Lack.THROWN) {
                boolean never = isRefused(owner);
                assertThat(never).isFalse();
            }
        }
    }

    private static Store open(Disk disk) {
        SimClock clock = new SimClock();
        return Store.open(
                disk, new SimTasks(SEED, clock), clock, StoreModel.options().withDirectIo(true));
    }

    private static void run(Trace trace, SimDisk disk, Gate gate, String as)
            throws InterruptedException {
        trace.watched(
                () -> ScopedValue.where(MemoryCheck.BOUND, gate).run(() -> trace.run(disk)), as);
    }

    private static List<AssertionError> without(Lack lack, Maintenance maintenance)
            throws InterruptedException {
        Gate counting = new Gate(lack, Long.MAX_VALUE);
        run(
                new Trace(NoMemoryTest::open, maintenance),
                new SimDisk(SEED, Profile.STRICT),
                counting,
                "whole");
        assertThat(counting.owners)
                .as("who wants memory")
                .containsKeys("buffer cache", "write memory", "direct I/O");
        List<AssertionError> failures = new ArrayList<>();
        int stride = lack == Lack.REFUSED ? 1 : STRIDE; // there are few accounts
        for (long at = 0; at < counting.count; at += stride) {
            Gate gate = new Gate(lack, at);
            String as = "%s, %s at demand %d; %s"
                    .formatted(maintenance, lack, at, Seeds.replay("NoMemoryTest", SEED));
            SimDisk disk = new SimDisk(SEED, Profile.STRICT);
            Set<Object> before = Holders.now();
            Trace trace = new Trace(NoMemoryTest::open, maintenance);
            try {
                run(trace, disk, gate, as);
                assertThat(Holders.now()).as("left: %s", as).isEqualTo(before);
                SimDisk after = disk.copy();
                trace.watched(() -> trace.check(after), as);
            } catch (AssertionError e) {
                AssertionError failure = new AssertionError("of " + gate.refusedOwner, gate.thrown);
                failure.addSuppressed(e);
                failures.add(failure);
            }
        }
        System.out.printf(
                "NoMemoryTest: %s, %s at every %d. of %d demands%n",
                maintenance, lack, stride, counting.count);
        return failures;
    }

    @ParameterizedTest
    @EnumSource
    void a_store_without_memory_is_good_or_stopped(Lack lack) throws InterruptedException {
        List<AssertionError> failures = new ArrayList<>();
        for (Maintenance maintenance : Maintenance.values()) {
            failures.addAll(without(lack, maintenance));
        }
        // all of them are looked at, so that one run shows every hole
        assertThat(failures).isEmpty();
    }
}
