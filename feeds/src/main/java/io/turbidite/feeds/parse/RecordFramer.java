package io.turbidite.feeds.parse;

import org.jspecify.annotations.Nullable;

import java.util.function.Predicate;

/**
 * Cuts a stream of bytes into records, each with its place. Works on bytes, so positions are exact
 * and a record of invalid UTF-8 harms no other. <em>Confined to one thread.</em>
 *
 * <p>A record that the stream ends within is held back until {@link #end} says that nothing will
 * follow: half a record may well be a good one.
 */
public sealed interface RecordFramer permits BufferedFramer {
    /** What a line end may be part of. */
    enum Quotes {
        /** Nothing: a record is a line. */
        NONE,
        /** A field between double quotes, in which two quotes stand for one. */
        RFC_4180
    }

    /** Supplies bytes in sequence. */
    @FunctionalInterface
    interface Input {
        /** As {@link java.io.InputStream#read(byte[], int, int)}. */
        int read(byte[] target, int offset, int byteCount);
    }

    /**
     * Moves the frame to the next record; false if there is no further one that is whole, and after
     * {@link #end} if there is none at all.
     */
    boolean next();

    /** The record that {@link #next} moved to; one object, moved again by the next call. */
    RecordFrame frame();

    /**
     * What is left when {@link #next} has found no further record: one that the stream ends within
     * so far. The frame is moved to it, and stays before it.
     *
     * @return null if nothing is left
     */
    @Nullable
    RecordFrame rest();

    /**
     * Whether what {@link #next} has left ends within quotes or brackets: line ends in it may
     * belong to the record, and what closes them may still come.
     */
    default boolean restIsOpen() {
        return false;
    }

    /**
     * Whether so many of the whole lines behind the first of an open rest are records by
     * themselves: then the quote is rather broken than still to be closed.
     *
     * @param isRecord is asked about a frame of its own, of one line
     */
    default boolean restHoldsRecords(int wantedCount, Predicate<RecordFrame> isRecord) {
        return false;
    }

    /**
     * Says that nobody will close the quotes of an open rest: its first line is given up, and all
     * else goes on.
     */
    default void cutOpenRest() {}

    /** Says that the source has ended: what is left is a record like any other. */
    void end();

    /**
     * For a framer that began behind a record without a line end: passes that line end if it has
     * come since.
     *
     * @return false if the line goes on with something else that may belong to the record
     */
    default boolean passLineEnd() {
        return true;
    }

    /** The offset behind the current frame: where {@link #next} goes on. */
    long nextOffset();

    /** The line that begins there, or that it lies in. */
    long nextLine();

    /**
     * Gives up all of the current frame but its first line: the next record begins in the line
     * behind it. For a record whose quotes turn out to be wrong.
     */
    default void cutToFirstLine() {}
}
