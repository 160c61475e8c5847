package io.turbidite.feeds.source;

import io.turbidite.feeds.parse.RecordFrame;

import org.jspecify.annotations.Nullable;

/**
 * Reads one partition of a source in sequence. <em>Confined to one thread at a time</em>, as its
 * {@link FeedSource} says.
 */
public interface PartitionReader extends AutoCloseable {
    /** What a reader has found. */
    enum Step {
        /** A record, or what should have been one: see {@link #frame}. */
        RECORD,
        /** A place to write what was read: the records from here on may take their time. */
        BREAK,
        /** Nothing for now; more may come. */
        NOTHING,
        /** Nothing any more: the partition has been read, and a run needs it no longer. */
        END
    }

    /** Moves on. */
    Step next();

    /** The record that {@link #next} moved to; valid until its next call. */
    RecordFrame frame();

    /** The position behind all that {@link #next} has given out. */
    SourcePosition position();

    /**
     * The position that what {@link #next} gives from now on follows. Asked at the beginning and
     * after each {@link Step#BREAK}. A source that hears its records from others must tell it, for
     * they may come twice or leave some out: what the feed has taken is passed over, and behind a
     * gap nothing is taken.
     *
     * @param before the position behind what the reader has given out, or that it was opened with
     */
    default @Nullable SourcePosition follows(@Nullable SourcePosition before) {
        return before;
    }

    /**
     * Whether the position is to be kept where {@link Step#NOTHING} is the answer, though no record
     * lies before it: where reading began, or what is passed over without a record.
     */
    default boolean keepsPosition() {
        return false;
    }

    /**
     * Whether the partition is another one than that of which the feed took something under its
     * name, so that its position and counts are past.
     */
    default boolean startsAnew() {
        return false;
    }

    /**
     * Gives up all of the current record but its first line: for a record whose quotes turn out to
     * be wrong. Of sources that cut records by the parser's quotes.
     */
    default void cutToFirstLine() {}

    /**
     * The offset up to which an earlier run read: a record that begins before it, and ends behind
     * it, was taken in part. 0 if there is none.
     */
    default long takenTo() {
        return 0;
    }

    /** Unfinished records that were left where {@link Step#NOTHING} was the answer. */
    default long waiting() {
        return 0;
    }

    /**
     * Of a source that can't go back: whether the partition can be closed now, and opened anew once
     * all that was given out is delivered, so that nothing is lost or told twice. Asked when it is
     * to come to another parse worker.
     */
    default boolean isBetween() {
        return false;
    }

    /** How much has been read, for progress. */
    default long bytesRead() {
        return 0;
    }

    @Override
    default void close() {}
}
