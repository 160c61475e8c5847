package io.turbidite.feeds.source.file;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.feeds.parse.ElementFramer;
import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.PeekedInput;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.source.SteadyTime;

import org.jspecify.annotations.Nullable;

/**
 * Reads the records of one file, from where the feed stopped to the end that the file has when it
 * comes there. <em>Confined to one thread.</em>
 */
final class FileReader implements PartitionReader {
    /** It would be a strange chance if so many lines of a text looked like records of the file. */
    private static final int RECORDS_IN_BROKEN_QUOTE = 2;

    private final SourceFile file;
    private final SourceHost host;
    private final SteadyTime time;
    private final SourceStream stream;
    private final boolean startsAnew;

    /** Whether the file is one JSON array, and each of its elements a record. */
    private final boolean isArray;

    private RecordFramer framer;
    private long offset;
    private long line;
    private long takenTo;

    /** Whether there is nothing to give out in this run: all was read, or there is no header. */
    private @Nullable Step done;

    private boolean ended;
    private boolean hasBroken;
    private long waiting;

    private FileReader(SourceFile file, SourceHost host, SourceStream stream, boolean startsAnew) {
        this.file = file;
        this.host = host;
        this.time = SteadyTime.of(host.clock());
        this.stream = stream;
        this.startsAnew = startsAnew;
        PeekedInput content = new PeekedInput(stream::read);
        this.isArray = host.parser().takesElements() && content.beginsArray();
        this.framer = framer(content, 0, 1);
    }

    /**
     * Opens a file where the feed stopped.
     *
     * @throws InvalidRequestException if it is not the file of which the feed has taken records
     */
    static PartitionReader open(
            FileSource source, SourceFile file, @Nullable PartitionState taken, SourceHost host) {
        FilePosition before = taken == null ? null : FilePosition.of(taken.position());
        if (taken != null && before == null) {
            throw otherKind(host, file.name());
        }
        String other = before == null ? null : otherThan(source, file, before);
        if (taken != null && before != null && other != null && taken.records() > 0) {
            throw changed(file, other, before, host);
        }
        FilePosition position = other == null ? before : null;
        if (taken != null
                && position != null
                && position.ended()
                && position.fileBytes() == file.byteCount()) {
            return new AllRead(taken.position(), file.byteCount());
        }
        SourceStream stream = source.read(file);
        try (Undo undo = Undo.of(stream::close)) {
            stream.stopWhen(host.stopped());
            if (host.parser().takesObjectFiles()) {
                return undo.keep(ObjectFileReader.begin(file, host, stream, position));
            }
            FileReader reader = new FileReader(file, host, stream, position == null);
            reader.begin(position);
            return undo.keep(reader);
        }
    }

    static InvalidRequestException otherKind(SourceHost host, String partition) {
        return new InvalidRequestException(
                "feed %s has read %s from another kind of source; give it another name"
                        .formatted(host.feed(), partition));
    }

    /** A file that was read to its end before. */
    private record AllRead(SourcePosition position, long bytesRead) implements PartitionReader {
        @Override
        public Step next() {
            return Step.END;
        }

        @Override
        public RecordFrame frame() {
            throw new IllegalStateException("there is no record");
        }
    }

    private void begin(@Nullable FilePosition position) {
        if (host.parser().wantsHeader() && !header()) {
            done = Step.NOTHING;
            return;
        }
        if (position != null && position.offset() > framer.nextOffset()) {
            stream.restart();
            boolean inLine = skipTo(position);
            framer = framer(stream::read, position.offset(), position.line());
            if (inLine && !framer.passLineEnd()) {
                beginInRecord(position);
            }
        }
        offset = framer.nextOffset();
        line = framer.nextLine();
    }

    /** The position is within a record that was taken, and that has gone on since. */
    private void beginInRecord(FilePosition position) {
        Place start = startOfContinued(position);
        if (start == null) {
            done = Step.NOTHING;
            return;
        }
        stream.restart();
        var _ = stream.skip(start.offset);
        framer = framer(stream::read, start.offset, start.line);
        takenTo = position.offset();
    }

    /** Where a record begins. */
    private record Place(long offset, long line) {}

    /**
     * Looks for the start of the record at the position, from the beginning of the file: positions
     * don't tell it, and a quoted field may begin many lines before. Seldom needed.
     *
     * @return null if the run was stopped meanwhile
     */
    private @Nullable Place startOfContinued(FilePosition position) {
        stream.restart();
        RecordFramer all = framer(stream::read, 0, 1);
        while (all.next()) {
            RecordFrame frame = all.frame();
            if (frame.endOffset() > position.offset()) {
                return new Place(frame.offset(), frame.line());
            }
            if (host.stopped().getAsBoolean()) {
                return null;
            }
        }
        RecordFrame rest = all.rest();
        return rest == null
                ? new Place(position.offset(), position.line())
                : new Place(rest.offset(), rest.line());
    }

