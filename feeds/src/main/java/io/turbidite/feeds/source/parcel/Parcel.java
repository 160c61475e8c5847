package io.turbidite.feeds.source.parcel;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.RecordFramer;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.regex.Pattern;

/**
 * Records that a client sent at once, as the text that it sent. <em>Immutable</em>, if nobody
 * writes to the bytes that it was made of before it is taken.
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
    private final @Nullable Part part;

    /**
     * Which part of a longer text a parcel is.
     *
     * @param header the line that names the columns; null if the parser wants none
     * @param firstLine of the parcel in the text, from 1
     */
    private record Part(@Nullable Piece header, long firstLine) {}

    /** Bytes that nobody writes to. */
    private record Piece(List<byte[]> bytes) {}

    private Parcel(
            List<byte[]> pieces,
            long byteCount,
            @Nullable Part part,
            @Nullable String producer,
            long sequence) {
        this.pieces = pieces;
        this.byteCount = byteCount;
        this.part = part;
        this.producer = producer;
        this.sequence = sequence;
    }

    private static long lengthOf(List<byte[]> pieces) {
        long bytes = 0;
        for (byte[] piece : pieces) {
            bytes += piece.length;
        }
        return bytes;
    }

    /**
     * A parcel of a client that has no name: what it sends again is taken again.
     *
     * @param pieces of its text, in sequence; not copied
     */
    public static Parcel of(List<byte[]> pieces) {
        return of(pieces, lengthOf(pieces));
    }

    /**
     * As {@link #of(List)}, where the last piece may be longer than the text.
     *
     * @param byteCount of the text, which ends in the last piece
     */
    public static Parcel of(List<byte[]> pieces, long byteCount) {
        long last = pieces.isEmpty() ? 0 : pieces.getLast().length;
        long missing = lengthOf(pieces) - byteCount;
        if (missing < 0 || missing > last) {
            throw new InvalidRequestException(
                    "a text of %d bytes does not end in the last of its pieces, of %d bytes"
                            .formatted(byteCount, byteCount + missing));
        }
        return new Parcel(List.copyOf(pieces), byteCount, null, null, 0);
    }

    /**
     * Some whole lines of a longer text, each of which is a record: a line end within quotes ends
     * one too. Such a text is sent in several parcels, one after the other.
     *
     * @param lines not copied; of use up to {@code byteCount}
     * @param header the text's line that names the columns, without its end; null if the parser
     *     wants none
     * @param firstLine which line of the text they begin with, from 1
     */
    public static Parcel ofLines(
            byte[] lines, int byteCount, byte @Nullable [] header, long firstLine) {
        Piece named = header == null ? null : new Piece(List.of(header));
        return new Parcel(List.of(lines), byteCount, new Part(named, firstLine), null, 0);
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
        if (first < 1 || first > SEQUENCE_MAX) {
            throw new InvalidRequestException(
                    "a sequence is a number from 1 to %d, not %d".formatted(SEQUENCE_MAX, first));
        }
        return new Parcel(pieces, byteCount, part, producer(owner, name), first);
    }

    /** What two owners' producers of one name are told apart by. */
    static String producer(String owner, String name) {
        if (!PRODUCER.matcher(name).matches()) {
            throw new InvalidRequestException(
                    "a producer's name has 1 to 128 letters, digits and . _ -, not '%s'"
                            .formatted(name.length() > 128 ? name.substring(0, 128) + "…" : name));
        }
        if (owner.isEmpty() || owner.length() > OWNER_CHARS_MAX || owner.indexOf('/') >= 0) {
            throw new InvalidRequestException("'%s' can own no producer".formatted(owner));
        }
        return owner + "/" + name;
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

    /** Whether each line is a record, and another parcel may go on behind it. */
    boolean isLines() {
        return part != null;
    }

    /** The line that it begins with, from 1. */
    long firstLine() {
        return part == null ? 1 : part.firstLine;
    }

    /** The header that came before it; null if it has its own, or none. */
    byte @Nullable [] header() {
        return part == null || part.header == null ? null : part.header.bytes.getFirst();
    }

    /** Of its text. */
    public long byteCount() {
        return byteCount;
    }

    /** What it keeps in memory: that of its text, and what is free behind it. */
    long heldBytes() {
        return lengthOf(pieces);
    }

    /** Its lines, where they lie; see {@link #isLines}. */
    LineFramer lines() {
        return LineFramer.over(pieces.getFirst(), Math.toIntExact(byteCount), 1, firstLine());
    }

    /** Reads it from its beginning. */
    RecordFramer.Input input() {
        return new RecordFramer.Input() {
            private int piece;
            private int at;
            private long left = byteCount;

            @Override
            public int read(byte[] target, int offset, int count) {
                while (left > 0 && at == pieces.get(piece).length) {
                    piece++;
                    at = 0;
                }
                if (left == 0) {
                    return -1;
                }
                byte[] from = pieces.get(piece);
                int read = (int) Math.min(left, Math.min(count, from.length - at));
                System.arraycopy(from, at, target, offset, read);
                at += read;
                left -= read;
                return read;
            }
        };
    }
}
