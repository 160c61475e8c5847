package io.turbidite.feeds.source.tail;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.source.file.SourceStream;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.Objects;

/**
 * Reads a content that grows, in passes: each from behind the last record that was given out to the
 * end that there is, or to a last line without its end, which waits.
 *
 * <p>After each read of a plain file it looks whether what was read before is still there. If not,
 * the file was truncated, perhaps before that read, and the bytes are thrown away.
 *
 * <em>Confined to one thread.</em>
 */
final class TailReader implements PartitionReader {
    /** Nobody writes any more to a file without a name that has rested for so long. */
    private static final long REST_NANOS = 2_000_000_000;

    private final TailSource source;
    private final TailedFile content;
    private final SourceHost host;
    private @Nullable RecordFramer framer;
    private @Nullable SourceStream stream;

    /** That the pass reads; null of a compressed one. */
    private @Nullable DiskFile passFile;

    /** A frame of its own, with what the parser is given as the header. */
    private @Nullable RecordFrame header;

    /** Behind the header. */
    private long headerEndOffset;

    private long headerEndLine = 1;

    /** Whether the framer's frame was given out and is not in the fields below yet. */
    private boolean isPending;

    /** Whether those are not in the content's position yet. */
    private boolean hasMoved;

    private long offset;
    private long line;
    private final byte[] last = new byte[Window.BYTES_MAX];
    private int lastBytes;
    private long lastStart;
    private @Nullable Window head;

    private long readOffset;

    /** What stands before {@link #readOffset}; empty where nothing was read in this pass. */
    private byte[] witness = new byte[0];

    /** How large the file was when a pass came to its end. */
    private long passedBytes = -1;

    private long restedSinceNanos;

    TailReader(TailSource source, TailedFile content, SourceHost host) {
        this.source = source;
        this.content = content;
        this.host = host;
    }

    @Override
    public Step next() {
        settle();
        RecordFrame known = header;
        if (known != null && source.changesHeader(this)) {
            giveHeader(known);
        }
        if (framer != null && stream == null && !Objects.equals(passFile, content.handle)) {
            endPass(); // the file that it read is not the content's any more
        }
        if (framer == null && !beginPass()) {
            return rest();
        }
        RecordFramer now = framer;
        if (now == null) {
            return Step.NOTHING;
        }
        if (now.next() || (now.rest() != null && isLast() && endsWith(now))) {
            isPending = true;
            return Step.RECORD;
        }
        endPass();
        content.isRead = content.isGzip;
        return rest();
    }

    private static boolean endsWith(RecordFramer framer) {
        framer.end();
        return framer.next();
    }

    /**
     * Whether nothing comes behind the last line, so that it is a record without its end. A file
     * whose directory is not there may come back with it, and go on.
     */
    private boolean isLast() {
        return content.isGzip || (isNameless() && hasRested() && !source.isMissing());
    }

    private boolean isNameless() {
        return content.handle != null && !content.isThere;
    }

    private boolean hasRested() {
        long since = Math.max(restedSinceNanos, content.namelessNanos);
        return host.clock().monotonicNanos() - since >= REST_NANOS;
    }

    /** What to say when there is nothing to give out. */
    private Step rest() {
        if (content.isGzip) {
            return content.isRead ? Step.END : Step.NOTHING;
        }
        if (isNameless() && hasRested() && passedBytes >= 0) {
            content.lose();
            source.lookSoon();
            return Step.END;
        }
        return Step.NOTHING;
    }

    /** Returns whether there is something to read. */
    private boolean beginPass() {
        return content.isGzip ? beginGzip() : beginPlain();
    }

    private boolean beginPlain() {
        source.hold(content);
        DiskFile file = content.handle;
        if (file == null) {
            return false;
        }
        long byteCount = file.size();
        if (byteCount != passedBytes) {
            restedSinceNanos = host.clock().monotonicNanos();
        }
        boolean isOver = isNameless() && hasRested() && byteCount > content.offset();
        if (byteCount <= content.offset() || (byteCount == passedBytes && !isOver)) {
            passedBytes = byteCount;
            return false;
        }
        passedBytes = byteCount;
        passFile = file;
        if (content.position == null) {
            source.beginsToRead(content);
        }
        return begin(this::readPlain);
    }

    private boolean beginGzip() {
        if (content.isRead || !content.isThere) {
            return false;
        }
        SourceStream opened = source.stream(content);
        if (opened == null) {
            return false;
        }
        stream = opened;
        opened.stopWhen(host.stopped());
        return begin(opened::read);
    }

