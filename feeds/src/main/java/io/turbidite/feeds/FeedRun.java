package io.turbidite.feeds;

import io.turbidite.core.Cleanup;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.meter.StoreEvent.SourceContinued;
import io.turbidite.core.meter.StoreEvent.SourceGap;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.flow.BatchFlow;
import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.flow.SpillPlace;
import io.turbidite.feeds.flow.WorkerPolicy;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.store.Delivery;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/**
 * One run over a source. For each partition it finds where the feed stopped; from there on it is
 * parsed and batched until the partition ends or the run is stopped. Rings' consumers deliver
 * meanwhile.
 *
 * <p>A single {@link ParseWorker} is driven by the thread of the run. Several have a thread each,
 * and the run deals partitions out to them.
 *
 * <em>Confined to one thread at a time; used once.</em>
 */
final class FeedRun {
    private static final long PROGRESS_NANOS = 100_000_000;

    /** How often a run with several workers looks after them and the source. */
    private static final long OVERSEE_NANOS = 1_000_000;

    /**
     * The parts with which a run works.
     *
     * @param tools makes those of each worker
     * @param workers how many there are; one where there is a spill
     * @param spill where batches wait for the store; null if the source does
     */
    record Parts(
            String feed,
            FeedSource source,
            Supplier<ParseTools> tools,
            WorkerPolicy workers,
            char separator,
            Delivery delivery,
            Tasks tasks,
            Clock clock,
            StoreEvents events,
            @Nullable SpillPlace spill) {
        /** Of one worker, whose transforms ask nothing beside the record. */
        Parts(
                String feed,
                FeedSource source,
                RecordParser parser,
                char separator,
                Delivery delivery,
                Tasks tasks,
                Clock clock,
                StoreEvents events) {
            this(
                    feed,
                    source,
                    () -> ParseTools.of(parser),
                    WorkerPolicy.fixed(1),
                    separator,
                    delivery,
                    tasks,
                    clock,
                    events,
                    null);
        }
    }

    private final Parts parts;
    private final FeedProgress progress;
    private final FeedMeters meters;
    private final RunShare share;
    private final boolean hasThreads;
    private final SourceHost host;
    private final long sourceBytesTotal;
    private final long acceptedBefore;
    private final long rejectedBefore;

    private final Crew crew;

    private boolean hasBegun;

    /** Whether it waits while what the source reads is away; else it fails of that. */
    private boolean waitsForSource;

    /** Whether what the source reads was found to be away when last looked at. */
    private boolean isAway;

    private long reportedNanos;
    private long reportedBytes;

    /** Whether a turn that found the store behind waits until all is delivered. */
    private boolean needsDrained;

    /** Whether it goes on for what is new too. */
    private boolean takesNews;

    // with several workers
    private long overseenNanos;
    private long seenBatches;

    /** Whether each worker was given a round since the last rest, and what was dealt then. */
    private boolean hasAsked;

    private long askedCount;

    FeedRun(Parts parts, FeedProgress progress, BooleanSupplier stopped) {
        this(parts, progress, stopped, FeedMeters.unseen(parts.clock));
    }

    FeedRun(Parts parts, FeedProgress progress, BooleanSupplier stopped, FeedMeters meters) {
        this.parts = parts;
        this.meters = meters;
        this.progress = progress;
        this.hasThreads = parts.workers.workersMax() > 1 && parts.spill == null;
        parts.delivery.begin();
        RunDelivery delivery = new RunDelivery(parts.delivery, parts.source, meters, this::missed);
        this.share = new RunShare(parts, meters, delivery, stopped, hasThreads);
        this.sourceBytesTotal = parts.source.byteCount();
        this.acceptedBefore = parts.delivery.accepted();
        this.rejectedBefore = parts.delivery.rejected();
        this.reportedNanos = parts.clock.monotonicNanos();
        meters.begin(parts.source.isEndless());
        ParseTools first = parts.tools.get();
        this.host = host(first.parser());
        // of several workers none has the thread of the run, which reports by itself
        Runnable report = hasThreads ? () -> {} : this::reportSometimes;
        this.crew = new Crew(share, parts.workers, number -> {
            ParseTools tools = number == 1 ? first : parts.tools.get();
            return new ParseWorker(
                    share, number == 1 ? host : host(tools.parser()), tools, number, report);
        });
    }

