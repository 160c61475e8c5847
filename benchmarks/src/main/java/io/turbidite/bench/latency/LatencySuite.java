package io.turbidite.bench.latency;

import io.turbidite.bench.engine.Scratch;
import io.turbidite.bench.peer.Tweet;
import io.turbidite.bench.peer.TweetSource;
import io.turbidite.bench.report.Report;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.WriteBatch;

import org.HdrHistogram.Histogram;

import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SplittableRandom;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/**
 * Latency of single upserts into a dataset that is being merged all the time.
 *
 * <ol>
 *   <li>Load tweets in batches until the data is as large as the merges are to be.
 *   <li>For each durability, <b>closed loop</b>: every thread upserts as fast as it can. The rate
 *       is the capacity.
 *   <li><b>Open loop</b>: upserts are due at a fixed rate, a share of the capacity, whether those
 *       before are done or not. A thread looks once a millisecond for what is due.
 * </ol>
 *
 * <p>Before anything else 4 KiB are written and synced for a while, one after the other, with
 * nothing else of ours on the device: what a commit would wait for at best.
 *
 * <p>During 2 and 3 a thread keeps asking for a merge of everything, so that besides the merges
 * that the policy wants one of all the data is always under way. Another thread only parks for a
 * millisecond at a time and notes how late it wakes: what the machine adds to any latency.
 */
public final class LatencySuite {
    private static final int BATCH_COUNT = 500;
    private static final long TICK_NANOS = 1_000_000;
    private static final long NANOS_MAX = 60_000_000_000L;
    private static final long PROBE_NANOS_MAX = 10_000_000_000L;
    private static final int PROBE_WRITE_BYTES = 4 << 10;
    private static final int PROBE_FILE_BYTES = 8 << 20;

    private final Setting setting;
    private final Clock clock = Clock.system();
    private final AtomicLong mergeBytes = new AtomicLong();
    private final AtomicLong largestMergeBytes = new AtomicLong();
    private final AtomicLong mergeCount = new AtomicLong();

    /**
     * What is run.
     *
     * @param tweets loaded first
     * @param seconds of each loop
     * @param writers threads
     * @param share of the capacity that the open loop asks for, above 0 and below 1
     * @param store its options: the default, but for what an experiment changes
     * @param durabilities each is run
     */
    public record Setting(
            int tweets,
            int seconds,
            int writers,
            double share,
            StoreOptions store,
            List<Durability> durabilities) {
        private String command() {
            return "./turbidite bench latency --tweets %d --seconds %d --writers %d --share %s --sync-bytes %d"
                    .formatted(
                            tweets, seconds, writers, share, store.background().syncBytes());
        }
    }

    public LatencySuite(Setting setting) {
        this.setting = setting;
    }

    /** Runs all loops in stores under {@code directory}, which is emptied. */
    public LatencyReport run(Path directory) {
        LatencyReport report = new LatencyReport("Latency of an upsert while merges run")
                .setting("machine", Report.machine())
                .setting(
                        "data",
                        "%,d tweets of about 500 bytes, 1 secondary index, eager; upserts update them"
                                .formatted(setting.tweets))
                .setting("writers", setting.writers)
                .setting("background", setting.store.background())
                .setting(
                        "open loop",
                        "%.0f %% of the closed loop's rate".formatted(100 * setting.share))
                .setting("command", setting.command());
        report.setting("device alone, sync of 4 KiB", LatencyReport.summary(probe(directory)));
        for (Durability durability : setting.durabilities) {
            Path place = Scratch.empty(directory.resolve("latency"));
            StoreOptions options = setting.store.withDurability(durability);
            try (Store store = Store.open(place, options)) {
                run(store, durability.name().toLowerCase(Locale.ROOT), report);
            } catch (InterruptedException | ExecutionException failed) {
                throw new IllegalStateException(failed);
            }
            Scratch.delete(place);
        }
        return report;
    }

    /** How long the device takes to make a little durable in a file whose space is there. */
    private Histogram probe(Path directory) {
        Histogram histogram = newHistogram();
        Path place = Scratch.empty(directory.resolve("probe"));
        Disk disk = RealDisk.open(place);
        try (DiskFile file = disk.create("probe")) {
            MemorySegment zeros = MemorySegment.ofArray(new byte[PROBE_FILE_BYTES]);
            file.write(0, zeros, 0, PROBE_FILE_BYTES);
            file.sync();
            long startNanos = clock.monotonicNanos();
            long probeNanos = Math.min(PROBE_NANOS_MAX, setting.seconds * 500_000_000L);
            long before = startNanos;
            for (long at = 0; before - startNanos < probeNanos; at += PROBE_WRITE_BYTES) {
                file.write(at % PROBE_FILE_BYTES, zeros, 0, PROBE_WRITE_BYTES);
                file.sync();
                long now = clock.monotonicNanos();
                record(histogram, now - before);
                before = now;
            }
        }
        Scratch.delete(place);
        return histogram;
    }

    private void run(Store store, String name, LatencyReport report)
            throws InterruptedException, ExecutionException {
        Dataset tweets = store.createDataset(spec());
        long[] ids = load(store, tweets);
        store.events().listen(this::note);
        LatencyReport.Loop closed = loop(tweets, ids, 0);
        report.add("closed, " + name, closed);
        report.add("open, " + name, loop(tweets, ids, setting.share * closed.rate()));
    }

    private void note(StoreEvent event) {
        if (event instanceof StoreEvent.Merged merged) {
            mergeCount.incrementAndGet();
            mergeBytes.addAndGet(merged.bytesWritten());
            largestMergeBytes.accumulateAndGet(merged.bytesRead(), Math::max);
        }
    }

