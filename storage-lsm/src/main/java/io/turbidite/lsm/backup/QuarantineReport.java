package io.turbidite.lsm.backup;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * What became of the components in quarantine.
 *
 * @param components in the order of datasets, partitions, indexes, newest first
 */
public record QuarantineReport(List<Outcome> components) {
    public QuarantineReport {
        components = List.copyOf(components);
    }

    /** Whether nothing is in quarantine any more. */
    public boolean isEmptied() {
        return components.stream().allMatch(outcome -> outcome.refusal() == null);
    }

    /**
     * What became of one.
     *
     * @param file of the component
     * @param whose the index that it is a part of
     * @param cause what it was set aside for
     * @param lost what is out of reach as long as it is not restored
     * @param refusal why it is still in quarantine; null if it is not
     */
    public record Outcome(
            String file,
            String whose,
            String cause,
            String lost,
            @Nullable String refusal) {}
}
