package io.turbidite.feeds;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.meter.StoreEvent.SourceContinued;
import io.turbidite.core.meter.StoreEvents;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.flow.Batch;
import io.turbidite.feeds.flow.Pipeline;
import io.turbidite.feeds.parse.MalformedFrameException;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordParser;
import io.turbidite.feeds.source.FileSource;
import io.turbidite.feeds.source.SourceFile;
import io.turbidite.feeds.source.SourceStream;
import io.turbidite.feeds.store.Delivery;
import io.turbidite.feeds.store.FilePosition;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * One run over a source. For each file it finds where the feed stopped; from there on it cuts,
 * parses and batches until the file ends or the run is stopped. The pipeline's consumer delivers
 * meanwhile.
 *
 * <em>Confined to the thread that runs it; used once.</em>
 */
final class FeedRun {
    private static final long PROGRESS_NANOS = 100_000_000;

    /** It would be a strange chance if so many lines of a text looked like records of the file. */
    private static final int RECORDS_IN_BROKEN_QUOTE = 2;

    /** The parts with which a run works. */
    record Parts(
            String feed,
            FileSource source,
            RecordParser parser,
            char separator,
            Delivery delivery,
            Tasks tasks,
            Clock clock,
            StoreEvents events) {}

    private final Parts parts;
    private final FeedProgress progress;
    private final BooleanSupplier stopped;
    private final Pipeline pipeline;
    private final long sourceBytesTotal;
    private long sourceBytesBefore;
    private long reportedNanos;
    private boolean resumed;
    private long waiting;
    private final List<SourceContinued> continued = new ArrayList<>();

    /** Whether nothing of the file counts yet: what was counted of another of its name does not. */
    private boolean anew;

    /** Set while the run reads the file from a record that was taken in part. */
    private @Nullable Continuation continuation;

    private final long acceptedBefore;
    private final long rejectedBefore;

    FeedRun(Parts parts, FeedProgress progress, BooleanSupplier stopped) {
        this.parts = parts;
        this.progress = progress;
        this.stopped = stopped;
        this.sourceBytesTotal =
                parts.source.files().stream().mapToLong(SourceFile::byteCount).sum();
        this.acceptedBefore = parts.delivery.accepted();
        this.rejectedBefore = parts.delivery.rejected();
        this.reportedNanos = parts.clock.monotonicNanos();
        this.pipeline = Pipeline.start(parts.tasks, "feed-" + parts.feed, parts.delivery::deliver);
    }

    /**
     * Reads to the end, or until stopped.
     *
     * @return whether it reached the end
     */
    boolean run() {
        try (pipeline) {
            boolean finished = readAll();
            report(sourceBytesBefore);
            return finished;
        } catch (StorageIoException e) {
            if (e.kind() != StorageIoException.Kind.INTERRUPTED || !stopped.getAsBoolean()) {
                throw e;
            }
            return false; // what the store has not taken is read again by the next run
        }
    }

    private boolean readAll() {
        try {
            for (SourceFile file : parts.source.files()) {
                if (!read(file)) {
                    return false;
                }
                sourceBytesBefore += file.byteCount();
            }
            return true;
        } finally {
            pipeline.drain();
        }
    }

    /** Whether something of the source was delivered before this run. */
    boolean resumed() {
        return resumed;
    }

    /** The number of unfinished records at the end of growing files; the next run looks again. */
    long waiting() {
        return waiting;
    }

    /** Records that were taken before and turned out to go on. */
    List<SourceContinued> continued() {
        return List.copyOf(continued);
    }