    @Override
    public Step next() {
        if (done != null) {
            return done;
        }
        while (true) {
            if (framer.next()) {
                offset = framer.frame().endOffset();
                line = framer.frame().endLine();
                hasBroken = false;
                return Step.RECORD;
            }
            if (framer.rest() == null) {
                ended = true;
                done = Step.END;
                return Step.END;
            }
            if (!hasBroken) {
                hasBroken = true; // what is before the rest need not wait with it
                return Step.BREAK;
            }
            if (quoteIsBroken()) {
                framer.cutOpenRest();
            } else if (restIsRecord()) {
                framer.end();
            } else {
                waiting++;
                done = Step.NOTHING;
                return Step.NOTHING;
            }
        }
    }

    @Override
    public RecordFrame frame() {
        return framer.frame();
    }

    @Override
    public SourcePosition position() {
        return new FilePosition(
                        offset,
                        line,
                        ended,
                        ended ? file.byteCount() : stream.settledBytes(),
                        stream.head())
                .encode();
    }

    @Override
    public boolean startsAnew() {
        return startsAnew;
    }

    @Override
    public void cutToFirstLine() {
        framer.cutToFirstLine();
        offset = framer.frame().endOffset();
        line = framer.frame().endLine();
    }

    @Override
    public long takenTo() {
        return takenTo;
    }

    @Override
    public long waiting() {
        return waiting;
    }

    @Override
    public long bytesRead() {
        return done == null ? stream.fileBytesRead() : file.byteCount();
    }

    @Override
    public void close() {
        stream.close();
    }

    /** Whether the last part of the file, without a line end, is a whole record. */
    private boolean restIsRecord() {
        if (framer.restIsOpen() && (isArray || !stream.saysItsEnd())) {
            return false; // not as it is: see quoteIsBroken; half an element is never one
        }
        RecordFrame rest = framer.rest();
        boolean whole = rest != null && rest.problem() == null && host.parser().isWhole(rest);
        return whole || stream.hasEnded(time, host.tasks(), host.stopped());
    }

    /**
     * Whether the open quotes at the end of a file are more likely a mistake of its writer than an
     * unfinished record. A file can rest in the middle of a quoted field for as long as it likes.
     * But if lines behind the quote are records by themselves, waiting for its end would hold back
     * all of them.
     */
    private boolean quoteIsBroken() {
        return framer.restIsOpen()
                && !stream.saysItsEnd()
                && framer.restHoldsRecords(RECORDS_IN_BROKEN_QUOTE, host.parser()::standsAlone)
                && stream.hasEnded(time, host.tasks(), host.stopped());
    }

    /**
     * Returns false if there is no whole header yet; an empty file has none, and no records either.
     */
    private boolean header() {
        if (!framer.next()) {
            if (framer.rest() == null) {
                return true;
            }
            if (!restIsRecord()) {
                waiting++;
                return false;
            }
            framer.end();
            if (!framer.next()) {
                return true;
            }
        }
        try {
            host.parser().header(framer.frame());
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException("%s: %s".formatted(file.name(), e.getMessage()), e);
        }
        return true;
    }

    private RecordFramer framer(RecordFramer.Input input, long atOffset, long atLine) {
        return isArray
                ? new ElementFramer(input, atOffset, atLine)
                : new LineFramer(input, host.parser().quotes(), host.separator(), atOffset, atLine);
    }

    /**
     * Returns whether the position is within a line: its record was taken, and may have gone on
     * since.
     */
    private boolean skipTo(FilePosition position) {
        byte[] last = new byte[1];
        long skipped = stream.skip(position.offset() - 1);
        if (skipped < position.offset() - 1 || stream.read(last, 0, 1) < 1) {
            String what = stream.saysItsEnd() ? "uncompressed it" : "it";
            throw changed(file, shorter(what, skipped, position.offset()), position, host);
        }
        return last[0] != '\n';
    }

    /** How the file differs from the one that the position is in, or null. */
    private static @Nullable String otherThan(
            FileSource source, SourceFile file, FilePosition position) {
        if (file.byteCount() < position.fileBytes()) {
            return shorter("it", file.byteCount(), position.fileBytes());
        }
        return source.head(file, position.head().byteCount()).equals(position.head())
                ? null
                : "it begins otherwise";
    }

    static InvalidRequestException changed(
            SourceFile file, String how, FilePosition position, SourceHost host) {
        return new InvalidRequestException(
                "%s is not the file that feed %s has read up to line %d: %s; put that one back, or load this one by a feed of another name"
                        .formatted(file.name(), host.feed(), position.line(), how));
    }

    private static String shorter(String what, long byteCount, long readBytes) {
        return "%s has only %d bytes of the %d that were read"
                .formatted(what, byteCount, readBytes);
    }
}
