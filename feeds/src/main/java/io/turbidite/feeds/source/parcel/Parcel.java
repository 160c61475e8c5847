package io.turbidite.feeds.source.parcel;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.parse.RecordFramer;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Records that a client sent at once, as the text that it sent. <em>Immutable</em>, if nobody
 * writes to the bytes that it was made of.
 */
public final class Parcel {
    /** The greatest sequence; so many records take a thousand years at a hundred million a day. */
    public static final long SEQUENCE_MAX = 1L << 53;

    private static final Pattern PRODUCER = Pattern.compile("[A-Za-z0-9._-]{1,128}");
    private static final int OWNER_CHARS_MAX = 256;

    private final List<byte[]> pieces;
    private final long byteCount;
    private final @Nullable String producer;
    private final long sequence;

    private Parcel(List<byte[]> pieces, @Nullable String producer, long sequence) {
        this.pieces = pieces;
        this.producer = producer;
        this.sequence = sequence;
        long bytes = 0;
        for (byte[] piece : pieces) {
            bytes += piece.length;
        }
        this.byteCount = bytes;
    }

    /**
     * A parcel of a client that has no name: what it sends again is taken again.
     *
     * @param pieces of its text, in sequence; not copied
     */
    public static Parcel of(List<byte[]> pieces) {
        return new Parcel(List.copyOf(pieces), null, 0);
    }

    /** As {@link #of(List)}, in one piece. */
    public static Parcel of(byte[] text) {
        return of(List.of(text));
    }

    /**
     * The same parcel from a producer that numbers its records: each number is taken once.
     *
     * @param owner whose producer it is: two owners' producers of one name are two
     * @param name letters, digits and {@code . _ -}, up to 128
     * @param first the number of the first record of the parcel, from 1; the next have the next
     * @throws InvalidRequestException if one of them is not such
     */
    public Parcel from(String owner, String name, long first) {
        if (!PRODUCER.matcher(name).matches()) {
            throw new InvalidRequestException(
                    "a producer's name has 1 to 128 letters, digits and . _ -, not '%s'"
                            .formatted(name.length() > 128 ? name.substring(0, 128) + "…" : name));
        }
        if (owner.isEmpty() || owner.length() > OWNER_CHARS_MAX || owner.indexOf('/') >= 0) {
            throw new InvalidRequestException("'%s' can own no producer".formatted(owner));
        }
        if (first < 1 || first > SEQUENCE_MAX) {
            throw new InvalidRequestException(
                    "a sequence is a number from 1 to %d, not %d".formatted(SEQUENCE_MAX, first));
        }
        return new Parcel(pieces, owner + "/" + name, first);
    }

    /** Owner and name; null if it has none. */
    @Nullable
    String producer() {
        return producer;
    }

    /** The number of its first record; 0 if it has none. */
    long sequence() {
        return sequence;
    }

    /** Of its text. */
    public long byteCount() {
        return byteCount;
    }

    /** Reads it from its beginning. */
    RecordFramer.Input input() {
        return new RecordFramer.Input() {
            private int piece;
            private int at;

            @Override
            public int read(byte[] target, int offset, int count) {
                while (piece < pieces.size() && at == pieces.get(piece).length) {
                    piece++;
                    at = 0;
                }
                if (piece == pieces.size()) {
                    return -1;
                }
                byte[] from = pieces.get(piece);
                int read = Math.min(count, from.length - at);
                System.arraycopy(from, at, target, offset, read);
                at += read;
                return read;
            }
        };
    }
}