    /** Reads a file; false if the run was stopped in the middle. */
    private boolean read(SourceFile file) {
        continuation = null;
        FilePosition position = positionIn(file);
        anew = position == null;
        if (position != null) {
            resumed = true;
            if (position.ended() && position.fileBytes() == file.byteCount()) {
                return true;
            }
        }
        try (SourceStream stream = parts.source.read(file)) {
            stream.stopWhen(() -> {
                reportSometimes(stream);
                return stopped.getAsBoolean();
            });
            RecordFramer framer = framer(stream, 0, 1);
            if (parts.parser.wantsHeader() && !header(file, stream, framer)) {
                return !stopped.getAsBoolean();
            }
            if (position != null && position.offset() > framer.nextOffset()) {
                stream.restart();
                boolean inLine = skipTo(file, stream, position);
                framer = framer(stream, position.offset(), position.line());
                if (inLine && !framer.passLineEnd()) {
                    Place start = startOfContinued(stream, position);
                    if (start == null) {
                        return false;
                    }
                    stream.restart();
                    var _ = stream.skip(start.offset);
                    framer = framer(stream, start.offset, start.line);
                    continuation = new Continuation(
                            parts.feed,
                            file,
                            position.offset(),
                            parts.parser,
                            parts.delivery,
                            parts.clock);
                }
            }
            return read(file, stream, framer);
        }
    }

    /** Where a record begins. */
    private record Place(long offset, long line) {}

    /**
     * Looks for the start of the record at the position, from the beginning of the file: positions
     * don't tell it, and a quoted field may begin many lines before. Seldom needed.
     *
     * @return null if the run was stopped meanwhile
     */
    private @Nullable Place startOfContinued(SourceStream stream, FilePosition position) {
        stream.restart();
        RecordFramer framer = framer(stream, 0, 1);
        while (framer.next()) {
            RecordFrame frame = framer.frame();
            if (frame.endOffset() > position.offset()) {
                return new Place(frame.offset(), frame.line());
            }
            if (stopped.getAsBoolean()) {
                return null;
            }
        }
        RecordFrame rest = framer.rest();
        return rest == null
                ? new Place(position.offset(), position.line())
                : new Place(rest.offset(), rest.line());
    }

    private boolean read(SourceFile file, SourceStream stream, RecordFramer framer) {
        Batch batch = begin(file, framer);
        try {
            while (true) {
                while (framer.next()) {
                    take(framer, batch);
                    if (batch.isFull()) {
                        publish(batch, stream);
                        batch = begin(file, framer);
                        reportSometimes(stream);
                    }
                    if (stopped.getAsBoolean()) {
                        return false;
                    }
                }
                if (framer.rest() == null) {
                    batch.endFile();
                    return true;
                }
                if (!batch.isEmpty()) {
                    publish(batch, stream); // it need not wait with the rest
                    batch = begin(file, framer);
                }
                if (quoteIsBroken(stream, framer)) {
                    framer.cutOpenRest();
                } else if (restIsRecord(stream, framer)) {
                    framer.end();
                } else {
                    waiting++;
                    return !stopped.getAsBoolean();
                }
            }
        } finally {
            // What was read before a stop or before damage is good, and is not to be read again.
            if (pipeline.hasClaim() && !batch.isEmpty()) {
                publish(batch, stream);
            }
        }
    }

    private void publish(Batch batch, SourceStream stream) {
        long fileBytes = batch.fileEnded() ? batch.file().byteCount() : stream.settledBytes();
        batch.identify(stream.head(), fileBytes);
        if (anew) {
            batch.beginFile();
            anew = false;
        }
        pipeline.publish();
    }

    private Batch begin(SourceFile file, RecordFramer framer) {
        Batch batch = pipeline.claim();
        batch.begin(file, framer.nextOffset(), framer.nextLine());
        return batch;
    }

    /** Whether the last part of the file, without a line end, is a whole record. */
    private boolean restIsRecord(SourceStream stream, RecordFramer framer) {
        if (framer.restIsOpen() && !stream.saysItsEnd()) {
            return false; // not as it is: see quoteIsBroken
        }
        RecordFrame rest = framer.rest();
        boolean whole = rest != null && rest.problem() == null && parts.parser.isWhole(rest);
        return whole || stream.hasEnded(parts.clock, parts.tasks, stopped);
    }

    /**
     * Whether the open quotes at the end of a file are more likely a mistake of its writer than an
     * unfinished record. A file can rest in the middle of a quoted field for as long as it likes.
     * But if lines behind the quote are records by themselves, waiting for its end would hold back
     * all of them.
     */
    private boolean quoteIsBroken(SourceStream stream, RecordFramer framer) {
        return framer.restIsOpen()
                && !stream.saysItsEnd()
                && framer.restHoldsRecords(RECORDS_IN_BROKEN_QUOTE, parts.parser::standsAlone)
                && stream.hasEnded(parts.clock, parts.tasks, stopped);
    }

