package io.turbidite.lsm.partition;

import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.Discards;
import io.turbidite.lsm.merge.VersionRetention;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * What a maintenance strategy adds to the merge of one tree: further inputs, entries left out, a
 * look at what was written. A merge does its trees one after the other, the primary first, so that
 * the hook of the primary can hand something to those of the secondaries.
 *
 * <p><em>Confined to one thread at a time,</em> as its merge is. Closed with the output of its
 * tree.
 */
public interface MergeHook extends AutoCloseable {
    /** Adds nothing. */
    MergeHook NONE = new MergeHook() {};

    /** Adds inputs beside the components; they are closed with these. */
    default void addInputs(List<EntryCursor> inputs) {}

    /** Who is told of the versions that are superseded; null if nobody. */
    default @Nullable Discards discards() {
        return null;
    }

    /**
     * The entries to write of those that must be kept; owns {@code kept}.
     *
     * @param retention what readers need, the same for all trees of a merge
     * @return in the same order
     */
    default EntryStream filter(EntryStream kept, VersionRetention retention) {
        return kept;
    }

    /**
     * The entry that {@code kept} stands on was written; its ordinal is the number of those before
     * it.
     *
     * @param input stands on it too, and tells where it came from
     */
    default void written(EntryStream kept, EntryCursor input) {}

    /**
     * All entries are written, the component is not finished yet: does some of what is left to do.
     *
     * @param stepBytes about as much as that many bytes of entries would cost
     * @return whether nothing is left
     */
    default boolean complete(long stepBytes) {
        return true;
    }

    /**
     * What is known of the written component, when all is complete; null if it was not repaired.
     */
    default ComponentFiles.@Nullable Repaired repaired() {
        return null;
    }

    @Override
    default void close() {}
}
