package io.turbidite.feeds.source;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.parse.RecordParser;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * Where a feed's records come from: partitions, each a sequence of records with positions in it.
 *
 * <p>The feed keeps the position of each partition in the same atomic write as the records before
 * it, so a source that {@linkplain #canGoBack can go back} has each of its records taken exactly
 * once, whatever is killed.
 *
 * <p>{@link #durable}, {@link #rejected}, {@link #dropped} and {@link #failed} may be called by any
 * threads, of different partitions at once too. All else, and all that its readers do, is
 * <em>confined to one thread at a time</em>: that of the run, or where a feed has several parse
 * workers now this one and now that, never two at once. A source that {@linkplain #readsApart reads
 * apart} is asked to open by several at once, and its readers are used so.
 */
public interface FeedSource extends AutoCloseable {
    /**
     * Called once before all else, for a source that finds out which partition is which.
     *
     * @param taken gives what the feed has taken so far, by the partition's name
     */
    default void begin(Supplier<Map<String, PartitionState>> taken, SourceHost host) {}

    /**
     * Under what name the feed keeps how far it is: feeds into one dataset whose sources have the
     * same group share that, so that one goes on where another stopped. Null: each feed has its
     * own.
     */
    default @Nullable String group() {
        return null;
    }

    /**
     * The names of the partitions that are there now, in the order in which they should be read. A
     * name stays with its partition for good; up to 512 bytes of UTF-8, not empty.
     */
    List<String> partitions();

    /**
     * Partitions that were taken from this run since it was last asked, behind {@link #partitions}:
     * their readers are closed, and opened anew if they are there again. Of an endless source.
     */
    default List<String> gone() {
        return List.of();
    }

    /**
     * Whether partitions may be opened and read by different threads at the same time, each reader
     * by one. Then parse workers don't wait for each other where they read.
     */
    default boolean readsApart() {
        return false;
    }

    /**
     * Whether reading can begin at any position that the source has given out. If not, what was
     * read and was not durable when the process died is lost.
     */
    boolean canGoBack();

    /**
     * Whether more may always come: then a run ends only when it is stopped, or the source {@link
     * #hasEnded has ended}.
     */
    default boolean isEndless() {
        return false;
    }

    /**
     * Of an endless source: whether nothing comes any more after all, and all that came was given
     * out. Then the run has read it to its end.
     */
    default boolean hasEnded() {
        return false;
    }

    /**
     * For an endless source whose partitions had nothing to read: whether they may have something
     * now. Asked about once a millisecond by a run of its own; by one of a manager from 2 ms to
     * {@link #askMicrosMax} apart, the later the longer there was nothing.
     */
    default boolean hasNews() {
        return true;
    }

    /**
     * How late a manager of feeds may ask for news of this source, if nobody wakes the feed: each
     * asking costs a processor some 30 us.
     */
    default long askMicrosMax() {
        return 50_000;
    }

    /**
     * Whether what it reads is not there for now: {@link #partitions} has failed of that, and may
     * be asked again.
     */
    default boolean isAway() {
        return false;
    }

    /**
     * Looks whether the source holds what the feed expects, if that costs little.
     *
     * @param parser says how records end, and is given a header
     * @param separator between the fields of a record
     * @throws InvalidRequestException saying what does not fit
     */
    default void check(RecordParser parser, char separator) {}

    /**
     * Whether there is one partition for good, so that more parse workers than one have nothing to
     * do.
     */
    default boolean isOnePartition() {
        return false;
    }

    /**
     * Opens a partition; again in the same run when its reader was closed, which may also be
     * because another parse worker is to read it. Then all that was given out is delivered, and
     * {@code taken} says so.
     *
     * @param taken what the feed has taken of it, or null if that is nothing
     * @throws InvalidRequestException if the partition can't go on from there
     */
    PartitionReader open(String partition, @Nullable PartitionState taken, SourceHost host);

    /**
     * All of a partition before {@code position} is as durable as the store's mode says: who sent
     * it may be told, and forget it.
     */
    default void durable(String partition, SourcePosition position) {}

    /**
     * The run has failed to deliver: nothing more becomes durable. By any thread.
     */
    default void failed() {}

    /**
     * A record became a dead letter, which is durable. Told once in a run, before {@link #durable}
     * of a position behind it; by any thread, as that.
     */
    default void rejected(String partition, Rejection rejection) {}

    /**
     * Nothing is left of the record at a place, because the definition leaves it out. Told once in
     * a run, before {@link #durable} of a position behind it; by any thread, as that.
     */
    default void dropped(String partition, long place) {}

    /** How much there is to read in all, for progress; 0 if nobody knows. */
    default long byteCount() {
        return 0;
    }

    @Override
    default void close() {}
}
