package io.turbidite.feeds;

import io.turbidite.core.Cleanup;
import io.turbidite.core.task.Tasks;
import io.turbidite.feeds.flow.BatchFlow;
import io.turbidite.feeds.flow.ParseTime;
import io.turbidite.feeds.flow.Pipeline;
import io.turbidite.feeds.flow.SpillPlace;
import io.turbidite.feeds.flow.SpilledFlow;
import io.turbidite.feeds.source.PartitionReader.Step;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.store.Delivery;

import org.jspecify.annotations.Nullable;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;

/**
 * Reads and parses some partitions of the source, with a parser, a ring and a lane into the store
 * of its own. Partitions of a source that has an end are read one after the other; those of an
 * endless one take turns of a batch.
 *
 * <p>It is driven by the thread of the run, where there is one worker, or by a worker of {@link
 * Tasks}. <em>Confined to one thread at a time</em>, but for what says otherwise.
 */
final class ParseWorker {
    /** How soon a worker looks again whose ring is full, or that finds the source in use. */
    private static final long AGAIN_MICROS = 250;

    /** A worker that rests is woken; this is how often it counts what it has waited. */
    private static final long REST_MICROS = 500_000;

    /** How often what was read is counted, for progress. */
    private static final long COUNT_NANOS = 100_000_000;

    /** What a pass came to. */
    enum Pass {
        /** There may be more right away. */
        READ,
        /** There is nothing to read for now. */
        RESTED,
        /** The ring is full. */
        FULL,
        /** Another thread uses the source. */
        TAKEN,
        /** There are no more partitions. */
        FINISHED
    }

    /**
     * What a worker of an endless source is to do.
     *
     * @param read partitions to be read, opened if they are not open
     * @param close partitions to be given up
     */
    record Round(List<String> read, List<String> close) {
        static final Round NONE = new Round(List.of(), List.of());
    }

    private final RunShare share;
    private final ParseTools tools;
    private final SourceHost host;
    private final int number;
    private final String name;
    private final Pipeline ring;

    /** The ring, or what spills in front of it. */
    private final BatchFlow flow;

    private final BatchMaker maker;
    private final ParseTime time;
    private final AtomicReference<@Nullable Round> given = new AtomicReference<>();
    private Tasks.@Nullable Worker thread;

    // of the run: what it has asked about so far
    private long parsedNanos;
    private long deliveredNanos;

    // of the worker
    private final Map<String, OpenPartition> open = new LinkedHashMap<>();
    private Round round = Round.NONE;

    /** The next of the round: behind a full ring the others have their turn first. */
    private int nextOfRound;

    private long bytesBefore;
    private long countedNanos;

    // also for the run
    private volatile boolean isIdle;
    private volatile boolean hasFinished;
    private volatile long bytesRead;

    /**
     * A worker that does nothing by itself.
     *
     * @param number of those of the run, from 1
     * @param report is called between batches
     */
    ParseWorker(RunShare share, SourceHost host, ParseTools tools, int number, Runnable report) {
        this.share = share;
        this.tools = tools;
        this.host = host;
        FeedRun.Parts parts = share.parts;
        Delivery.Lane lane = parts.delivery().newLane();
        this.time = share.meters.newParseTime();
        this.number = number;
        this.name = parts.feed() + (number == 1 ? "" : "-" + number);
        this.ring = Pipeline.start(
                parts.tasks(),
                "feed-" + name,
                share.meters,
                batch -> share.delivery.deliver(lane, batch));
        SpillPlace spill = parts.spill();
        this.flow = spill == null
                ? ring
                : SpilledFlow.open(
                        ring, spill, parts.source(), share.meters, parts.tasks(), share::lost);
        this.maker = new BatchMaker(share, tools, flow, report, this::holds);
    }

    /** Has a thread of {@link Tasks} drive it from now on. */
    void start() {
        thread = share.parts
                .tasks()
                .start("parse-" + name, () -> isIdle ? REST_MICROS : AGAIN_MICROS, this::step);
    }

    int number() {
        return number;
    }

    // ---- what the run does

    /** Gives the worker what it is to read now; by the run. */
    void give(Round what) {
        given.set(what);
        Tasks.Worker resting = thread;
        if (resting != null) {
            resting.wake();
        }
    }

    /** Whether it has read all that there was of what it was given; by any thread. */
    boolean isIdle() {
        return given.get() == null && isIdle;
    }

