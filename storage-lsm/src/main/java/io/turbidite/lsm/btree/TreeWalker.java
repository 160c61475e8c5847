package io.turbidite.lsm.btree;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Walks over all entries of a tree for the verifier: believes nothing, checks every claim that
 * pages and fences make of one another, and goes on behind a damaged page.
 *
 * <p><em>Confined to one thread at a time.</em> Owns the pages.
 */
public final class TreeWalker implements AutoCloseable {
    /** Room for the longest key, and for the eight bytes that a head is copied in. */
    private static final long KEY_ROOM_BYTES = Limits.KEY_BYTES_MAX + (long) Heads.BYTES;

    private final Fences fences;
    private final LeafPages pages;
    private final Findings findings;
    private final Leaf leaf = new Leaf();
    private int page = -1;
    private int index = -1;

    private MemorySegment keyBytes = NativeMemory.unowned(KEY_ROOM_BYTES, 8);
    private final Slice key = new Slice();
    private long timestamp;

    private MemorySegment lastKeyBytes = NativeMemory.unowned(KEY_ROOM_BYTES, 8);
    private final Slice lastKey = new Slice();
    private long lastTimestamp;

    /** Whether the walker stands on an entry. */
    private boolean onEntry;

    /** Whether {@link #lastKey} is that of the entry just before: not behind a damaged page. */
    private boolean hasLast;

    /**
     * @param findings told of everything that is wrong
     */
    public TreeWalker(Fences fences, LeafPages pages, Findings findings) {
        this.fences = fences;
        this.pages = pages;
        this.findings = findings;
    }

    /** Moves to the next entry that can be read; false at the end. */
    public boolean next() {
        keepLast();
        while (index + 1 < leaf.count() || nextPage()) {
            index++;
            String problem = readEntry();
            if (problem == null) {
                onEntry = true;
                return true;
            }
            findings.problem(page, "entry %d: %s".formatted(index, problem));
            leavePage();
        }
        return false;
    }

    public long ordinal() {
        return leaf.firstOrdinal() + index;
    }

    public Slice key() {
        return key;
    }

    public long timestamp() {
        return timestamp;
    }

    public boolean isAntimatter() {
        return leaf.isAntimatter(index);
    }

    /** Whether this is the first entry of its key, or of those that could be read. */
    public boolean isNewKey() {
        return !hasLast || !key.contentEquals(lastKey);
    }

    /** Moves {@code slice} to the value. */
    public Slice value(Slice slice) {
        return leaf.value(index, slice);
    }

    @Override
    public void close() {
        leavePage();
        pages.close();
    }

    /** Stands before the first entry of the next page that can be read. */
    private boolean nextPage() {
        while (page + 1 < fences.pageCount()) {
            page++;
            index = -1;
            leaf.clear();
            try {
                leaf.wrap(pages.page(page));
            } catch (CorruptionException e) {
                findings.damage(e);
                leavePage();
                continue;
            }
            String problem = leaf.entriesProblem(keyBytes);
            if (problem == null) {
                return true;
            }
            findings.problem(page, problem);
            leavePage();
        }
        return false;
    }

    private void leavePage() {
        leaf.clear();
        index = -1;
        onEntry = false;
        hasLast = false;
    }

    private void keepLast() {
        if (!onEntry) {
            return;
        }
        MemorySegment swapped = lastKeyBytes;
        lastKeyBytes = keyBytes;
        keyBytes = swapped;
        lastKey.set(key);
        lastTimestamp = timestamp;
        hasLast = true;
        onEntry = false;
    }

    private @Nullable String readEntry() {
        if (leaf.keyBytes(index) > Limits.KEY_BYTES_MAX) {
            return "key of %d bytes".formatted(leaf.keyBytes(index));
        }
        key.set(keyBytes, 0, leaf.copyKey(index, keyBytes, true));
        timestamp = leaf.timestamp(index);
        if (timestamp < 0 || timestamp > Limits.TIMESTAMP_MAX) {
            return "timestamp %d".formatted(timestamp);
        }
        if (hasLast) {
            int order = lastKey.compareBytes(key);
            if (order > 0 || (order == 0 && timestamp >= lastTimestamp)) {
                return "%s at %d comes behind %s at %d"
                        .formatted(key, timestamp, lastKey, lastTimestamp);
            }
        }
        if (index == 0 && page > 0) {
            return fenceProblem();
        }
        return null;
    }

    /** A fence is above what comes before it, and at or below what comes behind. */
    private @Nullable String fenceProblem() {
        if (fences.isBehind(page, key, timestamp)) {
            return "%s at %d is below the page's fence".formatted(key, timestamp);
        }
        if (hasLast && !fences.isBehind(page, lastKey, lastTimestamp)) {
            return "the page's fence is not above %s at %d".formatted(lastKey, lastTimestamp);
        }
        return null;
    }

    /** Who is told. */
    public interface Findings {
        /** A page can't be read. */
        void damage(CorruptionException damage);

        /** A page can be read, and says what can't be. */
        void problem(int page, String problem);
    }
}
