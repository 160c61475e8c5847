package io.turbidite.it.fault;

import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.file.ForwardingFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.log.Durability;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.manage.FeedManager;
import io.turbidite.feeds.manage.FeedState;
import io.turbidite.feeds.source.parcel.Parcel;
import io.turbidite.feeds.source.parcel.Receipt;
import io.turbidite.feeds.source.parcel.Ticket;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * The process of {@link BurstTest}: sends numbered records to a feed that spills, as fast as they
 * are acknowledged, before a store whose log syncs ten times a second; then it is gone at once.
 */
final class BurstWriter {
    static final int PARCEL_RECORDS = 500;
    private static final int ON_WAY_MAX = 16;
    private static final long SYNC_NANOS = TimeUnit.MILLISECONDS.toNanos(100);

    private BurstWriter() {}

    static StoreOptions options() {
        return StoreOptions.defaults()
                .withWriteMemoryBytes(32 << 20)
                .withCacheBytes(16 << 20)
                .withDurability(Durability.SYNC);
    }

    static String definition() {
        return """
            feed: burst
            dataset:
              name: Burst
              type: { id: int64, text: string }
              primaryKey: id
            source: { kind: http }
            parser: { kind: json }
            policy: { kind: spill, bytesMax: 256MiB }
            """;
    }

    /**
     * The burst.
     *
     * @param arguments the store's directory and the seconds of the burst
     */
    public static void main(String[] arguments) {
        Path place = Path.of(arguments[0]);
        long nanos = TimeUnit.SECONDS.toNanos(Long.parseLong(arguments[1]));
        Clock clock = Clock.system();
        Store store = Store.open(
                new SlowLogDisk(RealDisk.open(place)),
                ThreadTasks.create("burst"),
                clock,
                options());
        FeedManager feeds = FeedManager.open(store);
        feeds.startOrChange(definition(), place);
        while (feeds.status("burst").state() == FeedState.STARTING) {
            LockSupport.parkNanos(1_000_000);
        }
        ArrayDeque<Ticket> onWay = new ArrayDeque<>();
        long sent = 0;
        long acknowledged = 0;
        long end = clock.monotonicNanos() + nanos;
        while (clock.monotonicNanos() < end) {
            while (!onWay.isEmpty() && onWay.element().isSettled()) {
                if (!(onWay.remove().giveUp("") instanceof Receipt.Taken)) {
                    throw new IllegalStateException("a parcel was not taken");
                }
                acknowledged += PARCEL_RECORDS;
            }
            if (onWay.size() < ON_WAY_MAX) {
                onWay.add(feeds.offer("burst", parcel(sent)));
                sent += PARCEL_RECORDS;
            } else {
                LockSupport.parkNanos(100_000);
            }
        }
        System.out.println("stored " + feeds.status("burst").records());
        System.out.println("acknowledged " + acknowledged);
        System.out.flush();
        Runtime.getRuntime().halt(0);
    }

    private static Parcel parcel(long from) {
        StringBuilder text = new StringBuilder();
        for (long id = from; id < from + PARCEL_RECORDS; id++) {
            text.append("{\"id\":").append(id).append(",\"text\":\"");
            text.append("some words that fill a record, ".repeat(5)).append("\"}\n");
        }
        return Parcel.of(text.toString().getBytes(StandardCharsets.UTF_8));
    }

    private record SlowLogDisk(Disk disk) implements ForwardingDisk {
        @Override
        public boolean mapsFiles() {
            return false;
        }

        @Override
        public DiskFile wrap(DiskFile file) {
            return file.name().startsWith("log/") ? new SlowFile(file) : file;
        }

        @Override
        public String description() {
            return disk.description();
        }
    }

    private record SlowFile(DiskFile file) implements ForwardingFile {
        @Override
        public void sync() {
            file.sync();
            LockSupport.parkNanos(SYNC_NANOS);
        }
    }
}
