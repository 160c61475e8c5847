package io.turbidite.lsm.sort;

import io.turbidite.core.ClosedException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.MergeCursor;

import org.jspecify.annotations.Nullable;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * An external merge sort of entries (key, timestamp, kind, value), within a budget of memory.
 *
 * <pre>{@code
 * try (EntrySort sort = EntrySort.create(site, memoryBytesMax, new Duplicates.Newest())) {
 *     while (...) sort.add(key, timestamp, false, value);
 *     try (EntryStream entries = sort.sorted()) {
 *         while (entries.next()) ...
 *     }
 * }
 * }</pre>
 *
 * <ol>
 *   <li>Entries gather in a {@link SortBuffer}.
 *   <li>When it is full it is sorted and written to a run file, and a new one begins. If nothing was ever
 *       spilled, there are no files.
 *   <li>At the end the runs are merged. If they are more than the budget has read buffers for, some are first
 *       merged into one, the earliest first and the fewest that suffice, so that most entries are written
 *       once.
 * </ol>
 *
 * <p>Memory: {@code memoryBytesMax}, and for each run being read the part of its largest entry that exceeds a
 * chunk. Entries with the same key and timestamp count as one: matter if one is.
 *
 * <p><em>Confined to one thread at a time.</em> Owns its memory and its files; both are gone after {@link
 * #close()}, the files also when the store is opened after a crash.
 */
public final class EntrySort implements AutoCloseable {
    /** One run in memory and three buffers are the least to sort with. */
    private static final int CHUNKS_MIN = 4;

    /** More files open at once would not make merges cheaper. */
    private static final int FAN_IN_MAX = 128;

    private final SortSite site;
    private final Duplicates duplicates;
    private final long memoryBytesMax;
    private final int fanInMax;
    private final Deque<Run> runs = new ArrayDeque<>();
    private final SortBlock.Scratch scratch = new SortBlock.Scratch();
    private @Nullable SortBuffer memory;
    private @Nullable EntryStream sorted;
    private long entryCount;
    private long runCount;
    private long spilledBytes;
    private boolean closed;

    private EntrySort(SortSite site, long memoryBytesMax, Duplicates duplicates) {
        int chunkBytes = site.chunks().chunkBytes();
        this.site = site;
        this.duplicates = duplicates;
        // one chunk is the buffer that a run is written through
        this.memoryBytesMax = Math.max(CHUNKS_MIN, memoryBytesMax / chunkBytes) * chunkBytes;
        this.fanInMax = Math.clamp(this.memoryBytesMax / chunkBytes - 1, 2, FAN_IN_MAX);
        this.memory = new SortBuffer(site.chunks(), scratch);
    }

    /**
     * A sort without entries.
     *
     * @param memoryBytesMax rounded down to whole chunks of the site, and up to four of them
     */
    public static EntrySort create(SortSite site, long memoryBytesMax, Duplicates duplicates) {
        return new EntrySort(site, memoryBytesMax, duplicates);
    }

    /**
     * Adds an entry; the bytes are copied.
     *
     * @throws InvalidRequestException if key or value are longer than the limits; or whatever {@link
     *     Duplicates.Refuse} makes of a key that came twice, not always at once
     * @throws io.turbidite.core.StorageIoException if memory was full and could not be spilled: the entry was
     *     not added, all others are still there
     */
    public void add(Slice key, long timestamp, boolean antimatter, Slice value) {
        SortBuffer target = filling();
        check(key, timestamp, value);
        // one chunk is left for the buffer that a run is written through
        long bytesMax = memoryBytesMax - site.chunks().chunkBytes();
        if (!target.isEmpty() && !target.fits(RunEntry.bytes(key, value), bytesMax)) {
            spill(target);
            target = filling();
        }
        target.add(key, RunEntry.version(timestamp, antimatter), value);
        entryCount++;
    }

    private static void check(Slice key, long timestamp, Slice value) {
        if (key.length() > RunFormat.KEY_BYTES_MAX || value.length() > Limits.RECORD_BYTES_MAX) {
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
        return runCount;
    }

    /** Bytes written to run files. */
    public long spilledBytes() {
        return spilledBytes;
    }

    /**
     * The entries in order; nothing can be added any more. May be asked for again after a failure, and after
     * the stream before was closed.
     */
    public EntryStream sorted() {
        checkOpen();
        if (sorted != null) {
            sorted.close();
        }
        SortBuffer left = memory;
        if (runs.isEmpty() && left != null) {
            sorted = reconciled(left.cursor());
            return sorted;
        }
        if (left != null) {
            if (!left.isEmpty()) {
                spill(left);
            }
            freeMemory();
        }
        while (runs.size() > fanInMax) {
            mergeSome(Math.min(fanInMax, runs.size() - fanInMax + 1));
        }
        sorted = reconciled(merged(runs));
        return sorted;
    }

    /** Writes what is in memory to a run, and begins anew. */
    private void spill(SortBuffer full) {
        try (EntryStream entries = reconciled(full.cursor())) {
            runs.addLast(write(entries));
        }
        full.close();
    }

    /** Merges the first runs into one, which goes last: so runs of about the same size meet. */
    private void mergeSome(int count) {
        List<Run> inputs = runs.stream().limit(count).toList();
        try (EntryStream entries = reconciled(merged(inputs))) {
            runs.addLast(write(entries));
        }
        for (Run input : inputs) {
            runs.remove(input);
            input.delete(site.disk());
        }
    }

    private Run write(EntryStream entries) {
        try (RunWriter writer = RunWriter.create(site)) {
            while (entries.next()) {
                writer.add(entries);
            }
            Run run = writer.finish();
            runCount++;
            spilledBytes += run.bytes();
            site.spilledBytes().add(run.bytes());
            return run;
        }
    }

    private EntryCursor merged(Iterable<Run> inputs) {
        List<EntryCursor> cursors = new ArrayList<>();
        boolean complete = false;
        try {
            for (Run run : inputs) {
                cursors.add(RunCursor.open(site, run));
            }
            complete = true;
            return MergeCursor.of(cursors);
        } finally {
            if (!complete) {
                cursors.forEach(EntryCursor::close);
            }
        }
    }

    private EntryStream reconciled(EntryStream entries) {
        return new ReconciledStream(entries, duplicates);
    }

    private SortBuffer filling() {
        checkOpen();
        SortBuffer current = memory;
        if (current == null || sorted != null) {
            throw new IllegalStateException("the entries are being read already");
        }
        return current;
    }

    private void checkOpen() {
        if (closed) {
            throw new ClosedException("the sort");
        }
    }

    private void freeMemory() {
        SortBuffer freed = memory;
        memory = null;
        if (freed != null) {
            freed.close();
        }
    }

    /** Lets memory and files go; a stream that is still open ends. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (sorted != null) {
            sorted.close();
        }
        freeMemory();
        runs.forEach(run -> run.delete(site.disk()));
        runs.clear();
    }
}
