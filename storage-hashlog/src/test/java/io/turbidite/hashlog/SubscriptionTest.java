package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;

/** Subscriptions see each match once, in order; deletions hide records from everybody, for good. */
class SubscriptionTest {
    private static final long SEED = Seeds.of("SubscriptionTest");

    private static void ingest(IngestSession session, int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(LogState.event(session.name(), (int) session.serial() + i))
                    .append('\n');
        }
        MemorySegment batch = LogBench.segment(text.toString());
        session.ingest(batch, 0, batch.byteSize());
    }

    private static RecordSink into(List<String> found) {
        return (address, segment, offset, length) -> found.add(new String(
                segment.asSlice(offset, length).toArray(Bytes.U8), StandardCharsets.UTF_8));
    }

    private static List<String> events(int from, int to, int type) {
        List<String> events = new ArrayList<>();
        for (int n = from; n < to; n++) {
            if (n % LogState.TYPE_COUNT == type) {
                events.add(LogState.event("s", n));
            }
        }
        return events;
    }

    private static void drain(LogSubscription subscription, List<String> found) {
        while (subscription.await(0)) {
            subscription.poll(into(found), 7);
        }
    }

    @Test
    void matches_come_once_in_order_whether_they_are_indexed_or_not() {
        try (LogBench bench = LogBench.simulated(SEED, LogBench.disk(SEED), LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            bench.log.deregister(0);
            List<String> found = new ArrayList<>();
            List<String> positive = new ArrayList<>();
            long position = 0;
            SplittableRandom random = new SplittableRandom(SEED);
            int id = -1;
            LogQuery byType = LogQuery.property("type", "t1");
            try (LogSubscription all = bench.log.subscribe(byType.where("n >= 500"), false)) {
                for (int i = 0; i < 60; i++) {
                    ingest(session, 1 + random.nextInt(60));
                    if (i % 10 == 5) {
                        if (id < 0) {
                            id = bench.register("type");
                        } else {
                            bench.log.deregister(id);
                            id = -1;
                        }
                    }
                    // one that starts anew each time, from where the last one was
                    try (LogSubscription again =
                            bench.log.subscribe(byType.between(position, Long.MAX_VALUE), false)) {
                        again.poll(into(found), random.nextInt(40));
                        position = again.position();
                    }
                    if (random.nextInt(4) == 0) {
                        drain(all, positive);
                    }
                }
                drain(all, positive);
                assertThat(all.backlogBytes()).isZero();
            }
            try (LogSubscription rest =
                    bench.log.subscribe(byType.between(position, Long.MAX_VALUE), false)) {
                drain(rest, found);
                assertThat(rest.skippedBytes()).isZero();
            }
            int count = (int) session.serial();
            assertThat(found).isEqualTo(events(0, count, 1));
            assertThat(positive).isEqualTo(events(500, count, 1));
            assertThat(bench.log.log().head()).isGreaterThan(LogBench.SHAPE.ringBytes());
        }
    }

    @Test
    void only_durable_records_are_shown_to_those_who_want_that() {
        SimDisk disk = LogBench.disk(SEED);
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s");
                LogSubscription durable = bench.log.subscribe(LogQuery.all(), true);
                LogSubscription visible = bench.log.subscribe(LogQuery.all(), false)) {
            ingest(session, 10);
            List<String> found = new ArrayList<>();
            assertThat(durable.poll(into(found), 100)).isZero();
            assertThat(visible.poll(into(found), 100)).isEqualTo(10);
            session.awaitDurable();
            assertThat(durable.poll(into(found), 100)).isEqualTo(10);
        }
    }

    @Test
    void a_consumer_that_sleeps_stalls_nobody_and_is_told_what_it_missed() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options());
                IngestSession session = bench.log.openSession("s");
                LogSubscription slow = bench.log.subscribe(LogQuery.all(), false)) {
            ingest(session, 20);
            List<String> found = new ArrayList<>();
            assertThat(slow.poll(into(found), 5)).isEqualTo(5);
            for (int i = 0; i < 100; i++) {
                ingest(session, 50); // over the ring several times
            }
            drain(slow, found);
            assertThat(slow.skippedBytes()).isPositive();
            assertThat(found.subList(0, 20)).contains(LogState.event("s", 19));
            assertThat(found).last().isEqualTo(LogState.event("s", 5_019));
            assertThat(found.size()).isLessThan(2_000);
        }
    }

    @Test
    void a_record_is_handed_over_again_if_the_consumer_fails() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options());
                IngestSession session = bench.log.openSession("s");
                LogSubscription subscription = bench.log.subscribe(LogQuery.all(), false)) {
            ingest(session, 3);
            AtomicBoolean failed = new AtomicBoolean();
            List<String> found = new ArrayList<>();
            RecordSink fragile = (address, segment, offset, length) -> {
                if (found.size() == 1 && failed.compareAndSet(false, true)) {
                    throw new IllegalStateException("once");
                }
                into(found).accept(address, segment, offset, length);
            };
            assertThatThrownBy(() -> subscription.poll(fragile, 10)).hasMessage("once");
            assertThat(subscription.poll(fragile, 10)).isEqualTo(2);
            assertThat(found).hasSize(3).doesNotHaveDuplicates();
        }
    }

    @Test
    void what_has_an_end_is_no_subscription() {
        try (LogBench bench = LogBench.simulated(SEED, null, LogBench.options())) {
            assertThatThrownBy(() -> bench.log.subscribe(LogQuery.all().limit(3), false))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> bench.log.subscribe(LogQuery.property("no", "x"), false))
                    .isInstanceOf(InvalidRequestException.class);
        }
    }

    // ---- deletions ------------------------------------------------------------------------------

    @Test
    void deleted_records_are_shown_to_nobody_also_after_recovery() {
        SimDisk disk = LogBench.disk(SEED);
        TreeMap<Long, String> left;
        try (LogBench bench = LogBench.simulated(SEED, disk, LogBench.options());
                IngestSession session = bench.log.openSession("s")) {
            bench.register("type");
            ingest(session, 1_000);
            try (LogCursor cursor = bench.log.find(LogQuery.property("type", "t1"))) {
                for (int i = 0; cursor.next(); i++) {
                    if (i % 2 == 0) {
                        assertThat(cursor.delete()).isTrue();
                    }
                    if (i == 200) {
                        bench.log.checkpoint();
                    }
                }
            }
            left = LogState.of(bench.log).records();
            assertThat(left).hasSize(1_000 - 167);
            long victim = left.firstKey();
            assertThat(bench.log.delete(victim)).isTrue();
            assertThat(bench.log.delete(victim)).isFalse();
            assertThatThrownBy(() -> bench.log.delete(left.firstKey() + 8))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("no record starts");
            left.remove(victim);
            checkLeft(bench, left);
            bench.log.awaitDurable();
            SimDisk cut = disk.crashImage(1);
            for (int round = 0; round < 2; round++) {
                try (LogBench again = LogBench.reopened(SEED, cut, LogBench.options())) {
                    checkLeft(again, left);
                    again.log.checkpoint();
                }
            }
        }
    }

    private static void checkLeft(LogBench bench, Map<Long, String> left) {
        LogState state = LogState.of(bench.log);
        assertThat(state.records()).isEqualTo(left);
        state.checkChains(bench.log, "deleted");
        List<String> found = new ArrayList<>();
        try (LogSubscription all = bench.log.subscribe(LogQuery.all(), false)) {
            drain(all, found);
        }
        assertThat(found).containsExactlyElementsOf(left.values());
        int count = 0;
        try (LogCursor cursor = bench.log.find(LogQuery.all())) {
            while (cursor.next()) {
                count++;
            }
        }
        assertThat(count).isEqualTo(left.size());
    }
}
