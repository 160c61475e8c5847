package io.turbidite.core.sim;

/**
 * One durable step that is about to be taken.
 *
 * @param index counts the durable steps of this disk from 0
 * @param kind what it is
 * @param name of the file or directory; of the new name for a rename
 * @param offset in the file, or the new size of a truncation, otherwise 0
 * @param byteCount of a write, otherwise 0
 */
public record Operation(long index, OperationKind kind, String name, long offset, int byteCount) {}