    private static DatasetSpec spec() {
        DatasetSpec spec = DatasetSpec.named("Tweets").field("id", "int64");
        for (int i = 0; i < Tweet.ATTRIBUTE_COUNT; i++) {
            spec.field("a" + i, "int32");
        }
        return spec.field("created", "datetime")
                .field("message", "string")
                .primaryKey("id")
                .filter("created")
                .index(IndexSpec.btree("by_a0", "a0"));
    }

    /** Loads the tweets; returns their ids. */
    private long[] load(Store store, Dataset dataset) {
        TweetSource source = new TweetSource(1, setting.tweets, 0);
        Tweet tweet = new Tweet();
        RecordWriter writer = dataset.newRecordWriter();
        WriteBatch batch = store.newBatch();
        long[] ids = new long[setting.tweets];
        for (int i = 0; i < ids.length; i++) {
            source.next(tweet);
            ids[i] = tweet.id;
            batch.upsert(dataset, tweet.record(writer));
            if (batch.size() == BATCH_COUNT || i == ids.length - 1) {
                store.write(batch);
                batch.clear();
            }
        }
        return ids;
    }

    /**
     * One loop.
     *
     * @param rate upserts a second of all threads; 0 for as many as they can
     */
    private LatencyReport.Loop loop(Dataset tweets, long[] ids, double rate)
            throws InterruptedException, ExecutionException {
        mergeBytes.set(0);
        mergeCount.set(0);
        largestMergeBytes.set(0);
        long startNanos = clock.monotonicNanos();
        long endNanos = startNanos + setting.seconds * 1_000_000_000L;
        BooleanSupplier over = () -> clock.monotonicNanos() >= endNanos;
        FutureTask<Histogram> machine = started("machine", () -> lateness(over));
        FutureTask<Histogram> merging = started("merge-all", () -> merges(tweets, over));
        List<FutureTask<Histogram>> works = new ArrayList<>();
        for (int i = 0; i < setting.writers; i++) {
            int writer = i;
            works.add(started(
                    "writer-" + i,
                    () -> rate == 0
                            ? closed(tweets, ids, writer, over)
                            : open(tweets, ids, writer, setting.writers * 1e9 / rate, over)));
        }
        Histogram all = newHistogram();
        for (FutureTask<Histogram> work : works) {
            all.add(work.get());
        }
        double seconds = (clock.monotonicNanos() - startNanos) / 1e9;
        // what is under way is counted when it is over: the data is still there afterwards
        merging.get();
        return new LatencyReport.Loop(
                all,
                machine.get(),
                all.getTotalCount() / seconds,
                new LatencyReport.Merges(
                        mergeCount.get(), mergeBytes.get(), largestMergeBytes.get()));
    }

    private static FutureTask<Histogram> started(String name, Callable<Histogram> work) {
        FutureTask<Histogram> task = new FutureTask<>(work);
        Thread.ofPlatform().name(name).start(task);
        return task;
    }

    private static Histogram newHistogram() {
        return new Histogram(NANOS_MAX, 3);
    }

    private static void record(Histogram histogram, long nanos) {
        histogram.recordValue(Math.clamp(nanos, 0, NANOS_MAX));
    }

    private Histogram closed(Dataset dataset, long[] ids, int writer, BooleanSupplier over) {
        Histogram histogram = newHistogram();
        Upserts upserts = new Upserts(dataset, ids, writer);
        long before = clock.monotonicNanos();
        while (!over.getAsBoolean()) {
            upserts.next();
            long now = clock.monotonicNanos();
            record(histogram, now - before);
            before = now;
        }
        return histogram;
    }

    private Histogram open(
            Dataset dataset, long[] ids, int writer, double gapNanos, BooleanSupplier over) {
        Histogram histogram = newHistogram();
        Upserts upserts = new Upserts(dataset, ids, writer);
        long startNanos = clock.monotonicNanos();
        long count = 0;
        while (!over.getAsBoolean()) {
            long dueNanos = startNanos + (long) (count * gapNanos);
            while (clock.monotonicNanos() < dueNanos) {
                LockSupport.parkNanos(Math.min(TICK_NANOS, dueNanos - clock.monotonicNanos()));
            }
            upserts.next();
            record(histogram, clock.monotonicNanos() - dueNanos);
            count++;
        }
        return histogram;
    }

    /** How much later than asked a thread wakes that does nothing else. */
    private Histogram lateness(BooleanSupplier over) {
        Histogram histogram = newHistogram();
        while (!over.getAsBoolean()) {
            long before = clock.monotonicNanos();
            LockSupport.parkNanos(TICK_NANOS);
            record(histogram, clock.monotonicNanos() - before - TICK_NANOS);
        }
        return histogram;
    }

    private Histogram merges(Dataset dataset, BooleanSupplier over) {
        Histogram histogram = newHistogram();
        while (!over.getAsBoolean()) {
            long before = clock.monotonicNanos();
            dataset.flush();
            dataset.mergeAll();
            record(histogram, clock.monotonicNanos() - before);
        }
        return histogram;
    }

    /** Updates of loaded tweets, by one thread. */
    private static final class Upserts {
        private final Dataset dataset;
        private final RecordWriter writer;
        private final TweetSource source;
        private final SplittableRandom chooser;
        private final long[] ids;
        private final Tweet tweet = new Tweet();

        Upserts(Dataset dataset, long[] ids, int number) {
            this.dataset = dataset;
            this.writer = dataset.newRecordWriter();
            this.source = new TweetSource(100 + number, 1, 1);
            this.chooser = new SplittableRandom(number);
            this.ids = ids;
        }

        void next() {
            source.next(tweet);
            tweet.id = ids[chooser.nextInt(ids.length)];
            dataset.upsertRecord(tweet.record(writer));
        }
    }
}