    private SourceHost host(RecordParser parser) {
        return new SourceHost(
                parts.feed,
                parser,
                parts.separator,
                parts.tasks,
                parts.clock,
                () -> {
                    if (!hasThreads) {
                        reportSometimes();
                    }
                    return share.isOver();
                },
                this::missed,
                new RunRows(parts.delivery, meters, this::isSpillDelivered));
    }

    /** Whether nothing that its sender was told to be durable waits in a spill. */
    private boolean isSpillDelivered() {
        return parts.spill == null || (!crew.first().hasFailed() && crew.first().isDrained());
    }

    private void missed(String partition, long from, long to) {
        meters.missed(Math.max(0, to - from));
        parts.events.publish(
                new SourceGap(parts.clock.wallMicros(), parts.feed, partition, from, to));
    }

    /** What a turn came to. */
    enum Turn {
        /** There may be more right away. */
        READ,
        /** There was nothing to read, and all that was read is delivered: see {@link #hasNews}. */
        RESTED,
        /** The store is behind, or workers are at work: see {@link #hasRoom}. */
        FULL,
        FINISHED,
        STOPPED
    }

    /**
     * Reads to the end, or until stopped.
     *
     * @return whether it reached the end
     */
    boolean run() {
        waitsForSource = true;
        try {
            return readAll();
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.INTERRUPTED || !share.isStopped()) {
                throw e;
            }
            return false; // what the store has not taken is read again by the next run
        }
    }

    private boolean readAll() {
        try {
            while (true) {
                switch (turn()) {
                    case READ -> {}
                    case RESTED -> parts.tasks.await(this::hasNews);
                    case FULL -> parts.tasks.await(this::hasRoom);
                    case FINISHED -> {
                        return true;
                    }
                    case STOPPED -> {
                        return false;
                    }
                }
            }
        } finally {
            end();
        }
    }

    /**
     * Reads a batch, or one of each partition of an endless source, and waits for nothing that the
     * store does. To be called until it finished or stopped; then, or when it throws, {@link #end}
     * delivers what was read. With several workers it looks after them instead.
     */
    Turn turn() {
        if (!hasThreads && crew.first().flow().moveOn()) {
            // what an earlier run has left comes first
            return share.isStopped() ? Turn.STOPPED : full(true);
        }
        if (!hasBegun) {
            hasBegun = true;
            parts.source.begin(parts.delivery::taken, host);
            if (!parts.source.isEndless()) {
                share.deal.begin(parts.source.partitions());
            }
        }
        Turn turn = hasThreads ? oversee() : readOn();
        meters.rests(turn == Turn.RESTED);
        return turn;
    }

    /** Takes note of the partitions that there are: none while what the source reads is away. */
    private void note() {
        share.deal.note(partitions(), parts.source.gone());
    }

    private List<String> partitions() {
        try {
            List<String> partitions = parts.source.partitions();
            isAway = false;
            return partitions;
        } catch (StorageIoException e) {
            if (!parts.source.isAway()) {
                throw e;
            }
            throwFailure(); // which does not pass when the source is back
            if (!waitsForSource) {
                throw e;
            }
            if (!isAway) {
                isAway = true;
                progress.away(String.valueOf(e.getMessage()));
            }
            return List.of(); // what was read to its end may come again
        }
    }

    /** Throws why the store takes no more, or a worker can't go on, if that is so. */
    private void throwFailure() {
        for (ParseWorker worker : crew.all()) {
            if (worker.hasFailed()) {
                worker.drain(); // which says how
            }
        }
        share.rethrow();
    }

    // ---- with one worker

    private Turn readOn() {
        ParseWorker worker = crew.first();
        worker.time().begins();
        Turn turn = parts.source.isEndless() ? readOfAll(worker) : readOfOne(worker);
        switch (turn) {
            case READ, FINISHED, STOPPED -> worker.time().endsReading();
            case RESTED -> worker.time().endsResting();
            case FULL -> worker.time().endsFull();
        }
        return turn;
    }

    private Turn readOfOne(ParseWorker worker) {
        return switch (worker.pass()) {
            case READ -> Turn.READ;
            case FULL, TAKEN -> share.isStopped() ? Turn.STOPPED : full(false);
            case FINISHED -> finish(worker.flow());
            case RESTED -> Turn.STOPPED;
        };
    }

    private Turn finish(BatchFlow flow) {
        flow.rest();
        return flow.isPassedOn() ? Turn.FINISHED : share.isStopped() ? Turn.STOPPED : full(true);
    }

    private Turn readOfAll(ParseWorker worker) {
        note();
        boolean isWhole = share.deal.deal(crew.staying());
        worker.give(share.deal.round(worker));
        ParseWorker.Pass pass = worker.pass();
        if (share.isStopped()) {
            return Turn.STOPPED;
        }
        return switch (pass) {
            case READ, FINISHED -> Turn.READ;
            case FULL, TAKEN -> full(false);
            case RESTED -> {
                worker.flow().rest();
                Turn turn = rest(isWhole);
                // emptying files may take long
                takesNews = turn == Turn.FULL && isWhole && !worker.flow().isPassedOn();
                yield turn;
            }
        };
    }

    /** Rests when nothing is on its way. */
    private Turn rest(boolean isWhole) {
        meters.hasReadAll();
        for (ParseWorker worker : crew.all()) {
            if (!worker.isDrained()) {
                return full(true);
            }
            if (worker.hasFailed()) {
                worker.drain(); // which says how
            }
        }
        if (!isWhole) {
            return Turn.READ;
        }
        return parts.source.hasEnded() ? Turn.FINISHED : Turn.RESTED;
    }

    private Turn full(boolean untilDrained) {
        needsDrained = untilDrained;
        takesNews = false;
        return Turn.FULL;
    }

    // ---- with several workers

    private Turn oversee() {
        overseenNanos = parts.clock.monotonicNanos();
        throwFailure();
        if (share.isStopped()) {
            return Turn.STOPPED;
        }
        Turn turn = parts.source.isEndless() ? overseeAll() : overseeEach();
        long batches = share.batches();
        boolean hasRead = batches != seenBatches;
        seenBatches = batches;
        return turn == Turn.FULL && hasRead ? Turn.READ : turn;
    }

    private Turn overseeEach() {
        crew.oversee();
        for (ParseWorker worker : crew.all()) {
            if (!worker.hasFinished()) {
                return Turn.FULL;
            }
        }
        return Turn.FINISHED;
    }

    private Turn overseeAll() {
        boolean isNoted = noteIfFree();
        crew.oversee(); // also where the workers are always in the gate
        boolean isWhole = share.deal.deal(crew.staying());
        boolean areIdle = isNoted && areIdle();
        if (areIdle && hasAsked && isWhole && share.deal.dealtCount() == askedCount) {
            Turn turn = rest(true);
            hasAsked = turn != Turn.RESTED; // behind a rest each is asked anew
            return turn;
        }
        hasAsked = true;
        askedCount = share.deal.dealtCount();
        for (ParseWorker worker : crew.all()) {
            worker.give(share.deal.round(worker));
        }
        return Turn.FULL;
    }

    /** Takes note of the partitions that there are; returns false if the source is in use. */
    private boolean noteIfFree() {
        if (!share.tryEnter()) {
            return false;
        }
        try {
            note();
            return true;
        } finally {
            share.exit();
        }
    }

    private boolean areIdle() {
        for (ParseWorker worker : crew.all()) {
            if (!worker.isIdle()) {
                return false;
            }
        }
        return true;
    }

    /** Whether {@link #end} waits for nothing that the store does. */
    boolean isDelivered() {
        if (!hasThreads) {
            return crew.first().flow().isSettled();
        }
        for (ParseWorker worker : crew.all()) {
            if (!worker.isDrained() || (crew.hasStarted() && !worker.isResting())) {
                return false;
            }
        }
        return true;
    }

    /** Behind a turn that found the store behind: whether the next one does not. */
    boolean hasRoom() {
        ParseWorker first = crew.first();
        if (hasThreads) {
            reportSometimes();
            return isToEnd() || parts.clock.monotonicNanos() - overseenNanos >= OVERSEE_NANOS;
        }
        first.time().waits();
        reportSometimes();
        BatchFlow flow = first.flow();
        return share.isStopped()
                || flow.canMoveOn()
                || (needsDrained ? flow.isDrained() : flow.hasRoom())
                || (takesNews && flow.hasRoom() && parts.source.hasNews());
    }

    /** Behind a turn that rested: whether the next one may find something, or is to fail. */
    boolean hasNews() {
        if (!hasThreads) {
            crew.first().time().waits();
        }
        meters.rests(true);
        reportSometimes();
        if (isToEnd() || (hasThreads && crew.isDue())) {
            return true;
        }
        if (!share.tryEnter()) {
            return false;
        }
        try {
            return parts.source.hasNews();
        } finally {
            share.exit();
        }
    }

    /** How late it is to be asked for news at most. */
    long askMicrosMax() {
        return parts.source.askMicrosMax();
    }

    private boolean isToEnd() {
        boolean hasFailed = share.hasFailed();
        for (ParseWorker worker : crew.all()) {
            hasFailed |= worker.hasFailed();
        }
        return hasFailed || share.isStopped();
    }

    /** Whether something of the source was delivered before this run. */
    boolean resumed() {
        return share.resumed();
    }

    /** The number of unfinished records at the end of growing files; the next run looks again. */
    long waiting() {
        return share.waiting();
    }

    /** The number of records that were left out, because the definition says so. */
    long dropped() {
        return share.delivery.dropped();
    }

    /** The number of parse workers. */
    int workers() {
        return crew.all().size();
    }

    /** The number of records that waited in files. */
    long spilled() {
        return crew.first().flow().spilledCount();
    }

    /** The bytes of batches that wait in files. */
    long spillBytes() {
        return crew.first().flow().spillBytes();
    }

    /** Records that were taken before and turned out to go on. */
    List<SourceContinued> continued() {
        return share.continued();
    }

    /** Delivers what was read, and lets go of the source. */
    void end() {
        share.end();
        try (Cleanup _ = Cleanup.ofAll(crew.all(), ParseWorker::close)) {
            new Cleanup()
                    .addAll(crew.all(), ParseWorker::stop)
                    .addAll(crew.all(), ParseWorker::closeReaders)
                    .addAll(
                            crew.all(),
                            ParseWorker::drain) // what was read is delivered all the same
                    .add(share::rethrow)
                    .add(this::report)
                    .run();
        } finally {
            meters.end();
        }
    }

    private void reportSometimes() {
        if (parts.clock.monotonicNanos() - reportedNanos >= PROGRESS_NANOS) {
            if (!hasThreads) {
                crew.first().count();
            }
            report();
        }
    }

    private void report() {
        reportedNanos = parts.clock.monotonicNanos();
        long sourceBytes = crew.bytesRead();
        meters.read(sourceBytes - reportedBytes);
        reportedBytes = Math.max(reportedBytes, sourceBytes);
        if (sourceBytesTotal > 0) {
            meters.lags(sourceBytesTotal - sourceBytes, sourceBytes);
        }
        progress.at(
                parts.delivery.accepted() - acceptedBefore,
                parts.delivery.rejected() - rejectedBefore,
                sourceBytes,
                sourceBytesTotal);
    }
}
