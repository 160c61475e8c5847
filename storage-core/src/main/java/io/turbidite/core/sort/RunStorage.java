package io.turbidite.core.sort;

import io.turbidite.core.file.Disk;

import java.lang.foreign.MemorySegment;

/** Where the runs of a sort lie, and what they are read and written through. */
public interface RunStorage {
    Disk disk();

    /** Stands in the runs' headers. */
    long ownerId();

    /** The number of the next run, which no other file of the owner has or had. */
    long newNumber();

    /**
     * The name of the run's file. Where there is such a file already, the next number is asked for.
     */
    String nameOf(long number);

    /**
     * Bytes of a block, unless it holds one larger entry. Each run that is read has one in memory.
     */
    int blockBytes();

    /** A piece of memory to read or write a block. */
    MemorySegment takeBuffer(long bytesMin);

    /** Takes back what {@link #takeBuffer} handed out. */
    void giveBuffer(MemorySegment buffer);

    /** Told of each run that was written. */
    void written(long bytes);
}
