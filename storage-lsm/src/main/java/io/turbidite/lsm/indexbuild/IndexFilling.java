package io.turbidite.lsm.indexbuild;

import java.util.function.BooleanSupplier;

/**
 * How the old part of one partition's share of a new index is made: as components or as a region.
 * <em>Confined to one thread at a time.</em>
 */
public sealed interface IndexFilling permits PartitionBuild, RegionBuild {
    /**
     * Holds the components of the primary to build from.
     *
     * @return false if one of them is being merged: try again when that is over
     * @throws io.turbidite.core.QuarantinedException if one of them is set aside
     */
    boolean tryHold();

    /**
     * Reads on.
     *
     * @param entryCount how many entries of the primary
     * @return false when all are read
     */
    boolean read(int entryCount);

    /**
     * Writes all that was read and makes it durable.
     *
     * @param stop asked now and then; if it says so, the work is left where it is
     */
    void complete(BooleanSupplier stop);

    /** Puts what was built under what the partition has of the index. */
    void install();

    /** Entries of the primary read so far. */
    long entriesRead();

    /** Entries of the primary to be read; 0 until they are held. */
    long entriesTotal();

    /** Lets everything go; what was not installed is deleted. */
    void close(boolean installed);
}
