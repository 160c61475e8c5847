package io.turbidite.lsm.backup;

import java.util.List;

/**
 * The contents of a restored store.
 *
 * @param timestamp the last operation in it
 * @param components component files, each checked from end to end
 * @param bytes of all of them together
 * @param leftOut names of components in quarantine, which the store lacks: their contents are
 *     missing
 */
public record RestoreReport(long timestamp, int components, long bytes, List<String> leftOut) {
    public RestoreReport {
        leftOut = List.copyOf(leftOut);
    }
}
