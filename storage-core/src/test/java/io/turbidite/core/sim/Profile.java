package io.turbidite.core.sim;

/** How much of what was not synced a power cut may leave on a {@link SimDisk}. */
public enum Profile {
    /**
     * Only what was synced: content and size as of the last file sync, names as of the last
     * directory sync. Finds every sync that is missing.
     */
    STRICT,

    /**
     * As ext4 with ordered data and delayed allocation does it. Names and deletions survive up to
     * some moment, in the order they happened, over all directories; a file sync takes all earlier
     * ones along. Content survives in whole 4 KiB pages; a file that grew has no hole where it
     * grew. Finds what relies on things being lost, or on content being there before its name.
     */
    EXT4_LIKE,

    /**
     * Any subset in any order: each sector of 512 bytes, each name and each deletion on its own; a
     * file that grew may have holes, zeros or another file's old bytes where its data should be; of
     * several unsynced writes to one sector any may have come through.
     */
    ADVERSARIAL
}
