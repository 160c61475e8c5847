package io.turbidite.lsm.indexbuild;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.record.RecordView;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.merge.MergeCursor;
import io.turbidite.lsm.merge.VersionRetention;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.sort.Duplicates;
import io.turbidite.lsm.sort.EntrySort;
import io.turbidite.lsm.version.ComponentHandle;

import java.util.ArrayList;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * Lets a region absorb what lies in components of the primary: all versions of a span of
 * timestamps that somebody may read.
 *
 * <ol>
 *   <li>Read the components in one merged pass, so that each record's versions come together: tell
 *       the region of each key, and sort the entries by secondary key and timestamp.
 *   <li>Give it the entries.
 * </ol>
 *
 * <p><em>Confined to one thread.</em>
 */
final class RegionFill {
    private static final Slice NOTHING = Slice.of(new byte[0]);

    /**
     * What an entry takes while it is sorted, if its keys have some twenty bytes each. One that
     * takes more meets the bound sooner, and the sort spills.
     */
    private static final long SORTED_ENTRY_BYTES = 96;

    private final StoreCore core;
    private final DatasetSchema schema;
    private final IndexSchema index;
    private final IndexRegion region;
    private final long memoryBytes;
    private final RecordView record;
    private final EntryKeyList keys = new EntryKeyList();
    private final ByteSink sortKey = new ByteSink(64, 4 * Limits.KEY_BYTES_MAX);
    private final Slice slice = new Slice();
    private final Slice other = new Slice();
    private long entriesRead;

    /** Timestamps of the span are counted from it, in as few bytes as the last one takes. */
    private long above;

    private int timestampBytes;

    RegionFill(
            StoreCore core,
            DatasetSchema schema,
            IndexSchema index,
            IndexRegion region,
            long memoryBytes) {
        this.core = core;
        this.schema = schema;
        this.index = index;
        this.region = region;
        this.memoryBytes = memoryBytes;
        this.record = new RecordView(schema.type());
    }

    /**
     * Absorbs a span.
     *
     * @param components of the primary, newest first; they hold all of the span that is on disk
     * @param above versions at or below it are in the region already
     * @param through the span's last timestamp
     * @param stop asked now and then
     * @throws InvalidRequestException if the current version of a record has a key that is too long
     */
    void run(List<ComponentHandle> components, long above, long through, BooleanSupplier stop) {
        this.above = above;
        // so that the first eight bytes of most keys differ, which are what a sort compares first
        this.timestampBytes = (Long.SIZE - Long.numberOfLeadingZeros(through - above) + 7) / 8;
        VersionRetention readers = core.timestamps().retention(false);
        IndexRegion.Absorption absorption = region.absorb(readers.horizon(), through);
        long lent = borrow(components);
        try (EntrySort sort = EntrySort.create(
                core.sortStorage(), Math.max(memoryBytes, lent), new Duplicates.Keep())) {
            if (!components.isEmpty()) {
                try (EntryStream versions = readers.retain(streams(components))) {
                    read(versions, through, absorption, sort, stop);
                }
            }
            try (EntryStream entries = sort.sorted()) {
                give(entries, absorption, stop);
            }
        } finally {
            core.regions().release(lent);
        }
        absorption.commit(through);
    }

    /**
     * What a sort of the entries takes, of the memory that is there for regions, half of what is
     * free at most: the region's own tables grow meanwhile. 0 if it has no need, or there is none.
     */
    private long borrow(List<ComponentHandle> components) {
        long wanted = 0;
        for (ComponentHandle component : components) {
            wanted += component.component().entryCount() * SORTED_ENTRY_BYTES;
        }
        MemoryBudget.Account regions = core.regions();
        long lent = Math.min(wanted, regions.bytesFree() / 2);
        return wanted > memoryBytes && lent > memoryBytes && regions.reserve(lent) ? lent : 0;
    }

    private static EntryCursor streams(List<ComponentHandle> components) {
        List<EntryCursor> opened = new ArrayList<>();
        try (Undo undo = Undo.of(() -> opened.forEach(EntryCursor::close))) {
            for (ComponentHandle component : components) {
                opened.add(component.component().streamCursor());
            }
            return undo.keep(MergeCursor.of(opened));
        }
    }

    /** Versions of the primary that were read. */
    long entriesRead() {
        return entriesRead;
    }

    private void read(
            EntryStream versions,
            long through,
            IndexRegion.Absorption absorption,
            EntrySort sort,
            BooleanSupplier stop) {
        ByteSink key = new ByteSink(64, Limits.KEY_BYTES_MAX);
        long newest = -1;
        boolean hasEntry = false;
        int entryCount = 0;
        while (versions.next()) {
            if ((++entriesRead & 1_023) == 0 && stop.getAsBoolean()) {
                throw new StoppedException();
            }
            long timestamp = versions.timestamp();
            if (timestamp <= above || timestamp > through) {
                continue;
            }
            boolean isNewest = newest < 0 || !versions.key().contentEquals(key.asSlice(slice));
            if (isNewest) {
                if (newest >= 0) {
                    absorption.version(key.asSlice(slice), newest, hasEntry, entryCount);
                }
                key.clear().putBytes(versions.key());
                newest = timestamp;
                hasEntry = false;
                entryCount = 0;
            }
            if (!versions.isAntimatter() && sort(key, versions, isNewest, sort)) {
                entryCount++;
                hasEntry |= isNewest;
            }
        }
        if (newest >= 0) {
            absorption.version(key.asSlice(slice), newest, hasEntry, entryCount);
        }
    }

    /** Adds the entry of a version; false if its key is too long and nobody needs it any more. */
    private boolean sort(ByteSink primaryKey, EntryStream version, boolean isNewest, EntrySort to) {
        record.wrap(version.value());
        Slice primary = primaryKey.asSlice(slice);
        try {
            index.entryKeys().append(record, primary, keys.clear());
        } catch (InvalidRequestException refused) {
            if (isNewest) {
                throw new InvalidRequestException(
                        "index %s of %s: the record with primary key %s: %s"
                                .formatted(
                                        index.name(),
                                        schema.name(),
                                        schema.primaryKey().decode(primary, 0),
                                        refused.getMessage()),
                        refused);
            }
            return false;
        }
        Slice entry = keys.key(0, other);
        int secondaryBytes = index.entryKeys().secondaryBytes(entry);
        sortKey.clear().putBytes(entry.segment(), entry.offset(), secondaryBytes);
        long timestamp = version.timestamp();
        for (int shift = 8 * (timestampBytes - 1); shift >= 0; shift -= 8) {
            sortKey.putByte((int) ((timestamp - above) >>> shift) & 0xff);
        }
        sortKey.putBytes(primary);
        to.add(sortKey.asSlice(other), timestamp, false, NOTHING);
        return true;
    }

    private void give(
            EntryStream entries, IndexRegion.Absorption absorption, BooleanSupplier stop) {
        Slice secondary = new Slice();
        Slice primary = new Slice();
        long count = 0;
        while (entries.next()) {
            if ((++count & 1_023) == 0 && stop.getAsBoolean()) {
                throw new StoppedException();
            }
            Slice key = entries.key();
            int secondaryBytes = index.entryKeys().secondaryBytes(key);
            secondary.set(key.segment(), key.offset(), secondaryBytes);
            int before = secondaryBytes + timestampBytes;
            primary.set(key.segment(), key.offset() + before, key.length() - before);
            absorption.entry(secondary, primary, entries.timestamp());
        }
    }
}
