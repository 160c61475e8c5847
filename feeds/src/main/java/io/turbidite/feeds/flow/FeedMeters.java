package io.turbidite.feeds.flow;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.ToLongFunction;

/**
 * What is counted of one feed, stage by stage, through all of its runs; gauges show the present
 * run.
 *
 * <p><em>Thread-safe.</em> Numbers are written once for each batch or each look that a waiting
 * stage takes: nothing here is done for each record. Each worker of a stage has its own time:
 * {@link ParseTime} and {@link StoreTime}.
 */
public final class FeedMeters {
    /** The tag of all. */
    public static final String FEED_TAG = "feed";

    private static final String STAGE_TAG = "stage";
    private static final String CAUSE_TAG = "cause";
    private static final long NANOS_PER_SECOND = 1_000_000_000;

    /** Who reads and parses, and who takes what is parsed into the store. */
    private static final String PARSE = "parse";

    private static final String STORE = "store";

    private final Meters meters;
    private final Clock clock;
    private final Counter parsed;
    private final Counter stored;
    private final Counter bytesRead;
    private final Counter bytesStored;
    private final Counter rejectedParsing;
    private final Counter rejectedStoring;
    private final Counter busyParsing;
    private final Counter busyStoring;
    private final Counter missed;
    private final Counter waitsForSource;
    private final Counter waitsForStore;
    private final Counter waitsForBatches;
    private final Latency batchTime;
    private final Latency functionTime;
    private final Counter spilled;
    private final Counter bytesSpilled;
    private volatile @Nullable SpilledFlow spill;

    /** Of the present run, one for each parse worker. */
    private final List<Pipeline> pipelines = new CopyOnWriteArrayList<>();

    // written by the thread of the run
    private boolean isEndless;
    private volatile long restedNanos;
    private volatile boolean isRested;
    private volatile boolean isRunning;
    private volatile long lagBytes = -1;
    private volatile long bytesAll;
    private volatile long knownCount = -1;
    private @Nullable Counter forgotten;

    private FeedMeters(Meters all, Clock clock, String feed) {
        this.meters = all.scope(FEED_TAG, feed);
        this.clock = clock;
        Meters parse = meters.scope(STAGE_TAG, PARSE);
        Meters store = meters.scope(STAGE_TAG, STORE);
        parsed = parse.counter("feed.records");
        stored = store.counter("feed.records");
        bytesRead = parse.counter("feed.bytes");
        bytesStored = store.counter("feed.bytes");
        rejectedParsing = parse.counter("feed.rejected");
        rejectedStoring = store.counter("feed.rejected");
        busyParsing = parse.counter("feed.busy.nanos");
        busyStoring = store.counter("feed.busy.nanos");
        missed = meters.counter("feed.missed");
        spilled = meters.counter("feed.spilled");
        bytesSpilled = meters.counter("feed.spilled.bytes");
        waitsForSource = meters.scope(CAUSE_TAG, "source").counter("feed.wait.nanos");
        waitsForStore = meters.scope(CAUSE_TAG, STORE).counter("feed.wait.nanos");
        waitsForBatches = meters.scope(CAUSE_TAG, PARSE).counter("feed.wait.nanos");
        batchTime = meters.latency("feed.batch.time");
        functionTime = meters.latency("feed.function.time");
        meters.gauge("feed.queue.batches", () -> sum(Pipeline::queueCount));
        meters.gauge("feed.queue.bytes", () -> sum(Pipeline::queueBytes));
        meters.gauge("feed.queue.percent", this::queuePercent);
        meters.gauge("feed.workers", pipelines::size);
        meters.gauge("feed.spill.records", () -> {
            SpilledFlow running = spill;
            return running == null ? 0 : running.waitingCount();
        });
        meters.gauge("feed.spill.bytes", () -> {
            SpilledFlow running = spill;
            return running == null ? 0 : running.spillBytes();
        });
        meters.gauge("feed.spill.percent", () -> {
            SpilledFlow running = spill;
            return running == null ? 0 : running.percent();
        });
        restedNanos = clock.monotonicNanos();
    }

    /**
     * Those of a feed, which go on from what there is.
     *
     * @param meters of the store
     */
    public static FeedMeters of(Meters meters, Clock clock, String feed) {
        return new FeedMeters(meters, clock, feed);
    }

    /** Some that nobody sees. */
    public static FeedMeters unseen(Clock clock) {
        return new FeedMeters(new Meters(clock), clock, "");
    }

    /** Now, to stamp batches with. */
    public long nanos() {
        return clock.monotonicNanos();
    }

    /** A run begins. */
    public void begin(boolean endless) {
        isEndless = endless;
        restedNanos = clock.monotonicNanos();
        isRunning = true;
        if (endless) {
            meters.gauge(
                    "feed.lag.seconds",
                    () -> isRested || !isRunning
                            ? 0
                            : (clock.monotonicNanos() - restedNanos) / NANOS_PER_SECOND);
        }
    }

    /** The time of one more parse worker. */
    public ParseTime newParseTime() {
        return new ParseTime(clock, busyParsing, waitsForSource, waitsForStore);
    }

