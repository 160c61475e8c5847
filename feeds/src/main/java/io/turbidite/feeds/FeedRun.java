package io.turbidite.feeds;

import io.turbidite.core.Cleanup;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.meter.StoreEvent.SourceContinued;
import io.turbidite.core.meter.StoreEvent.SourceGap;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.flow.BatchFlow;
import io.turbidite.feeds.flow.FeedMeters;
import io.turbidite.feeds.flow.Pipeline;
import io.turbidite.feeds.flow.RecordPolicy;
import io.turbidite.feeds.flow.SpillPlace;
import io.turbidite.feeds.flow.SpilledFlow;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.source.FeedSource;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionReader.Step;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.store.Delivery;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.BooleanSupplier;

/**
 * One run over a source. For each partition it finds where the feed stopped; from there on it
 * parses and batches until the partition ends or the run is stopped. The pipeline's consumer
 * delivers meanwhile.
 *
 * <p>Partitions of a source that has an end are read one after the other; those of an endless one
 * take turns of a batch.
 *
 * <em>Confined to one thread at a time; used once.</em>
 */
final class FeedRun {
    private static final long PROGRESS_NANOS = 100_000_000;

    /** The parts with which a run works. */
    record Parts(
            String feed,
            FeedSource source,
            RecordParser parser,
            char separator,
            Delivery delivery,
            Tasks tasks,
            Clock clock,
            StoreEvents events,
            @Nullable FeedAids aids,
            RecordPolicy policy,
            @Nullable RecordParser deletes,
            @Nullable SpillPlace spill) {
        /** Of transforms that ask nothing beside the record. */
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
                    parser,
                    separator,
                    delivery,
                    tasks,
                    clock,
                    events,
                    null,
                    RecordPolicy.TAKES_ALL,
                    null,
                    null);
        }
    }

    private final Parts parts;
    private final FeedProgress progress;
    private final FeedMeters meters;
    private final BooleanSupplier stopped;
    private final SourceHost host;
    private final RunDelivery end;
    private final BatchFlow pipeline;
    private final Intake intake;
    private final long sourceBytesTotal;
    private long sourceBytesBefore;
    private long reportedNanos;
    private long reportedBytes;
    private boolean hasStopped;
    private boolean resumed;
    private long waiting;

    private final List<SourceContinued> continued = new ArrayList<>();
    private final long acceptedBefore;
    private final long rejectedBefore;

    /** Partitions of a source that has an end, from the next on; null before the first turn. */
    private @Nullable Iterator<String> left;

    /** Partitions that are being read. */
    private final LinkedHashMap<String, Opened> open = new LinkedHashMap<>();

    /** Partitions of an endless source that have ended. */
    private final Set<String> ended = new HashSet<>();

    /** Whether a turn that found the store behind waits until all is delivered. */
    private boolean needsDrained;

    /** Whether it goes on for what is new too. */
    private boolean takesNews;

    /** Partitions that were closed in this run, and of which something may not be delivered. */
    private final Set<String> letGo = new HashSet<>();

    FeedRun(Parts parts, FeedProgress progress, BooleanSupplier stopped) {
        this(parts, progress, stopped, FeedMeters.unseen(parts.clock));
    }

    FeedRun(Parts parts, FeedProgress progress, BooleanSupplier stopped, FeedMeters meters) {
        this.parts = parts;
        this.meters = meters;
        this.progress = progress;
        this.stopped = stopped;
        this.host = new SourceHost(
                parts.feed,
                parts.parser,
                parts.separator,
                parts.tasks,
                parts.clock,
                () -> {
                    reportSometimes();
                    return isStopped();
                },
                this::missed);
        this.sourceBytesTotal = parts.source.byteCount();
        this.acceptedBefore = parts.delivery.accepted();
        this.rejectedBefore = parts.delivery.rejected();
        this.reportedNanos = parts.clock.monotonicNanos();
        meters.begin(parts.source.isEndless());
        this.end = new RunDelivery(parts.delivery, parts.source, meters, this::missed);
        Pipeline ring = Pipeline.start(parts.tasks, "feed-" + parts.feed, meters, end::deliver);
        this.pipeline = parts.spill == null
                ? ring
                : SpilledFlow.open(ring, parts.spill, parts.source, meters, parts.tasks);
        this.intake = new Intake(parts.parser, parts.deletes, parts.policy, pipeline);
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
        /** The store is behind: see {@link #hasRoom}. */
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
        try {
            return readAll();
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.INTERRUPTED || !isStopped()) {
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
     * delivers what was read.
     */
    Turn turn() {
        meters.turnBegins();
        Turn turn = readOn();
        switch (turn) {
            case READ, FINISHED, STOPPED -> meters.turnRead();
            case RESTED -> meters.turnRested();
            case FULL -> meters.turnFull();
        }
        return turn;
    }

    private Turn readOn() {
        if (pipeline.moveOn()) {
            return isStopped()
                    ? Turn.STOPPED
                    : full(true); // what an earlier run has left comes first
        }
        if (left == null) {
            parts.source.begin(parts.delivery::taken, host);
            left = parts.source.isEndless()
                    ? Collections.emptyIterator()
                    : parts.source.partitions().iterator();
        }
        return parts.source.isEndless() ? readOfAll() : readOfOne(left);
    }

    /** Whether {@link #end} waits for nothing that the store does. */
    boolean isDelivered() {
        return pipeline.isSettled();
    }

    /** Delivers what was read, and lets go of the source. */
    void end() {
        try (pipeline) {
            long sourceBytes = sourceBytes();
            Cleanup read = new Cleanup().addAll(open.values(), Opened::close);
            open.clear();
            read.add(pipeline::drain).run(); // what was read is delivered all the same
            report(sourceBytes);
        } finally {
            meters.end();
        }
    }

    private Turn readOfOne(Iterator<String> partitions) {
        if (open.isEmpty()) {
            if (!partitions.hasNext()) {
                pipeline.rest();
                return pipeline.isPassedOn()
                        ? Turn.FINISHED
                        : isStopped() ? Turn.STOPPED : full(true);
            }
            String partition = partitions.next();
            open.put(partition, open(partition));
        }
        if (!pipeline.hasRoom()) {
            return isStopped() ? Turn.STOPPED : full(false);
        }
        Opened opened = open.firstEntry().getValue();
        Step last = read(opened);
        if (last == Step.RECORD) {
            return Turn.READ;
        }
        waiting += opened.reader.waiting();
        if (last != Step.END && isStopped()) {
            return Turn.STOPPED;
        }
        sourceBytesBefore += opened.reader.bytesRead();
        open.clear();
        opened.close();
        return Turn.READ;
    }

    private Turn readOfAll() {
        boolean hasRead = false;
        boolean isBehind = false;
        List<String> there = parts.source.partitions();
        parts.source.gone().forEach(this::letGo);
        if (pipeline.isDrained()) {
            letGo.clear();
        }
        ended.retainAll(there);
        for (String partition : there) {
            if (isStopped()) {
                break;
            }
            if (ended.contains(partition)) {
                continue;
            }
            if (!pipeline.hasRoom()) {
                return full(false);
            }
            Opened opened = open.get(partition);
            if (opened == null) {
                if (!pipeline.isDrained() && letGo.contains(partition)) {
                    isBehind = true; // what was published of it before is its position
                    continue;
                }
                opened = open(partition);
                open.put(partition, opened);
            }
            Step last = read(opened);
            hasRead |= last != Step.NOTHING;
            if (last == Step.END) {
                ended.add(partition);
                letGo(partition);
            }
        }
        if (isStopped()) {
            return Turn.STOPPED;
        }
        if (hasRead) {
            return Turn.READ;
        }
        pipeline.rest();
        if (isBehind || !pipeline.isDrained()) {
            Turn full = full(true);
            takesNews = !isBehind && !pipeline.isPassedOn(); // emptying files may take long
            return full;
        }
        if (pipeline.hasFailed()) {
            pipeline.drain(); // which says how
        }
        return Turn.RESTED;
    }

    private void letGo(String partition) {
        Opened gone = open.remove(partition);
        if (gone != null) {
            letGo.add(partition);
            sourceBytesBefore += gone.reader.bytesRead();
            gone.close();
        }
    }

    private Turn full(boolean untilDrained) {
        needsDrained = untilDrained;
        takesNews = false;
        return Turn.FULL;
    }

    /** Behind a turn that found the store behind: whether the next one does not. */
    boolean hasRoom() {
        meters.waits();
        reportSometimes();
        return isStopped()
                || pipeline.canMoveOn()
                || (needsDrained ? pipeline.isDrained() : pipeline.hasRoom())
                || (takesNews && pipeline.hasRoom() && parts.source.hasNews());
    }

    /** Behind a turn that rested: whether the next one may find something, or is to fail. */
    boolean hasNews() {
        meters.waits();
        reportSometimes();
        return isStopped() || pipeline.hasFailed() || parts.source.hasNews();
    }

    /** Once it was asked to stop a run stays stopped. */
    private boolean isStopped() {
        hasStopped |= stopped.getAsBoolean();
        return hasStopped;
    }

    /** Whether something of the source was delivered before this run. */
    boolean resumed() {
        return resumed;
    }

    /** The number of unfinished records at the end of growing files; the next run looks again. */
    long waiting() {
        return waiting;
    }

    /** The number of records that were left out, because the definition says so. */
    long dropped() {
        return end.dropped();
    }

    /** The number of records that waited in files. */
    long spilled() {
        return pipeline.spilledCount();
    }

    /** The bytes of batches that wait in files. */
    long spillBytes() {
        return pipeline.spillBytes();
    }

    /** Records that were taken before and turned out to go on. */
    List<SourceContinued> continued() {
        return List.copyOf(continued);
    }

    /** A partition that is being read. */
    private static final class Opened implements AutoCloseable {
        private final String partition;
        private final PartitionReader reader;

        /** Behind what is published, or taken by earlier runs. */
        private @Nullable SourcePosition published;

        /** Whether nothing of the partition counts yet. */
        private boolean startsAnew;

        /** Set while the run reads from a record that was taken in part. */
        private @Nullable Continuation continuation;

        Opened(String partition, PartitionReader reader, @Nullable PartitionState taken) {
            this.partition = partition;
            this.reader = reader;
            this.published = taken == null ? null : taken.position();
            this.startsAnew = reader.startsAnew();
        }

        @Override
        public void close() {
            reader.close();
        }
    }

    private Opened open(String partition) {
        PartitionState taken = parts.delivery.taken(partition);
        Opened opened = new Opened(partition, parts.source.open(partition, taken, host), taken);
        resumed |= taken != null && !opened.startsAnew;
        if (opened.reader.takenTo() > 0) {
            opened.continuation = new Continuation(
                    parts.feed,
                    partition,
                    opened.reader.takenTo(),
                    parts.parser,
                    parts.delivery,
                    parts.clock);
        }
        return opened;
    }

    /**
     * Reads until there is nothing, the run is stopped, or a full batch is published.
     *
     * @return what came last: NOTHING also if the run was stopped, RECORD if there may be more
     */
    private Step read(Opened opened) {
        try {
            return readBatch(opened);
        } finally {
            endLookUps();
        }
    }

    private void endLookUps() {
        if (parts.aids != null) {
            parts.aids.endBatch();
        }
    }

    private Step readBatch(Opened opened) {
        Batch batch = begin(opened);
        try {
            while (true) {
                Step step = opened.reader.next();
                switch (step) {
                    case RECORD -> {
                        take(opened, batch);
                        if (parts.aids != null) {
                            parts.aids.checkFunctions();
                        }
                        if (batch.isFull()) {
                            publish(opened, batch);
                            reportSometimes();
                            return step;
                        }
                        if (isStopped()) {
                            return Step.NOTHING;
                        }
                    }
                    case BREAK -> {
                        if (!batch.isEmpty()) {
                            publish(opened, batch);
                            return Step.RECORD;
                        }
                        endLookUps();
                        batch = begin(opened);
                    }
                    case NOTHING, END -> {
                        if ((step == Step.END || opened.reader.keepsPosition())
                                && !Objects.equals(opened.reader.position(), opened.published)) {
                            batch.move();
                        }
                        return step;
                    }
                }
            }
        } finally {
            // What was read before a stop or before damage is good, and is not to be read again.
            if (pipeline.hasClaim() && !batch.isEmpty()) {
                publish(opened, batch);
            }
        }
    }

    private void publish(Opened opened, Batch batch) {
        SourcePosition position = opened.reader.position();
        batch.end(position);
        if (opened.startsAnew) {
            batch.startAnew();
            opened.startsAnew = false;
        }
        opened.published = position;
        meters.parsed(batch);
        pipeline.publish();
    }

    private Batch begin(Opened opened) {
        Batch batch = pipeline.claim();
        batch.begin(opened.partition, opened.reader.follows(opened.published));
        return batch;
    }

    private void take(Opened opened, Batch batch) {
        if (batch.isEmpty()) {
            batch.begunAt(meters.nanos());
        }
        RecordFrame frame = opened.reader.frame();
        if (frame.line() == 1 && frame.problem() == null && parts.parser.leavesOut(frame)) {
            return;
        }
        Continuation before = opened.continuation;
        if (before != null) {
            if (before.concerns(frame)) {
                SourceContinued told = before.take(frame, batch);
                if (told != null) {
                    continued.add(told);
                    parts.events.publish(told);
                }
                return;
            }
            opened.continuation = null;
        }
        intake.take(opened.reader, batch);
    }

    private void reportSometimes() {
        if (parts.clock.monotonicNanos() - reportedNanos >= PROGRESS_NANOS) {
            report(sourceBytes());
        }
    }

    private long sourceBytes() {
        long bytes = sourceBytesBefore;
        for (Opened opened : open.values()) {
            bytes += opened.reader.bytesRead();
        }
        return bytes;
    }

    private void report(long sourceBytes) {
        reportedNanos = parts.clock.monotonicNanos();
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
