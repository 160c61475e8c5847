package io.turbidite.feeds.flow;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.store.Delivery.Lane;
import io.turbidite.feeds.store.FeedDelivery;
import io.turbidite.feeds.store.FeedDelivery.Operation;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.HashMap;
import java.util.Map;
import java.util.Objects;

/** Rows that are deleted and written anew beside lanes that deliver. */
class ForgottenRowsTest {
    private static final long HOUR = 3_600_000_000L;

    private final SimClock clock = new SimClock();

    private Store store() {
        LogOptions log = LogOptions.defaults().withSegmentBytes(1 << 20, 16, 1 << 10, 16 << 10);
        return Store.open(
                new SimDisk(1, Profile.STRICT),
                new SimTasks(1, clock),
                clock,
                StoreOptions.defaults()
                        .withWriteMemoryBytes(2 << 20)
                        .withCacheBytes(2 << 20)
                        .withLog(4 << 20, log));
    }

    private static FeedDelivery delivery(Store store) {
        Dataset dataset =
                store.createDataset(DatasetSpec.named("D").field("id", "int64").primaryKey("id"));
        return FeedDelivery.into(store, dataset, "f", Operation.UPSERT);
    }

    private static void deliver(Lane lane, String partition, @Nullable Long follows, long to) {
        Batch batch = new Batch();
        batch.begin(partition, follows == null ? null : SourcePosition.of(follows));
        batch.end(SourcePosition.of(to));
        assertThat(lane.deliver(batch)).isNotNull();
    }

    private static PartitionState state(FeedDelivery delivery, String partition) {
        return Objects.requireNonNull(delivery.taken(partition));
    }

    /** The bug: the first lane took its row of the former life for the present one. */
    @Test
    void a_partition_that_was_forgotten_comes_back_to_a_lane_that_had_it() {
        try (Store store = store();
                FeedDelivery delivery = delivery(store)) {
            Lane first = delivery.newLane();
            Lane second = delivery.newLane();
            deliver(first, "t/p", null, 5);
            assertThat(delivery.forget(Map.of("t/p", SourcePosition.of(5)))).isEmpty();
            deliver(second, "t/p", null, 3);
            deliver(second, "t/p", 3L, 5);
            deliver(first, "t/p", 5L, 8);
            assertThat(state(delivery, "t/p").position()).isEqualTo(SourcePosition.of(8));
            assertThat(state(delivery, "t/p").sequence()).isEqualTo(3);
        }
    }

    /** The bug: they made one batch, which such a log does not take, and the feed failed. */
    @Test
    void a_small_log_takes_a_thousand_rows_too() {
        try (Store store = store();
                FeedDelivery delivery = delivery(store)) {
            Lane lane = delivery.newLane();
            Map<String, SourcePosition> said = new HashMap<>();
            for (int i = 0; i < 1_000; i++) {
                String partition = "t/" + "p".repeat(100) + i;
                deliver(lane, partition, null, 5);
                said.put(partition, SourcePosition.of(5));
            }
            clock.advanceMicros(HOUR);
            long now = clock.wallMicros();
            delivery.touch(said, now);
            assertThat(delivery.taken().values().stream().filter(one -> one.writtenMicros() == now))
                    .hasSize(1_000);
            said.put("t/nobody", SourcePosition.of(5));
            deliver(lane, "t/other", null, 6);
            said.put("t/other", SourcePosition.of(5));
            assertThat(delivery.forget(said)).isEqualTo(Map.of("t/other", SourcePosition.of(6)));
            assertThat(delivery.taken().keySet()).containsExactly("t/other");
        }
    }

    /** The bug: while the clock was behind, rows got the time that it told. */
    @Test
    void a_row_never_gets_an_earlier_time() {
        try (Store store = store();
                FeedDelivery delivery = delivery(store)) {
            Lane lane = delivery.newLane();
            deliver(lane, "t/p", null, 5);
            long written = state(delivery, "t/p").writtenMicros();
            clock.jumpWallMicros(-9 * HOUR);
            deliver(lane, "t/p", 5L, 6);
            assertThat(state(delivery, "t/p").writtenMicros()).isEqualTo(written);
            delivery.touch(Map.of("t/p", SourcePosition.of(6)), clock.wallMicros());
            assertThat(state(delivery, "t/p").writtenMicros()).isEqualTo(written);
            clock.jumpWallMicros(10 * HOUR);
            deliver(lane, "t/p", 6L, 7);
            assertThat(state(delivery, "t/p").writtenMicros()).isGreaterThan(written);
        }
    }
}
