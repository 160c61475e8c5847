package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.ClosedException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.log.LogOptions;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schedule.BackgroundOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;

/**
 * A writer that stands because flushes may write next to nothing is free again within two seconds,
 * by an interrupt, by {@link Store#endWaitsWithin} and by close; what it had not begun was not
 * done.
 */
@Timeout(60)
class EndedWaitTest {
    private static final long END_MILLIS = 2_000;

    /** A writer that is only slowed waits a quarter of a second at most. */
    private static final long STANDS_NANOS = 600_000_000;

    private final SimDisk disk = new SimDisk(29, Profile.STRICT);
    private final AtomicLong written = new AtomicLong();
    private final AtomicReference<@Nullable Throwable> ended = new AtomicReference<>();

    /** 64 KiB a second, for write memory of 4 MiB: a flush takes half a minute and more. */
    private Store open() {
        StoreOptions options = StoreOptions.defaults()
                .withWriteMemoryBytes(4 << 20)
                .withCacheBytes(1 << 20)
                .withLog(
                        64 << 20,
                        LogOptions.defaults()
                                .withSegmentBytes(256 << 10, 16, 4 << 10, 64 << 10)
                                .withDurability(Durability.BUFFERED))
                .withBackground(BackgroundOptions.defaults().withIoBytesPerSecond(64 << 10));
        return Store.open(disk, ThreadTasks.create("slow"), Clock.system(), options);
    }

    /** Writes until it is told that it can't; returns when it stands. */
    private Thread startWriter(Dataset dataset) {
        String body = "b".repeat(2_000);
        Thread writer = Thread.ofPlatform().name("writer").start(() -> {
            try {
                while (true) {
                    long id = written.get();
                    dataset.upsert(new Row(id, "ann", 1, null, body).toMap());
                    written.incrementAndGet();
                }
            } catch (RuntimeException | Error end) {
                ended.set(end);
            }
        });
        Clock clock = Clock.system();
        long[] seen = {-1, clock.monotonicNanos()};
        Inside.store(dataset).environment().tasks().await(() -> {
            long now = clock.monotonicNanos();
            if (written.get() != seen[0]) {
                seen[0] = written.get();
                seen[1] = now;
            }
            return now - seen[1] >= STANDS_NANOS;
        });
        assertThat(ended.get()).isNull();
        return writer;
    }

    private void assertEnded(Thread writer, String why) throws InterruptedException {
        writer.join(END_MILLIS);
        assertThat(writer.isAlive()).as("the writer waits on").isFalse();
        assertThat(ended.get())
                .isInstanceOfSatisfying(
                        StorageIoException.class,
                        end -> assertThat(end.kind())
                                .isEqualTo(StorageIoException.Kind.INTERRUPTED))
                .hasMessageContaining(why)
                .hasMessageContaining("write memory");
    }

    private void closeInTime(Store store) {
        try {
            CompletableFuture.runAsync(store::close).get(END_MILLIS, TimeUnit.MILLISECONDS);
        } catch (TimeoutException | ExecutionException | InterruptedException late) {
            throw new AssertionError("close does not end", late);
        }
    }

    private Dataset create(Store store) {
        return store.createDataset(Row.spec("T").mergePolicy(MergePolicySpec.parse("no-merge")));
    }

    private void assertAllIsThere() {
        try (Store again = open()) {
            assertThat(SimStore.rows(again.dataset("T"))).hasSize((int) written.get());
            assertThat(again.verify().errors()).isEmpty();
        }
    }

    @Test
    void by_an_interrupt_of_the_writer() throws InterruptedException {
        Store store = open();
        Dataset dataset = create(store);
        Thread writer = startWriter(dataset);
        writer.interrupt();
        assertEnded(writer, "interrupted");
        assertThat(Inside.core(store).health().firstFailure()).isNull();
        closeInTime(store);
        assertAllIsThere();
    }

    @Test
    void by_whoever_ends_all_waits() throws InterruptedException {
        Store store = open();
        Dataset dataset = create(store);
        Thread writer = startWriter(dataset);
        store.endWaitsWithin(100_000);
        assertEnded(writer, "no longer");
        assertThatThrownBy(dataset::flush)
                .isInstanceOf(StorageIoException.class)
                .hasMessageContaining("flush");
        closeInTime(store);
        assertAllIsThere();
    }

    @Test
    void by_a_close() throws InterruptedException {
        Store store = open();
        Thread writer = startWriter(create(store));
        closeInTime(store);
        writer.join(END_MILLIS);
        assertThat(writer.isAlive()).isFalse();
        assertThat(ended.get()).isInstanceOf(ClosedException.class);
        assertAllIsThere();
    }
}