    private boolean begin(RecordFramer.Input input) {
        readOffset = 0;
        witness = new byte[0];
        if (host.parser().wantsHeader() && header == null && !readHeader(input)) {
            endPass();
            return false;
        }
        TailPosition position = content.position;
        long fromOffset = position == null ? headerEndOffset : position.offset();
        long fromLine = position == null ? headerEndLine : position.line();
        readOffset = fromOffset;
        witness = new byte[0];
        SourceStream opened = stream;
        if (opened != null && opened.skip(fromOffset) < fromOffset) {
            endPass();
            content.isRead = true;
            return false;
        }
        framer = framer(input, fromOffset, fromLine);
        return true;
    }

    /** Returns false if there is no whole header yet. */
    private boolean readHeader(RecordFramer.Input input) {
        RecordFramer first = framer(input, 0, 1);
        if (!first.next()) {
            return false;
        }
        RecordFrame frame = first.frame();
        RecordFrame copy = RecordFrame.of(
                Arrays.copyOfRange(frame.bytes(), frame.start(), frame.start() + frame.length()),
                frame.offset(),
                frame.line());
        headerEndOffset = frame.endOffset();
        headerEndLine = frame.endLine();
        header = copy;
        var _ = source.changesHeader(this);
        giveHeader(copy);
        SourceStream opened = stream;
        if (opened != null) {
            opened.restart();
        }
        return true;
    }

    private void giveHeader(RecordFrame frame) {
        try {
            host.parser().header(frame);
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException("%s: %s".formatted(content.name, e.getMessage()), e);
        }
    }

    private RecordFramer framer(RecordFramer.Input input, long offset, long line) {
        return new LineFramer(input, host.parser().quotes(), host.separator(), offset, line);
    }

    private int readPlain(byte[] target, int at, int byteCount) {
        DiskFile file = content.handle;
        if (file == null) {
            return -1;
        }
        byte[] bytes = new byte[byteCount];
        PlainContent plain = new PlainContent(file);
        int count = plain.read(readOffset, bytes, byteCount);
        if (count <= 0) {
            return -1;
        }
        if (!isUnbroken(plain)) {
            source.lookSoon();
            return -1;
        }
        System.arraycopy(bytes, 0, target, at, count);
        readOffset += count;
        witness = Arrays.copyOfRange(bytes, Math.max(0, count - Window.BYTES_MAX), count);
        return count;
    }

    /** Whether what was read before is still there. */
    private boolean isUnbroken(PlainContent plain) {
        if (witness.length > 0) {
            byte[] there = new byte[witness.length];
            return plain.read(readOffset - witness.length, there, there.length) == there.length
                    && Arrays.equals(there, witness);
        }
        TailPosition position = content.position;
        return position == null || position.isIn(plain);
    }

    private void endPass() {
        settle();
        locate();
        framer = null;
        SourceStream opened = stream;
        stream = null;
        if (opened != null) {
            opened.close();
        }
    }

    /** Notes the record that was given out. */
    private void settle() {
        RecordFramer now = framer;
        if (!isPending || now == null) {
            return;
        }
        isPending = false;
        hasMoved = true;
        RecordFrame frame = now.frame();
        lastBytes = Math.min(frame.length(), Window.BYTES_MAX);
        int from = frame.length() - lastBytes;
        System.arraycopy(frame.bytes(), frame.start() + from, last, 0, lastBytes);
        lastStart = frame.offset() + from;
        if (content.position == null && head == null) {
            byte[] first =
                    Arrays.copyOfRange(frame.bytes(), frame.start(), frame.start() + lastBytes);
            head = Window.of(frame.offset(), first, lastBytes);
        }
        offset = frame.endOffset();
        line = frame.endLine();
    }

    /** Brings the content's position to where the notes are. */
    private void locate() {
        if (!hasMoved) {
            return;
        }
        hasMoved = false;
        TailPosition before = content.position;
        Window first = before == null ? head : before.head();
        content.position = new TailPosition(
                offset,
                line,
                first == null ? Window.NONE : first,
                Window.of(lastStart, last, lastBytes),
                content.identity,
                content.name);
    }

    @Override
    public RecordFrame frame() {
        RecordFramer now = framer;
        if (now == null) {
            throw new IllegalStateException("there is no record");
        }
        return now.frame();
    }

    @Override
    public SourcePosition position() {
        settle();
        locate();
        TailPosition position = content.position;
        return (position == null
                        ? new TailPosition(
                                0, 1, Window.NONE, Window.NONE, content.identity, content.name)
                        : position)
                .encode();
    }

    @Override
    public void cutToFirstLine() {
        RecordFramer now = framer;
        if (now != null) {
            now.cutToFirstLine();
        }
    }

    @Override
    public long bytesRead() {
        return content.offset();
    }

    @Override
    public void close() {
        endPass();
    }
}
