package io.turbidite.lsm.merge.run;

import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState.ComponentState;

import java.util.List;

/**
 * What is merged of one tree. <em>Immutable.</em>
 *
 * @param id of the tree
 * @param includesOldest whether nothing older can exist
 * @param dropsAntimatter whether anti-matter that no reader needs may go
 */
record TreeInputs(
        TreeId id,
        List<ComponentHandle> newestFirst,
        boolean includesOldest,
        boolean dropsAntimatter) {
    long bytes() {
        return newestFirst.stream()
                .map(ComponentHandle::state)
                .mapToLong(ComponentState::bytes)
                .sum();
    }

    /** Entries of all inputs, invalid ones included. */
    long entryCount() {
        return newestFirst.stream()
                .mapToLong(input -> input.component().entryCount())
                .sum();
    }
}
