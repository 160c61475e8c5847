package io.turbidite.feeds;

import io.turbidite.core.Cleanup;
import io.turbidite.core.meter.StoreEvent.SourceContinued;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.flow.BatchFlow;
import io.turbidite.feeds.parse.FrameBlock;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.source.PartitionReader.Step;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.function.Predicate;

/**
 * Reads and parses the batches of one worker's partitions, and publishes them.
 *
 * <p>Two ways lead from a reader to a batch. Where readers may be used by several threads, and
 * where there is one thread, each frame is parsed where it lies. Else frames are copied within the
 * gate of {@link RunShare}, and parsed outside. That needs a format in which the parser tells the
 * reader nothing: no quotes, no header; others are parsed within the gate.
 *
 * <p><em>Confined to the thread of its worker.</em>
 */
final class BatchMaker {
    private final RunShare share;
    private final ParseTools tools;
    private final BatchFlow flow;
    private final Intake intake;
    private final Runnable report;

    /** Whether the worker still has a partition, asked within the gate. */
    private final Predicate<OpenPartition> holds;

    /** Null if frames are parsed where they lie. */
    private final @Nullable FrameBlock block;

    /** Whose frames the block has, as long as some are not parsed. */
    private @Nullable OpenPartition blockOf;

    /** Behind each of them, where a batch may have to end there. */
    private final @Nullable SourcePosition[] positions = new SourcePosition[FrameBlock.FRAMES_MAX];

    /** Whether a frame is being made into records: it is in no batch until that is done. */
    private boolean isTaking;

    private int nextOfBlock;
    private SourcePosition behindBlock = SourcePosition.of(0);
    private @Nullable SourcePosition beforeNext;

    BatchMaker(
            RunShare share,
            ParseTools tools,
            BatchFlow flow,
            Runnable report,
            Predicate<OpenPartition> holds) {
        this.share = share;
        this.tools = tools;
        this.flow = flow;
        this.report = report;
        this.holds = holds;
        this.intake = new Intake(tools.parser(), tools.deletes(), tools.policy(), flow);
        boolean copies = share.isGated()
                && tools.parser().quotes() == RecordFramer.Quotes.NONE
                && !tools.parser().wantsHeader();
        this.block = copies ? new FrameBlock() : null;
    }

    /** Whether frames were read that {@link #finish} is to parse before anything else is read. */
    boolean hasLeft() {
        return blockOf != null;
    }

    /** Parses frames that were read, as long as there is room for what they become. */
    void finish() {
        try {
            parseBlock();
        } finally {
            endLookUps();
        }
    }

    /**
     * Reads until there is nothing, the run is stopped, or a full batch is published. There must be
     * room, and nothing left.
     *
     * @return what came last: NOTHING also if the run was stopped, RECORD if there may be more;
     *     null if the source is in use
     */
    @Nullable
    Step read(OpenPartition opened) {
        if (!share.tryEnter()) {
            return null;
        }
        Step last;
        FrameBlock copies = opened.continuation == null ? block : null;
        try (Cleanup behind = new Cleanup()) {
            behind.add(share::exit).add(this::endLookUps);
            if (!holds.test(opened)) {
                return Step.NOTHING;
            }
            last = copies == null ? readBatch(opened) : fill(opened, copies);
        } catch (RuntimeException | Error damage) {
            if (hasLeft()) {
                finishBefore(damage);
            }
            throw damage;
        }
        if (hasLeft()) {
            finish();
        }
        return last;
    }

    /** What was read before is good, and is not to be read again. */
    private void finishBefore(Throwable damage) {
        try {
            finish();
        } catch (RuntimeException | Error more) {
            damage.addSuppressed(more);
        }
    }

    private void endLookUps() {
        FeedAids aids = tools.aids();
        if (aids != null) {
            aids.endBatch();
        }
    }

    private Step readBatch(OpenPartition opened) {
        Batch batch = begin(opened);
        try {
            while (true) {
                Step step = opened.reader.next();
                switch (step) {
                    case RECORD -> {
                        take(opened, opened.reader.frame(), batch);
                        if (batch.isFull()) {
                            publish(opened, batch, opened.reader.position());
                            report.run();
                            return step;
                        }
                        if (share.isOver()) {
                            return Step.NOTHING;
                        }
                    }
                    case BREAK -> {
                        if (!batch.isEmpty()) {
                            publish(opened, batch, opened.reader.position());
                            return Step.RECORD;
                        }
                        endLookUps();
                        batch = begin(opened);
                    }
                    case NOTHING, END -> {
                        moveIfDue(opened, batch, step);
                        return step;
                    }
                }
            }
        } finally {
            // What was read before a stop or before damage is good, and is not to be read again;
            // unless a record failed itself: the position is behind that already.
            if (flow.hasClaim() && !batch.isEmpty() && !isTaking) {
                publish(opened, batch, opened.reader.position());
            }
        }
    }