    /** The time of the consumer behind one more ring. */
    StoreTime newStoreTime() {
        return new StoreTime(this, clock, busyStoring, waitsForBatches);
    }

    /** Shows one more ring, which is whole: it may be asked at once, by any thread. */
    void flowsThrough(Pipeline flow) {
        pipelines.add(flow);
    }

    void flowsNoMore(Pipeline flow) {
        pipelines.remove(flow);
    }

    private long sum(ToLongFunction<Pipeline> of) {
        long sum = 0;
        for (Pipeline pipeline : pipelines) {
            sum += of.applyAsLong(pipeline);
        }
        return sum;
    }

    /** Of the fullest. */
    private long queuePercent() {
        long most = 0;
        for (Pipeline pipeline : pipelines) {
            most = Math.max(most, pipeline.queuePercent());
        }
        return most;
    }

    /** Makes something of what one stage came to; {@code FeedStage} says what each figure is. */
    @FunctionalInterface
    public interface StageMaker<T> {
        /** The stage with its figures; what it has not is 0. */
        T make(
                String stage,
                long records,
                long rejected,
                long bytes,
                long busyNanos,
                long waitNanos,
                int workers,
                int queuePercent);
    }

    /** All four stages, in the order of the records. */
    public <T> List<T> stages(StageMaker<T> maker) {
        int workers = pipelines.size();
        long now = clock.monotonicNanos();
        return List.of(
                maker.make("source", 0, 0, 0, 0, waitsForSource.sum(), 0, 0),
                maker.make(
                        PARSE,
                        parsed.sum(),
                        rejectedParsing.sum(),
                        bytesRead.sum(),
                        busyParsing.sum(),
                        waitsForBatches.sum(),
                        workers,
                        0),
                maker.make("route", 0, 0, 0, 0, 0, workers, (int) queuePercent()),
                maker.make(
                        STORE,
                        stored.sum(),
                        rejectedStoring.sum(),
                        bytesStored.sum(),
                        // a batch that takes long is not counted before it ends
                        busyStoring.sum() + sum(pipeline -> pipeline.underWayNanos(now)),
                        waitsForStore.sum(),
                        workers,
                        0));
    }

    void spillsTo(SpilledFlow flow) {
        spill = flow;
    }

    /** A batch went to a file. */
    void spilled(Batch batch, long bytes) {
        spilled.add(batch.recordCount());
        bytesSpilled.add(bytes);
    }

    /** The run has ended. */
    public void end() {
        isRunning = false;
        spill = null;
    }

    /** Whether the run has read all there was, and waits for more; to be told again and again. */
    public void rests(boolean rests) {
        if (rests) {
            restedNanos = clock.monotonicNanos();
        }
        isRested = rests && isEndless;
    }

    /** All there was is read, if not in the store yet: it lags behind what comes later alone. */
    public void hasReadAll() {
        restedNanos = clock.monotonicNanos();
    }

    /** A batch is parsed. */
    public void parsed(Batch batch) {
        parsed.add(batch.recordCount());
        rejectedParsing.add(batch.rejectedCount());
    }

    /** A function of a transform was called. */
    public void functionCalled(long nanos) {
        functionTime.record(nanos);
    }

    /** The source has lost records before they were read. */
    public void missed(long records) {
        missed.add(records);
    }

    /** How many partitions the source knows, of one to which they come and go; by its thread. */
    public void knows(long partitions) {
        boolean isNew = knownCount < 0;
        knownCount = partitions;
        if (isNew) {
            meters.gauge("feed.producers", () -> knownCount);
            forgotten = meters.counter("feed.producers.forgotten");
        }
    }

    /** The source has forgotten partitions; by its thread. */
    public void forgot(long partitions) {
        if (forgotten != null) {
            forgotten.add(partitions);
        }
    }

    /** Bytes were read of the source. */
    public void read(long bytes) {
        bytesRead.add(Math.max(0, bytes));
    }

    /**
     * What there is yet to read.
     *
     * @param readBytes of the source so far
     */
    public void lags(long bytes, long readBytes) {
        boolean isNew = lagBytes < 0;
        bytesAll = readBytes;
        lagBytes = Math.max(0, bytes);
        if (isNew) {
            meters.gauge("feed.lag.bytes", () -> lagBytes);
            meters.gauge("feed.lag.records", this::lagRecords);
        }
    }

    /** By the records of the run so far: what is not read can't be counted. */
    private long lagRecords() {
        long bytes = bytesAll;
        return bytes == 0 ? 0 : Math.round((double) lagBytes * parsed.sum() / bytesRead.sum());
    }

    /** A batch is in the store. */
    void delivered(Batch batch, long now) {
        bytesStored.add(batch.recordBytes());
        if (batch.recordCount() + batch.rejectedCount() > 0) {
            batchTime.record(now - batch.begunNanos());
        }
    }

    /** What the store made of a batch. */
    public void stored(long accepted, long refused) {
        stored.add(accepted);
        rejectedStoring.add(Math.max(0, refused));
    }

    /** Takes all that is counted of a feed away: it is dropped. */
    public static void remove(Meters meters, String feed) {
        meters.remove(FEED_TAG, feed);
    }
}
