package io.turbidite.feeds.source.parcel;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.parse.ElementFramer;
import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.MalformedFrameException;
import io.turbidite.feeds.parse.PeekedInput;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.source.PartitionReader;
import io.turbidite.feeds.source.SourceHost;
import io.turbidite.feeds.source.SourcePosition;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.Objects;

/**
 * Reads the parcels of one partition, each from its beginning, or from where another reader of the
 * run has left it: a record's number is told by counting. Those that were taken before are passed
 * over. <em>Confined to one thread at a time, as its source.</em>
 */
final class ParcelReader implements PartitionReader {
    private static final int BUFFER_BYTES = 64 << 10;

    private final ParcelSource source;
    private final String partition;
    private final SourceHost host;

    /** The number of the last record that was given out. */
    private long position;

    /** What is being read; null between two parcels. */
    private @Nullable Ticket ticket;

    private @Nullable RecordFramer framer;

    /** What this reader's framer reads into; null if the text stays where it lies. */
    private byte @Nullable [] buffer;

    private @Nullable RecordFrame header;

    /** The number of the framer's frame, and where that stands in the parcel's text. */
    private long number;

    private long textOffset;
    private long bytesRead;

    /** @param begun what another reader has left of a parcel, up to {@code position}; or null */
    ParcelReader(
            ParcelSource source,
            String partition,
            long position,
            SourceHost host,
            @Nullable BegunParcel begun) {
        this.source = source;
        this.partition = partition;
        this.position = position;
        this.host = host;
        if (begun != null) {
            ticket = begun.ticket();
            framer = begun.framer();
            header = begun.header();
            number = begun.number();
        }
    }

    @Override
    public Step next() {
        while (true) {
            Ticket now = ticket == null ? begin() : ticket;
            if (now == null) {
                return Step.NOTHING;
            }
            RecordFramer framed = Objects.requireNonNull(framer);
            RecordFrame known = header;
            if (known != null && source.changesHeader(this)) {
                host.parser().header(known); // another parcel's was read meanwhile
            }
            while (framed.next()) {
                number++;
                if (number > position) {
                    position = number;
                    textOffset = framed.frame().offset();
                    framed.frame().moveTo(number);
                    return Step.RECORD;
                }
                pass(framed);
            }
            ticket = null;
            framer = null;
            giveBuffer();
            bytesRead += now.parcel().byteCount();
            source.read(partition, now, number);
        }
    }

    /**
     * Passes over a record that was taken before. If it seems to span lines it must be cut as it
     * was then, or else those behind it get other numbers.
     */
    private void pass(RecordFramer framed) {
        if (!framed.frame().spansLines() || framed.frame().problem() != null) {
            return;
        }
        try {
            var _ = host.parser().parse(framed.frame());
        } catch (MalformedFrameException e) {
            framed.cutToFirstLine();
        } catch (InvalidRequestException e) {
            // a record all the same: it is a dead letter since
        }
    }

    private @Nullable Ticket begin() {
        while (true) {
            Ticket next = source.next(partition, position);
            if (next == null) {
                return null;
            }
            RecordFramer framed = framer(next.parcel());
            header = null;
            long sequence = next.parcel().sequence();
            number = sequence == 0 ? position : sequence - 1;
            try {
                if (!host.parser().wantsHeader() || learnHeader(next.parcel(), framed)) {
                    framer = framed;
                    ticket = next;
                    return next;
                }
                source.read(partition, next, number); // there is nothing in it
            } catch (InvalidRequestException wrong) {
                source.refuse(
                        partition,
                        next,
                        new Receipt.Malformed("the header does not fit: " + wrong.getMessage()));
            }
        }
    }

    private RecordFramer framer(Parcel parcel) {
        // lines of a longer text are not at its beginning, where a byte order mark is passed over
        RecordFramer framed =
                parcel.isLines() ? parcel.lines() : framer(new PeekedInput(parcel.input()));
        framed.end();
        return framed;
    }

    private RecordFramer framer(PeekedInput text) {
        if (host.parser().takesElements() && text.beginsArray()) {
            return new ElementFramer(text, 0, 1);
        }
        byte[] spare = source.spareBuffer.getAndSet(null);
        byte[] taken = spare == null ? new byte[BUFFER_BYTES] : spare;
        buffer = taken;
        return new LineFramer(text, host.parser().quotes(), host.separator(), 0, 1, taken);
    }

    /** Behind a parcel's end the next one's text goes where its own was. */
    private void giveBuffer() {
        byte[] given = buffer;
        if (given != null) {
            source.spareBuffer.set(given);
            buffer = null;
        }
    }

    /** Whether there is a header. */
    private boolean learnHeader(Parcel parcel, RecordFramer framed) {
        byte[] before = parcel.header();
        if (before != null) {
            learn(RecordFrame.of(before, 0, 1));
            return true;
        }
        if (!framed.next()) {
            return false;
        }
        RecordFrame frame = framed.frame();
        if (frame.problem() != null) {
            throw new InvalidRequestException(frame.problem());
        }
        learn(RecordFrame.of(
                Arrays.copyOfRange(frame.bytes(), frame.start(), frame.start() + frame.length()),
                0,
                1));
        return true;
    }

    private void learn(RecordFrame named) {
        var _ = source.changesHeader(this);
        host.parser().header(named);
        header = named;
    }

    @Override
    public RecordFrame frame() {
        return Objects.requireNonNull(framer).frame();
    }

    @Override
    public SourcePosition position() {
        return SourcePosition.of(position);
    }

    @Override
    public void cutToFirstLine() {
        RecordFramer framed = Objects.requireNonNull(framer);
        framed.frame().moveTo(textOffset);
        framed.cutToFirstLine();
        framed.frame().moveTo(number);
    }

    /** What is not begun is the source's, and what is goes back to it: see {@link #close}. */
    @Override
    public boolean isBetween() {
        return true;
    }

    @Override
    public long bytesRead() {
        return bytesRead;
    }

    @Override
    public void close() {
        Ticket begun = ticket;
        if (begun != null) {
            source.giveBack(
                    partition,
                    new BegunParcel(begun, Objects.requireNonNull(framer), header, number));
            ticket = null;
            framer = null;
            buffer = null; // it is the framer's
        }
    }
}