    private Batch begin(OpenPartition opened) {
        Batch batch = flow.claim();
        batch.begin(opened.name, opened.reader.follows(opened.published));
        return batch;
    }

    private static void moveIfDue(OpenPartition opened, Batch batch, Step last) {
        if ((last == Step.END || opened.reader.keepsPosition())
                && !Objects.equals(opened.reader.position(), opened.published)) {
            batch.move();
        }
    }

    /** Copies frames until there are enough; the batch that they go into is claimed. */
    private Step fill(OpenPartition opened, FrameBlock copies) {
        copies.clear();
        Batch batch = begin(opened);
        try {
            return copy(opened, copies, batch);
        } finally {
            copies.seal();
            blockOf = opened;
            nextOfBlock = 0;
            behindBlock = opened.reader.position();
            beforeNext = batch.follows();
        }
    }

    private Step copy(OpenPartition opened, FrameBlock copies, Batch first) {
        Batch batch = first;
        Step last = Step.NOTHING;
        while (!share.isOver()) {
            last = opened.reader.next();
            if (last == Step.RECORD) {
                positions[copies.count()] =
                        tools.parser().makesMore() ? opened.reader.position() : null;
                copies.add(opened.reader.frame());
                if (!copies.isFull()) {
                    continue;
                }
            } else if (last == Step.BREAK) {
                if (copies.count() == 0) {
                    batch = begin(opened);
                    continue;
                }
                last = Step.RECORD;
            } else {
                moveIfDue(opened, batch, last);
            }
            break;
        }
        return last;
    }

    private void parseBlock() {
        OpenPartition opened = Objects.requireNonNull(blockOf);
        FrameBlock copies = Objects.requireNonNull(block);
        boolean isClaimed = flow.hasClaim();
        Batch batch = flow.claim();
        if (!isClaimed) {
            batch.begin(opened.name, beforeNext);
        }
        SourcePosition behind = null;
        boolean isParsed = false;
        try {
            while (nextOfBlock < copies.count()) {
                RecordFrame frame = copies.frame(nextOfBlock);
                behind = positions[nextOfBlock++];
                take(opened, frame, batch);
                if (batch.isFull() && behind != null) {
                    return; // the rest is parsed when there is room
                }
            }
            isParsed = true;
        } finally {
            // what failed leaves the rest of the block to another run, or all of it: see readBatch
            SourcePosition end = nextOfBlock == copies.count() ? behindBlock : behind;
            if (!batch.isEmpty() && end != null && !isTaking) {
                publish(opened, batch, end);
            }
            beforeNext = end;
            if (isParsed || nextOfBlock == copies.count()) {
                blockOf = null;
            }
        }
    }

    private void take(OpenPartition opened, RecordFrame frame, Batch batch) {
        if (batch.isEmpty()) {
            batch.begunAt(share.meters.nanos());
        }
        isTaking = true;
        makeRecords(opened, frame, batch);
        isTaking = false;
        FeedAids aids = tools.aids();
        if (aids != null) {
            aids.checkFunctions();
        }
    }

    private void makeRecords(OpenPartition opened, RecordFrame frame, Batch batch) {
        if (frame.line() == 1 && frame.problem() == null && tools.parser().leavesOut(frame)) {
            return;
        }
        Continuation before = opened.continuation;
        if (before != null) {
            if (before.concerns(frame)) {
                SourceContinued told = before.take(frame, batch);
                if (told != null) {
                    share.continues(told);
                }
                return;
            }
            opened.continuation = null;
        }
        intake.take(frame, opened.reader, batch);
    }

    private void publish(OpenPartition opened, Batch batch, SourcePosition position) {
        batch.end(position);
        if (opened.startsAnew) {
            batch.startAnew();
            opened.startsAnew = false;
        }
        opened.published = position;
        share.meters.parsed(batch);
        flow.publish();
        share.published();
    }
}
