package io.turbidite.lsm.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.index.IndexKinds;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.schedule.BackgroundOptions;
import io.turbidite.lsm.schedule.MergeScheduler;

import org.junit.jupiter.api.Test;

/** Each option of a builder goes to its place, and what is not named stays as it was. */
class StoreOptionsTest {
    private static final LogOptions LOG =
            new LogOptions(Durability.INTERVAL, 7_000, 64L << 20, 512, 4 << 10, 19 << 20);

    private static final BackgroundOptions BACKGROUND =
            new BackgroundOptions(5, MergeScheduler.FAIR, 1 << 20, 2 << 20, 9);

    private static final StoreOptions ALL = new StoreOptions(
            3L << 20, 5L << 20, 9L << 20, 128L << 20, LOG, BACKGROUND, true, IndexKinds.NONE, null);

    @Test
    void builders_set_each_option() {
        assertThat(LogOptions.builder()
                        .durability(Durability.INTERVAL)
                        .intervalMicros(7_000)
                        .segmentBytes(64L << 20)
                        .ringSlots(512)
                        .slotBytes(4 << 10)
                        .overflowBytesMax(19 << 20)
                        .build())
                .isEqualTo(LOG);
        assertThat(BackgroundOptions.builder()
                        .mergeWorkers(5)
                        .mergeScheduler(MergeScheduler.FAIR)
                        .ioBytesPerSecond(1 << 20)
                        .syncBytes(2 << 20)
                        .backlogComponentsMax(9)
                        .build())
                .isEqualTo(BACKGROUND);
        assertThat(StoreOptions.builder()
                        .writeMemoryBytes(3L << 20)
                        .cacheBytes(5L << 20)
                        .queryMemoryBytes(9L << 20)
                        .logBytesMax(128L << 20)
                        .log(LOG)
                        .background(BACKGROUND)
                        .directIo(true)
                        .build())
                .isEqualTo(ALL);
    }

    @Test
    void what_is_not_named_stays() {
        assertThat(StoreOptions.builder().build()).isEqualTo(StoreOptions.defaults());
        assertThat(ALL.toBuilder().build()).isEqualTo(ALL);
        assertThat(ALL.withCacheBytes(6L << 20).withCacheBytes(5L << 20)).isEqualTo(ALL);
        assertThat(ALL.withDurability(Durability.SYNC).withDurability(Durability.INTERVAL))
                .isEqualTo(ALL);
    }

    @Test
    void options_that_hang_together_are_checked_together() {
        StoreOptions.Builder builder = ALL.toBuilder().logBytesMax(32L << 20);
        assertThatThrownBy(builder::build)
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("logBytesMax");
        assertThat(builder.log(LogOptions.defaults()).build().logBytesMax()).isEqualTo(32L << 20);
    }
}
