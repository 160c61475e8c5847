package io.turbidite.lsm.backup;

/**
 * What was restored.
 *
 * @param timestamp the last operation that is in it
 * @param components component files, each checked from end to end
 * @param bytes of all of them together
 */
public record RestoreReport(long timestamp, int components, long bytes) {}
