package io.turbidite.lsm.backup;

/** How the component files of a store come into its backup. */
public enum CopyMode {
    /** A hard link if the file system allows it, else a copy. */
    LINK_OR_COPY,
    /** Hard links only: if they are impossible, nothing is done. Costs neither space nor time. */
    LINK,
    /**
     * Copies only: the backup shares no block with the store, so that damage to one spares the
     * other.
     */
    COPY
}
