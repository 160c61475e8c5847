package io.turbidite.core.log;

/** When a published record counts as safe; from strong to weak. */
public enum Durability {
    /** When it has been synced: it survives a power cut. Writers share syncs (group commit). */
    SYNC,
    /**
     * As {@link #PROCESS}, and synced every {@link LogOptions#intervalMicros}, which bounds what a
     * power cut can lose.
     */
    INTERVAL,
    /**
     * When the operating system has it: it survives the process, though not a power cut. Synced
     * when the store asks ({@link WriteAheadLog#flush}) and on a clean close.
     */
    PROCESS,
    /**
     * At once: for about a millisecond it lies in memory of the process alone, and a killed process
     * loses it. Synced as under {@link #PROCESS}.
     */
    BUFFERED
}
