package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.type.RecordType;
import io.turbidite.feeds.flow.WorkerPolicy;
import io.turbidite.feeds.parse.JsonRecordParser;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.function.BooleanSupplier;

/** What a run does while what its source reads is away. */
@Timeout(60)
class AwaySourceTest {
    private static final long LOOK_NANOS = 100_000_000;
    private static final String FAILURE = "the store takes no more";
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").build();

    private final SimClock clock = new SimClock();
    private final SimTasks tasks = new SimTasks(5, clock);
    private final Leaving source = new Leaving();
    private final NowhereDelivery delivery = new NowhereDelivery(() ->
            new StorageIoException(StorageIoException.Kind.IO, "write", "wal", FAILURE, null));
    private int toldCount;

    private FeedRun run(WorkerPolicy workers, BooleanSupplier stopped) {
        FeedRun.Parts parts = new FeedRun.Parts(
                "f",
                source,
                () -> ParseTools.of(new JsonRecordParser(TYPE, true, List.of())),
                workers,
                ',',
                delivery,
                tasks,
                clock,
                new StoreEvents(),
                null);
        return new FeedRun(
                parts,
                new FeedProgress() {
                    @Override
                    public void at(long records, long rejected, long bytes, long bytesTotal) {}

                    @Override
                    public void away(String why) {
                        toldCount++;
                    }
                },
                stopped);
    }

    /** The bug: the failure was taken for the source's, and the run went round and round. */
    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aStoreThatFailsMeanwhileEndsTheRun(int workers) {
        delivery.fails = true;
        source.isAwayBehindLook = true;
        int[] asked = {0};
        FeedRun run = run(WorkerPolicy.fixed(workers), () -> ++asked[0] > 200_000);
        assertThatThrownBy(run::run).hasMessageContaining(FAILURE);
        assertThat(asked[0]).as("times it went round").isLessThan(200_000);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aServedFeedIsToldOfTheStoreFirst(int workers) {
        FeedRun run = run(WorkerPolicy.fixed(workers), () -> false);
        delivery.fails = true;
        while (source.givenCount == 0) {
            var _ = run.turn();
            tasks.runForMicros(1_000);
        }
        tasks.runForMicros(1_000_000);
        source.isAway = true;
        assertThatThrownBy(run::turn).hasMessageContaining(FAILURE);
        assertThatThrownBy(run::end).hasMessageContaining(FAILURE);
    }

    /** The bug: with more workers than the fewest it looked all the time. */
    @Test
    void elasticWorkersLookNoMoreOftenThanOne() {
        long[] awayNanos = {0};
        FeedRun run = run(new Growing(), () -> {
            long now = clock.monotonicNanos();
            if (source.isAway) {
                return now - awayNanos[0] > 3_000_000_000L || source.failedCount > 10_000;
            }
            if (now > 1_000_000_000L) { // there are two by now
                source.isAway = true;
                awayNanos[0] = now;
            }
            return false;
        });
        assertThat(run.run()).isFalse();
        assertThat(run.workers()).isEqualTo(2);
        assertThat(toldCount).isEqualTo(1);
        assertThat(source.failedCount).isBetween(3, 150); // 30 looks are due, of up to three each
    }

    /** One worker, and soon one more. */
    private static final class Growing implements WorkerPolicy {
        @Override
        public int workersMin() {
            return 1;
        }

        @Override
        public int workersMax() {
            return 2;
        }

        @Override
        public long everyNanos() {
            return LOOK_NANOS;
        }

        @Override
        public Change decide(long[] busyNanos, boolean mayAdd, long nanos) {
            return mayAdd ? Change.ADD : Change.KEEP;
        }
    }

    /** Two partitions of a record each, that go away. */
    private final class Leaving implements FeedSource {
        boolean isAway;

        /** Away as soon as they were listed. */
        boolean isAwayBehindLook;

        int failedCount;
        int givenCount;
        private long lookedNanos;

        @Override
        public List<String> partitions() {
            lookedNanos = clock.monotonicNanos();
            if (isAway) {
                failedCount++;
                throw new StorageIoException(
                        StorageIoException.Kind.NOT_FOUND, "list", "logs", "it is away", null);
            }
            isAway = isAwayBehindLook && givenCount == 2;
            return List.of("p0", "p1");
        }

        @Override
        public boolean isAway() {
            return isAway;
        }

        @Override
        public boolean hasNews() {
            return clock.monotonicNanos() - lookedNanos >= LOOK_NANOS;
        }

        @Override
        public boolean isEndless() {
            return true;
        }

        @Override
        public boolean canGoBack() {
            return true;
        }

        @Override
        public PartitionReader open(
                String partition, @Nullable PartitionState taken, SourceHost host) {
            return new PartitionReader() {
                private int count;

                @Override
                public Step next() {
                    if (count == 1) {
                        return Step.NOTHING;
                    }
                    count = 1;
                    givenCount++;
                    return Step.RECORD;
                }

                @Override
                public RecordFrame frame() {
                    return RecordFrame.of("{\"id\":1}".getBytes(StandardCharsets.UTF_8), 0, 1);
                }

                @Override
                public SourcePosition position() {
                    return SourcePosition.of(count);
                }

                @Override
                public void close() {}
            };
        }
    }
}
