package io.turbidite.feeds.source.file;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.avro.ObjectFileCutter;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;
import io.turbidite.feeds.source.SteadyTime;

import org.jspecify.annotations.Nullable;

/**
 * Reads the records of one object file of Avro, from where the feed stopped to the end that the
 * file has when it comes there. In its positions the offset is that of a block, and the line the
 * number in it of the next record. A block that the file ends within waits for the next run, unless
 * the content says itself that nothing follows. <em>Confined to one thread.</em>
 */
final class ObjectFileReader implements PartitionReader {
    private final SourceFile file;
    private final SourceHost host;
    private final SteadyTime time;
    private final SourceStream stream;
    private final boolean startsAnew;
    private final ObjectFileCutter cutter;

    /** Whether there is nothing to give out in this run: all was read, or there is no header. */
    private @Nullable Step done;

    private boolean ended;
    private boolean hasBroken;
    private long waiting;

    private ObjectFileReader(
            SourceFile file, SourceHost host, SourceStream stream, boolean startsAnew) {
        this.file = file;
        this.host = host;
        this.time = SteadyTime.of(host.clock());
        this.stream = stream;
        this.startsAnew = startsAnew;
        this.cutter = new ObjectFileCutter(stream::read);
    }

    /**
     * A reader that stands where the feed stopped.
     *
     * @throws InvalidRequestException if the header is damaged, or the file is not the one of which
     *     the feed has taken records
     */
    static ObjectFileReader begin(
            SourceFile file,
            SourceHost host,
            SourceStream stream,
            @Nullable FilePosition position) {
        ObjectFileReader reader = new ObjectFileReader(file, host, stream, position == null);
        if (reader.readHeader() && position != null && position.offset() > 0) {
            reader.goTo(position);
        }
        return reader;
    }

    private boolean readHeader() {
        try {
            if (cutter.readHeader()) {
                return true;
            }
        } catch (InvalidRequestException e) {
            throw new InvalidRequestException("%s: %s".formatted(file.name(), e.getMessage()), e);
        }
        if (cutter.isEmpty()) {
            ended = true;
            done = Step.END;
            return false;
        }
        if (stream.hasEnded(time, host.tasks(), host.stopped())) {
            throw new InvalidRequestException(
                    "%s: it ends within the header of an object file of Avro"
                            .formatted(file.name()));
        }
        waiting++;
        done = Step.NOTHING;
        return false;
    }

    private void goTo(FilePosition position) {
        stream.restart();
        long skipped = stream.skip(position.offset());
        if (skipped < position.offset()) {
            throw FileReader.changed(
                    file,
                    "it has only %d bytes of the %d that were read"
                            .formatted(skipped, position.offset()),
                    position,
                    host);
        }
        cutter.goOn(stream::read, position.offset());
        if (position.line() > 1 && !cutter.passRecords(position.line() - 1)) {
            throw FileReader.changed(
                    file,
                    "the block at byte %d has not so many records".formatted(position.offset()),
                    position,
                    host);
        }
    }

    @Override
    public Step next() {
        if (done != null) {
            return done;
        }
        while (!cutter.next()) {
            if (!cutter.isWithinBlock()) {
                ended = true;
                done = Step.END;
                return Step.END;
            }
            if (!hasBroken) {
                hasBroken = true; // what is before the rest need not wait with it
                return Step.BREAK;
            }
            if (!stream.saysItsEnd()) {
                waiting++;
                done = Step.NOTHING;
                return Step.NOTHING;
            }
            cutter.end();
        }
        hasBroken = false;
        return Step.RECORD;
    }

    @Override
    public RecordFrame frame() {
        return cutter.frame();
    }

    @Override
    public SourcePosition position() {
        return new FilePosition(
                        cutter.offset(),
                        cutter.line(),
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
}
