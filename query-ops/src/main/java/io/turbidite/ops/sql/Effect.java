package io.turbidite.ops.sql;

import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

/** What a statement does in place of giving rows. */
interface Effect {
    /** How the records are found that it changes, or made that it puts; null: there are none. */
    @Nullable
    Planned rows();

    /**
     * Does it, within limits; tells each number of records when they are changed.
     *
     * @param checked a value for each parameter, as {@link Parameter#checked} gives it
     */
    void apply(RunOptions options, @Nullable Object[] checked, ChangedCount count);
}
