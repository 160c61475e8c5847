package io.turbidite.lsm.backup;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The outcome for the components in quarantine.
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
     * The outcome for one component.
     *
     * @param file of the component
     * @param whose the index of the component
     * @param cause why it was set aside
     * @param lost what is out of reach until it is restored
     * @param refusal why it is still in quarantine; null if it is not
     */
    public record Outcome(
            String file,
            String whose,
            String cause,
            String lost,
            @Nullable String refusal) {}
}