    private void take(RecordFramer framer, Batch batch) {
        RecordFrame frame = framer.frame();
        if (frame.line() == 1 && frame.problem() == null && parts.parser.leavesOut(frame)) {
            return;
        }
        Continuation before = continuation;
        if (before != null) {
            if (before.concerns(frame)) {
                SourceContinued told = before.take(frame, batch);
                if (told != null) {
                    continued.add(told);
                    parts.events.publish(told);
                }
                return;
            }
            continuation = null;
        }
        @Nullable String problem = frame.problem();
        if (problem != null) {
            batch.reject(frame, problem);
            return;
        }
        try {
            Slice record = parts.parser.parse(frame);
            batch.add(record, frame);
        } catch (MalformedFrameException e) {
            framer.cutToFirstLine();
            batch.reject(frame, String.valueOf(e.getMessage()));
        } catch (InvalidRequestException e) {
            batch.reject(frame, String.valueOf(e.getMessage()));
        }
    }

    /**
     * Returns false if there is no whole header yet; an empty file has none, and no records either.
     */
    private boolean header(SourceFile file, SourceStream stream, RecordFramer framer) {
        if (!framer.next()) {
            if (framer.rest() == null) {
                return true;
            }
            if (!restIsRecord(stream, framer)) {
                waiting++;
                return false;
            }
            framer.end();
            if (!framer.next()) {
                return true;
            }
        }
        try {
            parts.parser.header(framer.frame());
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException("%s: %s".formatted(file.name(), e.getMessage()), e);
        }
        return true;
    }

    private RecordFramer framer(SourceStream stream, long offset, long line) {
        return new RecordFramer(stream::read, parts.parser.quotes(), parts.separator, offset, line);
    }

    /**
     * Returns whether the position is within a line: its record was taken, and may have gone on
     * since.
     */
    private boolean skipTo(SourceFile file, SourceStream stream, FilePosition position) {
        byte[] last = new byte[1];
        long skipped = stream.skip(position.offset() - 1);
        if (skipped < position.offset() - 1 || stream.read(last, 0, 1) < 1) {
            String what = stream.saysItsEnd() ? "uncompressed it" : "it";
            throw changed(file, shorter(what, skipped, position.offset()), position);
        }
        return last[0] != '\n';
    }

    /**
     * Where the feed is in a file, or null at its beginning. A file may have grown since, but not
     * be another, unless nothing of the old one was taken: that may have been damaged.
     */
    private @Nullable FilePosition positionIn(SourceFile file) {
        FilePosition position = parts.delivery.position(file.name());
        String other = position == null ? null : otherThan(file, position);
        if (position == null || other == null) {
            return position;
        }
        if (position.records() == 0) {
            return null;
        }
        throw changed(file, other, position);
    }

    /** How the file differs from the one that the position is in, or null. */
    private @Nullable String otherThan(SourceFile file, FilePosition position) {
        if (file.byteCount() < position.fileBytes()) {
            return shorter("it", file.byteCount(), position.fileBytes());
        }
        return parts.source.head(file, position.head().byteCount()).equals(position.head())
                ? null
                : "it begins otherwise";
    }

    private InvalidRequestException changed(SourceFile file, String how, FilePosition position) {
        return new InvalidRequestException(
                "%s is not the file that feed %s has read up to line %d: %s; put that one back, or load this one by a feed of another name"
                        .formatted(file.name(), parts.feed, position.line(), how));
    }

    private static String shorter(String what, long byteCount, long readBytes) {
        return "%s has only %d bytes of the %d that were read"
                .formatted(what, byteCount, readBytes);
    }

    private void reportSometimes(SourceStream stream) {
        if (parts.clock.monotonicNanos() - reportedNanos >= PROGRESS_NANOS) {
            report(sourceBytesBefore + stream.fileBytesRead());
        }
    }

    private void report(long sourceBytes) {
        reportedNanos = parts.clock.monotonicNanos();
        progress.at(
                parts.delivery.accepted() - acceptedBefore,
                parts.delivery.rejected() - rejectedBefore,
                sourceBytes,
                sourceBytesTotal);
    }
}
