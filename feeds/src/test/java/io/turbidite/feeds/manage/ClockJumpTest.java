package io.turbidite.feeds.manage;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.SplittableRandom;

/** Nothing that a feed decides goes by the wall clock, which somebody may set. */
class ClockJumpTest {
    private static final long HOUR_MICROS = 3_600_000_000L;

    private static final String DEFINITION = """
            feed: f
            dataset: { name: D, type: { id: int64, name: string }, primaryKey: id }
            source: { kind: http }
            parser: { kind: json }
            """;

    private static StoreOptions options() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(1 << 20, 16, 1 << 10, 128 << 10);
        return StoreOptions.defaults()
                .withWriteMemoryBytes(2 << 20)
                .withCacheBytes(2 << 20)
                .withLog(4 << 20, log.withDurability(Durability.PROCESS));
    }

    private static Parcel parcel(int from, int count) {
        StringBuilder text = new StringBuilder();
        for (int id = from; id < from + count; id++) {
            text.append("{\"id\":%d,\"name\":\"n\"}\n".formatted(id));
        }
        return Parcel.of(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    /** Sends 200 records each tenth of a second, for four seconds, half of them behind the jump. */
    private static long taken(String policy, String producer, long jumpMicros) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(1, clock);
        try (Store store = Store.open(new SimDisk(1, Profile.STRICT), tasks, clock, options());
                FeedManager feeds = FeedManager.open(store, new SplittableRandom(1))) {
            feeds.start(DEFINITION + policy, Path.of("."));
            tasks.await(() -> feeds.status("f").state() == FeedState.WAITING);
            long accepted = 0;
            for (int i = 0; i < 40; i++) {
                if (i == 20) {
                    clock.jumpWallMicros(jumpMicros);
                }
                Parcel parcel = parcel(200 * i, 200);
                Receipt receipt = feeds.send(
                        "f",
                        producer.isEmpty() ? parcel : parcel.from("t", producer, 200 * i + 1),
                        30_000_000);
                Receipt.Taken taken = (Receipt.Taken) receipt;
                assertThat(taken.repeated() + taken.rejected()).isZero();
                assertThat(taken.accepted() + taken.dropped()).isEqualTo(200);
                accepted += taken.accepted();
                tasks.runForMicros(100_000);
            }
            assertThat(feeds.status("f").state().isActive()).isTrue();
            return accepted;
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {HOUR_MICROS, -HOUR_MICROS, 8 * 24 * HOUR_MICROS})
    void a_clock_that_jumps_changes_no_rate_and_forgets_no_producer(long jumpMicros) {
        String throttle = "policy: { kind: throttle, recordsPerSecond: 1000 }\n";
        assertThat(taken(throttle, "", jumpMicros)).isEqualTo(taken(throttle, "", 0));
        assertThat(taken("policy: { kind: elastic, workersMax: 3 }\n", "p", jumpMicros))
                .isEqualTo(8_000);
        assertThat(taken("workers: 2\n", "p", jumpMicros)).isEqualTo(8_000);
    }

    @ParameterizedTest
    @ValueSource(longs = {HOUR_MICROS, -HOUR_MICROS})
    void a_clock_that_jumps_brings_no_try_sooner_or_later(long jumpMicros) {
        SimClock clock = new SimClock();
        SimTasks tasks = new SimTasks(1, clock);
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (Store store = Store.open(disk, tasks, clock, options());
                FeedManager feeds = FeedManager.open(store, new SplittableRandom(1))) {
            TroubledKind.Script script = new TroubledKind.Script(1);
            script.come = 5;
            script.troubleIn = 1;
            TroubledKind.SCRIPTS.put("jumps", script);
            String trouble = DEFINITION.replace("kind: http", "kind: troubled, script: jumps");
            feeds.start(trouble, Path.of("."));
            tasks.await(() -> feeds.status("f").state() == FeedState.RETRYING);
            clock.jumpWallMicros(jumpMicros);
            tasks.runForMicros(900_000);
            assertThat(feeds.status("f").state()).isEqualTo(FeedState.RETRYING);
            long before = clock.monotonicNanos();
            tasks.await(() -> feeds.status("f").state() != FeedState.RETRYING);
            assertThat(clock.monotonicNanos() - before).isLessThan(1_500_000_000L);
        }
    }
}
