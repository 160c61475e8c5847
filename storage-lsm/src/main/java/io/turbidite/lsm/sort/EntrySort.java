package io.turbidite.lsm.sort;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortBuffer;
import io.turbidite.core.sort.SortRuns;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.core.sort.SortedMerge;
import io.turbidite.lsm.entry.EntryStream;

import org.jspecify.annotations.Nullable;

/**
 * An external merge sort of entries (key, timestamp, kind, value), within a budget of memory.
 *
 * <pre>{@code
 * try (EntrySort sort = EntrySort.create(storage, memoryBytesMax, new Duplicates.Newest())) {
 *     while (...) sort.add(key, timestamp, false, value);
 *     try (EntryStream entries = sort.sorted()) {
 *         while (entries.next()) ...
 *     }
 * }
 * }</pre>
 *
 * <ol>
 *   <li>Entries gather in a {@link SortBuffer}.
 *   <li>When it is full it is sorted and written to a run file, and a new one begins. If nothing
 *       was ever spilled, there are no files.
 *   <li>At the end the runs are merged. If they are more than the budget has read buffers for, some
 *       are first merged into one, the earliest first and the fewest that suffice, so that most
 *       entries are written once.
 * </ol>
 *
 * <p>Memory: {@code memoryBytesMax}, and for each run being read the part of its largest entry that
 * exceeds a chunk. Entries with the same key and timestamp count as one: matter if one is.
 *
 * <p><em>Confined to one thread at a time.</em> Owns its memory and its files; both are gone after
 * {@link #close()}, the files also when the store is opened after a crash.
 */
public final class EntrySort implements AutoCloseable {
    /** One run in memory and three buffers are the least to sort with. */
    private static final int CHUNKS_MIN = 4;

    /** The longest key that can be sorted. */
    static final int KEY_BYTES_MAX = (1 << 14) - 1;

    private final Duplicates duplicates;
    private final SortRuns runs;
    private final SortBuffer memory;
    private @Nullable ReconciledStream sorted;
    private long entryCount;
    private boolean closed;

    private EntrySort(SortStorage storage, long memoryBytesMax, Duplicates duplicates) {
        int chunkBytes = storage.chunks().chunkBytes();
        // one chunk is the buffer that a run is written through
        long bytesMax =
                Math.max(CHUNKS_MIN - 1, memoryBytesMax / chunkBytes - 1) * (long) chunkBytes;
        this.duplicates = duplicates;
        this.runs = new SortRuns(storage, bytesMax, this::reconciled);
        this.memory = new SortBuffer(storage.memory(bytesMax));
    }

    /**
     * A sort without entries.
     *
     * @param memoryBytesMax rounded down to whole chunks of the storage, and up to four of them
     */
    public static EntrySort create(
            SortStorage storage, long memoryBytesMax, Duplicates duplicates) {
        return new EntrySort(storage, memoryBytesMax, duplicates);
    }

    /**
     * Adds an entry; the bytes are copied.
     *
     * @throws InvalidRequestException if key or value are longer than the limits; or whatever
     *     {@link Duplicates.Refuse} makes of a key that came twice, not always at once
     * @throws io.turbidite.core.StorageIoException if memory was full and could not be spilled: the
     *     entry was not added, all others are still there
     */
    public void add(Slice key, long timestamp, boolean antimatter, Slice value) {
        checkOpen();
        if (sorted != null) {
            throw new IllegalStateException("the entries are being read already");
        }
        check(key, timestamp, value);
        long number = ReconciledStream.number(timestamp, antimatter);
        if (memory.add(key, number, value) == SortBuffer.FULL) {
            spill();
            long address = memory.add(key, number, value);
            assert address != SortBuffer.FULL : "there is memory for one entry";
        }
        entryCount++;
    }

    private static void check(Slice key, long timestamp, Slice value) {
        if (key.length() > KEY_BYTES_MAX || value.length() > Limits.RECORD_BYTES_MAX) {
            throw new InvalidRequestException("a key of %d bytes with a value of %d is too large"
                    .formatted(key.length(), value.length()));
        }
        if (timestamp < 0 || timestamp > Limits.TIMESTAMP_MAX) {
            throw new IllegalArgumentException("timestamp " + timestamp);
        }
    }

    /** Entries added, duplicates too. */
    public long entryCount() {
        return entryCount;
    }

    /** Run files written, those of intermediate merges too. */
    public long runCount() {
        return runs.runCount();
    }

    /** Bytes written to run files. */
    public long spilledBytes() {
        return runs.writtenBytes();
    }

    /**
     * The entries in order; nothing can be added any more. May be asked for again after a failure,
     * and after the stream before was closed.
     */
    public EntryStream sorted() {
        checkOpen();
        if (sorted != null) {
            sorted.close();
        }
        if (!runs.isEmpty() && memory.count() > 0) {
            spill();
        }
        sorted = reconciled(runs.isEmpty() ? memory.sorted() : SortedMerge.of(runs.inputs()));
        return sorted;
    }

    /** Writes what is in memory to a run, and begins anew. */
    private void spill() {
        try (SortedInput entries = reconciled(memory.sorted())) {
            runs.add(entries, Long.MAX_VALUE);
        }
        memory.clear();
    }

    private ReconciledStream reconciled(SortedInput entries) {
        return new ReconciledStream(entries, duplicates);
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the sort");
        }
    }

    /** Lets memory and files go; a stream that is still open ends. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        memory.close();
        if (sorted != null) {
            sorted.close();
        }
        try {
            runs.close();
        } catch (StorageIoException left) {
            // nobody will read the files, and they go when the store opens next
        }
    }
}
