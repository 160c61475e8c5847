package io.turbidite.ops.join;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.ArgumentColumns;
import io.turbidite.ops.aggregate.PairTuples;
import io.turbidite.ops.batch.KeyWords;

import org.jspecify.annotations.Nullable;

/**
 * What groups of pairs need of the rows of one side, of many at once. <em>Confined to one
 * thread.</em>
 *
 * @param keys words of the group keys that are its fields; null: none is
 * @param arguments of the aggregates, of which it reads those that are its fields; null where
 *     groups are counted
 */
record SideColumns(@Nullable KeyWords keys, @Nullable ArgumentColumns arguments) {
    /**
     * Of what makes tuples of pairs, and has columns.
     *
     * @param type of the rows of the side
     */
    static SideColumns of(PairTuples maker, RecordType type, boolean ofLeft) {
        int[] fields = maker.keyFields(ofLeft);
        return new SideColumns(
                fields.length == 0 ? null : new KeyWords(type, fields),
                maker.argumentColumns(ofLeft));
    }
}
