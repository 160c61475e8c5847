package io.turbidite.hashlog.chain;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.log.LogSite;
import io.turbidite.hashlog.log.LogStart;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.table.HashTable;

import org.jetbrains.lincheck.datastructures.IntGen;
import org.jetbrains.lincheck.datastructures.Operation;
import org.jetbrains.lincheck.datastructures.Param;
import org.jetbrains.lincheck.datastructures.StressOptions;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Insertions race on two chains: what was inserted is met by every walk from then on, and links
 * lead down. Places are fixed, so that threads insert lower addresses after higher ones: the hard
 * case.
 */
@Param(name = "place", gen = IntGen.class, conf = "1:12")
@Param(name = "chain", gen = IntGen.class, conf = "0:1")
public class ChainInsertionTest {
    /** Lincheck makes one object after the other and closes none. */
    private static @Nullable ChainInsertionTest previous;

    private final HybridLog log;
    private final HashTable table;

    public ChainInsertionTest() {
        synchronized (ChainInsertionTest.class) {
            if (previous != null) {
                previous.log.close();
                previous.table.close();
            }
            previous = this;
        }
        SimClock clock = new SimClock();
        MemoryBudget budget = MemoryBudget.of(1 << 20);
        LogSite site = new LogSite(
                "lincheck",
                null,
                "log",
                new SimTasks(1, clock),
                clock,
                budget,
                new Meters(),
                new StoreEvents());
        LogShape shape = new LogShape(16 << 10, 4, 1);
        Epochs epochs = Epochs.create(4, clock);
        log = HybridLog.open(site, LogOptions.of(shape), LogStart.fresh(1, shape), epochs);
        table = HashTable.create(6, epochs, budget.account("table"));
    }

    @AfterEach
    void close_the_last() {
        synchronized (ChainInsertionTest.class) {
            if (previous != null) {
                previous.log.close();
                previous.table.close();
            }
            previous = null;
        }
    }

    private static long hash(int chain) {
        return 0x5555_0000_0000_0007L + ((long) chain << 60);
    }

    private long address(int place) {
        return log.shape().firstAddress() + 64L * place;
    }

    /**
     * Inserts the place into a chain; a place that is taken stays where it is. Who finds it taken
     * says so when it is inserted, not before: a walk that comes after the answer must meet it.
     */
    @Operation
    public boolean insert(@Param(name = "place") int place, @Param(name = "chain") int chain) {
        // each place once: whoever sets its second word has it, and sets its fourth at the end
        long at = log.place(address(place));
        if (!RecordHeader.WORDS.compareAndSet(log.memory(), at + 8, 0L, chain + 1L)) {
            while ((long) RecordHeader.WORDS.getAcquire(log.memory(), at + 24) == 0) {
                Thread.onSpinWait();
            }
            return false;
        }
        log.memory().set(RecordHeader.WORD, at, KeyPointer.link(0, KeyPointer.INLINE, 0));
        new ChainInsertion(log, table).insert(hash(chain), address(place));
        RecordHeader.WORDS.setRelease(log.memory(), at + 24, 1L);
        return true;
    }

    /** Whether a walk meets the place. */
    @Operation
    public boolean contains(@Param(name = "place") int place, @Param(name = "chain") int chain) {
        long wanted = address(place);
        long last = Long.MAX_VALUE;
        for (long at = table.headOf(hash(chain)); at != 0; ) {
            if (at >= last) {
                throw new AssertionError("a link from %d leads up to %d".formatted(last, at));
            }
            if (at == wanted) {
                return true;
            }
            last = at;
            at = KeyPointer.previous(KeyPointer.loadLink(log.memory(), log.place(at)));
        }
        return false;
    }

    private String walk(int chain) {
        List<Long> places = new ArrayList<>();
        for (long at = table.headOf(hash(chain)); at != 0; ) {
            places.add((at - log.shape().firstAddress()) / 64);
            at = KeyPointer.previous(KeyPointer.loadLink(log.memory(), log.place(at)));
        }
        return places.toString();
    }

    @Test
    void insertion_is_linearizable() {
        Tier.notQuick("a run of Lincheck");
        new StressOptions()
                .iterations(Tier.count(3, 12, 200))
                .invocationsPerIteration(Tier.count(12, 100, 2_000))
                .threads(3)
                .actorsPerThread(3)
                .actorsBefore(1)
                .actorsAfter(2)
                .sequentialSpecification(Model.class)
                .check(ChainInsertionTest.class);
    }

    /** Places by chain. */
    public static final class Model {
        private final Map<Integer, Integer> chainOf = new HashMap<>();

        public boolean insert(int place, int chain) {
            return chainOf.putIfAbsent(place, chain) == null;
        }

        public boolean contains(int place, int chain) {
            return Objects.equals(chainOf.get(place), chain);
        }
    }

    @Test
    void a_lower_address_goes_below_and_no_link_leads_up() {
        for (int place : new int[] {5, 9, 2, 7, 12, 1}) {
            insert(place, 0);
        }
        assertThat(walk(0)).isEqualTo("[12, 9, 7, 5, 2, 1]");
        assertThat(walk(1)).isEqualTo("[]");
    }
}