    /** Whether no step of its thread does anything, until something is given; by any thread. */
    boolean isResting() {
        return isIdle;
    }

    /** Whether there is no partition more for it; by any thread. */
    boolean hasFinished() {
        return hasFinished;
    }

    /**
     * Whether the store has that batch of it, and all before: never when its ring has failed, for
     * then another worker would go on behind what the store lacks. By any thread.
     */
    boolean hasDelivered(long batch) {
        return flow.equals(ring) ? ring.isTaken(batch) : flow.isDrained() && !ring.hasFailed();
    }

    /** Of several workers: whether all is delivered; by any thread. */
    boolean isDrained() {
        return flow.isDrained();
    }

    /** Whether the store has taken no batch any more; by any thread. */
    boolean hasFailed() {
        return ring.hasFailed();
    }

    /** Waits until all is delivered, or throws why it can't be. */
    void drain() {
        flow.drain();
    }

    /** Where its batches go; by who drives it. */
    BatchFlow flow() {
        return flow;
    }

    /** How its time goes by. */
    ParseTime time() {
        return time;
    }

    /**
     * How long it was at work since this was last asked, by the busier of its two threads: the one
     * that parses, and the one that delivers; by the run.
     */
    long takeBusyNanos(long now) {
        long parsing = time.busyNanos(now);
        long delivering = ring.busyNanos(now);
        long busy = Math.max(parsing - parsedNanos, delivering - deliveredNanos);
        parsedNanos = Math.max(parsedNanos, parsing);
        deliveredNanos = Math.max(deliveredNanos, delivering);
        return Math.max(0, busy);
    }

    /** What it had read of the source when it counted last; by any thread. */
    long bytesRead() {
        return bytesRead;
    }

    /** Counts what it has read of the source; by who drives it. */
    void count() {
        long bytes = bytesBefore;
        for (OpenPartition opened : open.values()) {
            bytes += opened.bytesRead();
        }
        bytesRead = bytes;
        countedNanos = share.meters.nanos();
    }

    /** Waits for the step that is under way; none comes behind it. */
    void stop() {
        Tasks.Worker running = thread;
        if (running != null) {
            running.close();
        }
    }

    /** Lets go of its readers; when it was stopped. */
    void closeReaders() {
        time.stops();
        count();
        Cleanup readers = new Cleanup().addAll(List.copyOf(open.values()), OpenPartition::close);
        open.clear();
        readers.run();
    }

    /** Lets go of the ring. */
    void close() {
        flow.close();
    }

    // ---- what the worker does

    /** A step of its thread. */
    private boolean step() {
        if (share.isOver() || (isIdle && given.get() == null)) {
            isIdle = true;
            time.waits();
            return false;
        }
        isIdle = false; // before it takes the round, so that it never looks idle with one in hand
        time.begins();
        try {
            Pass pass = pass();
            switch (pass) {
                case READ -> time.endsReading();
                case FULL -> time.endsFull();
                case RESTED, TAKEN, FINISHED -> time.endsResting();
            }
            if (share.meters.nanos() - countedNanos >= COUNT_NANOS) {
                count();
            }
            isIdle = pass == Pass.RESTED || pass == Pass.FINISHED;
            return pass == Pass.READ;
        } catch (RuntimeException | Error e) {
            share.fail(e);
            return false;
        } finally {
            share.parts.tasks().signal();
        }
    }

    /** Reads a batch, or one of each partition of an endless source. */
    Pass pass() {
        if (maker.hasLeft()) {
            if (!flow.hasRoom()) {
                return Pass.FULL;
            }
            maker.finish();
            return Pass.READ;
        }
        return share.parts.source().isEndless() ? readOfAll() : readOfOne();
    }

    /** Whether a partition is to be read on: it may have been taken away since it was dealt out. */
    private boolean holds(OpenPartition opened) {
        return !share.parts.source().isEndless() || share.deal.holds(opened.name, this);
    }

