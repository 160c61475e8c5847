package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.Limits;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.schema.RepairCounts;
import io.turbidite.lsm.schema.RepairOptions;
import io.turbidite.lsm.sort.Duplicates;
import io.turbidite.lsm.sort.EntrySort;
import io.turbidite.lsm.sort.SortStorage;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapBuilder;
import io.turbidite.lsm.version.ComponentHandle;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.List;

/**
 * Finds which entries of one component of a secondary index are invalid (LUO19 §4.4, Figure 7):
 *
 * <ol>
 *   <li>Entries come in the order of their ordinals, from a scan of the component or while a merge
 *       writes it. Those that nothing newer can have superseded, at or below the reach, are passed
 *       over. Those whose timestamps are no longer live are invalid ({@link LiveTimestamps}), those
 *       whose keys the Bloom filters of newer components do not know are not.
 *   <li>The others' primary keys, with ordinals and timestamps, are streamed to a sorter.
 *   <li>In the order of primary keys each is looked up in the key trees, or these are read beside
 *       it where they have few keys more than there are to check.
 *   <li>An entry is invalid unless the newest version at or below the reach is its own; if there is
 *       none, unless an older component, which was not searched, covers its timestamp. Its bit is
 *       set.
 * </ol>
 *
 * <p>Several source components may be checked to different timestamps, as those of a merge are. All
 * trees newer than the least of these are searched: that more than necessary is searched harms no
 * answer.
 *
 * <p><em>Confined to one thread at a time.</em> Owns its sort; the key trees are the caller's.
 */
public final class InvalidEntrySearch implements AutoCloseable {
    private final KeyTrees keyTrees;
    private final long reach;
    private final long checkedMin;
    private final RepairOptions options;
    private final @Nullable LiveTimestamps live;
    private final ValidityBitmapBuilder invalidEntries;
    private final EntrySort sort;
    private final MemorySegment timestampBytes = NativeMemory.unowned(Long.BYTES, Long.BYTES);
    private final Slice timestampSlice = new Slice().set(timestampBytes, 0, Long.BYTES);
    private final Found found = new Found(Limits.KEY_BYTES_MAX);

    /** Of the component that the last entry came from. */
    private @Nullable BloomShortcut shortcut;

    private @Nullable EntryStream candidates;
    private @Nullable TimestampLookup lookup;
    private long checkedCount;
    private long sparedCount;
    private long searchedCount;
    private long markedCount;

    /**
     * A search for entries of one component.
     *
     * @param checkedMin the smallest of what the sources are checked to
     * @param live gathered from these key trees; null without
     * @param invalidEntries what is found is marked there
     */
    public InvalidEntrySearch(
            KeyTrees keyTrees,
            long checkedMin,
            SortStorage storage,
            RepairOptions options,
            @Nullable LiveTimestamps live,
            ValidityBitmapBuilder invalidEntries) {
        this.keyTrees = keyTrees;
        this.live = live;
        this.reach = keyTrees.reach();
        this.checkedMin = checkedMin;
        this.options = options;
        this.invalidEntries = invalidEntries;
        // (primary key, ordinal) is unique, unlike (primary key, timestamp): a record may have many
        // entries
        this.sort = EntrySort.create(storage, options.sortBytesMax(), new Duplicates.Keep());
    }

    /**
     * Takes an entry that is matter.
     *
     * @param checkedUntil how far the component that it comes from is checked
     */
    public void add(Slice primaryKey, long timestamp, long ordinal, long checkedUntil) {
        checkedCount++;
        if (timestamp >= reach || checkedUntil >= reach) {
            return; // a successor would be above the reach, or would be known
        }
        if (live != null && !live.mayBeValid(timestamp)) {
            sparedCount++;
            mark(ordinal);
            return;
        }
        BloomShortcut source = shortcut;
        if (source == null || source.checkedUntil != checkedUntil) {
            source = new BloomShortcut(keyTrees, checkedUntil, options.shortcuts());
            shortcut = source;
        }
        if (source.helps() && !source.mayHaveSuccessor(BloomFilter.hash(primaryKey))) {
            sparedCount++;
            if (!keyTrees.isCoveredUpTo(checkedUntil, timestamp)) {
                mark(ordinal);
            }
            return;
        }
        timestampBytes.set(Bytes.I64, 0, timestamp);
        sort.add(primaryKey, ordinal, false, timestampSlice);
    }

    private void mark(long ordinal) {
        invalidEntries.mark(ordinal);
        markedCount++;
    }

    /**
     * Checks some of the entries that were added; none can be added any more.
     *
     * @return whether all are checked
     */
    public boolean advance(long entriesMax) {
        EntryStream sorted = candidates;
        TimestampLookup keys = lookup;
        if (sorted == null || keys == null) {
            if (sort.entryCount() == 0) {
                return true;
            }
            sorted = sort.sorted();
            candidates = sorted;
            keys = openLookup();
            lookup = keys;
        }
        for (long i = 0; i < entriesMax; i++) {
            if (!sorted.next()) {
                return true;
            }
            searchedCount++;
            check(keys, sorted);
        }
        return false;
    }

    private TimestampLookup openLookup() {
        List<ComponentHandle> searched = keyTrees.newerThan(checkedMin);
        long keys = searched.stream()
                .mapToLong(handle -> handle.component().entryCount())
                .sum();
        return keys <= options.scanRatio() * sort.entryCount()
                ? new ScanLookup(searched, reach)
                : new PointLookup(searched, reach);
    }

    private void check(TimestampLookup keys, EntryStream candidate) {
        Slice value = candidate.value();
        long timestamp = value.segment().get(Bytes.I64, value.offset());
        int code = keys.find(candidate.key(), found);
        boolean isValid = code == Found.ABSENT
                ? keyTrees.isCoveredUpTo(checkedMin, timestamp)
                : code == Found.MATTER && found.timestamp == timestamp;
        if (!isValid) {
            mark(candidate.timestamp());
        }
    }

    /** What was done so far; neither components nor time. */
    public RepairCounts counts() {
        long pages = lookup == null ? 0 : lookup.pageCount();
        return new RepairCounts(0, checkedCount, sparedCount, searchedCount, markedCount, pages, 0);
    }

    @Override
    public void close() {
        if (lookup != null) {
            lookup.close();
        }
        if (candidates != null) {
            candidates.close();
        }
        sort.close();
    }
}
