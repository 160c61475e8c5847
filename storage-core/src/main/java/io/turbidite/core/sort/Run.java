package io.turbidite.core.sort;

/**
 * A run file that was written to its end. Immutable.
 *
 * @param number that is its file's alone
 * @param name of the file
 * @param blockCount blocks in it
 * @param blockBytesMax bytes of the largest block
 * @param bytes of the file
 * @param sharedBytes as {@link SortedInput#sharedBytes}
 */
record Run(
        long number, String name, int blockCount, int blockBytesMax, long bytes, int sharedBytes) {}
