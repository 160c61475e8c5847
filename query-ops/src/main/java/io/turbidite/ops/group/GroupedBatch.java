package io.turbidite.ops.group;

import io.turbidite.core.bytes.Slice;
import io.turbidite.ops.aggregate.ArgumentColumns;
import io.turbidite.ops.batch.KeyWords;

import org.jspecify.annotations.Nullable;

/**
 * Many rows as groups take them: by the words of their keys and by columns of arguments, and each
 * by itself where it has no words. <em>Confined to one thread.</em>
 */
public interface GroupedBatch {
    /** How many rows. */
    int count();

    /** Reads words and arguments of all rows; before they are asked for. */
    void read();

    /** Whether nothing is grouped by, so that all rows are one group. */
    boolean isWhole();

    /** How many words the key of a row has; the same for all batches of a query. */
    int wordCount();

    /**
     * The words of all rows, one row behind the other: two have the same if and only if their keys
     * are equal. The first word of one that has none is {@link KeyWords#NONE}.
     */
    long[] words();

    /** The hash of each row's words. */
    long[] hashes();

    /** Arguments of all rows; null where groups are counted. */
    @Nullable
    ArgumentColumns arguments();

    /** The encoded group key of a row; valid until the next call of this or {@link #tuple}. */
    Slice key(int row);

    /** Group key and arguments of a row; valid as {@link #key}. */
    Slice[] tuple(int row);
}