    private Pass readOfOne() {
        if (share.isOver()) {
            return Pass.RESTED;
        }
        if (!flow.hasRoom()) {
            return Pass.FULL;
        }
        if (open.isEmpty() && !openNext()) {
            return hasFinished ? Pass.FINISHED : Pass.TAKEN;
        }
        OpenPartition opened = open.values().iterator().next();
        Step last = opened.hasEnded ? Step.END : maker.read(opened);
        if (last == null) {
            return Pass.TAKEN;
        }
        if (last == Step.RECORD) {
            return Pass.READ;
        }
        opened.hasEnded |= last == Step.END || !share.isOver();
        if (maker.hasLeft()) {
            return Pass.READ;
        }
        if (!share.tryEnter()) {
            return Pass.TAKEN;
        }
        try {
            share.waits(opened.reader.waiting());
            if (opened.hasEnded) {
                close(opened);
            }
            return opened.hasEnded ? Pass.READ : Pass.RESTED;
        } finally {
            share.exit();
        }
    }

    /** Returns false if the source is in use, or there is no partition more. */
    private boolean openNext() {
        if (!share.tryEnter()) {
            return false;
        }
        try {
            String partition = share.deal.next(this);
            if (partition == null) {
                hasFinished = true;
                return false;
            }
            open.put(partition, open(partition));
            return true;
        } finally {
            share.exit();
        }
    }

    private Pass readOfAll() {
        Round now = given.getAndSet(null);
        if (now != null) {
            round = now;
        }
        if (!round.close.isEmpty() && !giveUp(round.close)) {
            return Pass.TAKEN;
        }
        round = round.close.isEmpty() ? round : new Round(round.read, List.of());
        boolean hasRead = false;
        boolean isTaken = false;
        int count = round.read.size();
        for (int i = 0; i < count && !share.isOver(); i++) {
            if (maker.hasLeft()) {
                return Pass.READ;
            }
            if (!flow.hasRoom()) {
                return Pass.FULL;
            }
            int index = nextOfRound % count;
            nextOfRound = index + 1;
            Step last = readOf(round.read.get(index));
            isTaken |= last == null;
            hasRead |= last == Step.RECORD || last == Step.END;
        }
        return hasRead ? Pass.READ : isTaken ? Pass.TAKEN : Pass.RESTED;
    }

    /** Returns false if the source is in use. */
    private boolean giveUp(List<String> partitions) {
        if (!share.tryEnter()) {
            return false;
        }
        try {
            for (String partition : partitions) {
                if (share.deal.isReleased(partition, this)) {
                    OpenPartition gone = open.get(partition);
                    if (gone != null) {
                        if (!mayClose(gone) && share.deal.keeps(partition, this)) {
                            continue;
                        }
                        close(gone);
                    }
                    share.deal.closed(partition, this, ring.published(), false);
                }
            }
            return true;
        } finally {
            share.exit();
        }
    }

    /** Whether all that the source has yet of it is there for another reader. */
    private boolean mayClose(OpenPartition opened) {
        return share.parts.source().canGoBack() || opened.reader.isBetween();
    }

    /** A batch of a partition of an endless source; null if the source is in use. */
    private @Nullable Step readOf(String partition) {
        OpenPartition opened = open.get(partition);
        if (opened == null) {
            if (!share.tryEnter()) {
                return null;
            }
            try {
                if (!share.deal.opens(partition, this)) {
                    return Step.NOTHING; // it has ended since the round was made
                }
                opened = open(partition);
                open.put(partition, opened);
            } finally {
                share.exit();
            }
        }
        Step last = opened.hasEnded ? Step.END : maker.read(opened);
        opened.hasEnded |= last == Step.END;
        if (!opened.hasEnded || maker.hasLeft()) {
            return last;
        }
        if (!share.tryEnter()) {
            return null;
        }
        try {
            close(opened);
            share.deal.closed(partition, this, ring.published(), true);
            return Step.END;
        } finally {
            share.exit();
        }
    }

    private OpenPartition open(String partition) {
        FeedRun.Parts parts = share.parts;
        PartitionState taken = parts.delivery().taken(partition);
        OpenPartition opened = new OpenPartition(
                partition,
                parts.source().open(partition, taken, host),
                taken,
                share.deal.wasMoved(partition));
        if (taken != null && !opened.startsAnew) {
            share.resumes();
        }
        if (opened.reader.takenTo() > 0) {
            opened.continuation = new Continuation(
                    parts.feed(),
                    partition,
                    opened.reader.takenTo(),
                    tools.parser(),
                    parts.delivery(),
                    parts.clock());
        }
        return opened;
    }

    private void close(OpenPartition opened) {
        bytesBefore += opened.bytesRead();
        open.remove(opened.name);
        opened.close();
    }
}
