package io.turbidite.core.log;

/** When a published record counts as safe. */
public enum Durability {
    /** When it has been synced: survives a power cut once acknowledged. Writers share syncs (group commit). */
    SYNC,
    /** At once; synced every {@link LogOptions#intervalMicros}, which bounds what a power cut can lose. */
    INTERVAL,
    /** At once; synced only when the store asks ({@link WriteAheadLog#flush}) and on a clean close. */
    NONE
}
