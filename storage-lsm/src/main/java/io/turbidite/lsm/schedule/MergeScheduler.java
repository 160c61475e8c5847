package io.turbidite.lsm.schedule;

import io.turbidite.core.InvalidRequestException;

import java.util.Arrays;
import java.util.Locale;

/** How merges that are under way share workers and the I/O budget. */
public enum MergeScheduler {
    /**
     * Each in turn for a step of the same size, so that all get the same share. No more merges are
     * under way than there are workers.
     */
    FAIR,

    /**
     * The one with the least left to do goes on, the others pause: of all orders this one has the
     * fewest components waiting at any time, for the reason that the shortest job goes first in a
     * queue (Luo and Carey, On Performance Stability in LSM-based Storage Systems, PVLDB 13(4),
     * §4.2). A small merge overtakes a large one that is half done.
     */
    GREEDY;

    /** As it is written in definitions. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /**
     * The scheduler of that label.
     *
     * @throws InvalidRequestException listing those there are
     */
    public static MergeScheduler of(String label) {
        for (MergeScheduler scheduler : values()) {
            if (scheduler.label().equals(label)) {
                return scheduler;
            }
        }
        throw new InvalidRequestException("there is no merge scheduler '%s' (there are %s)"
                .formatted(
                        label,
                        String.join(
                                ", ",
                                Arrays.stream(values())
                                        .map(MergeScheduler::label)
                                        .toList())));
    }
}
