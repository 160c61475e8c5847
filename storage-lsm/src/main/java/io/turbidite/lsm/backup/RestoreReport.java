package io.turbidite.lsm.backup;

import java.util.List;

/**
 * What was restored.
 *
 * @param timestamp the last operation that is in it
 * @param components component files, each checked from end to end
 * @param bytes of all of them together
 * @param leftOut names of components in quarantine, which are not in it: what they held is missing
 */
public record RestoreReport(long timestamp, int components, long bytes, List<String> leftOut) {
    public RestoreReport {
        leftOut = List.copyOf(leftOut);
    }
}
