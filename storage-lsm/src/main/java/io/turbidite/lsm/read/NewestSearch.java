package io.turbidite.lsm.read;

import io.turbidite.core.ClosedException;
import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.index.IndexRegion;
import io.turbidite.core.index.IndexRegion.Moment;
import io.turbidite.core.index.RegionEntries;
import io.turbidite.core.memory.Pool;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexEntries;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.SearchWork;
import io.turbidite.core.sort.KeySort;
import io.turbidite.lsm.entry.EntryCursor;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.ViewState;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.MemoryLayer;
import io.turbidite.lsm.version.RegionHandle;
import io.turbidite.lsm.version.RegionLayer;
import io.turbidite.lsm.version.Version;

import org.jspecify.annotations.Nullable;

import java.util.Arrays;
import java.util.function.IntBinaryOperator;

/**
 * The entries of one secondary key in an index with a region, the newest first. They come in pages:
 *
 * <ol>
 *   <li>Take the entries of the key from the memory layers, which are newer than the region's.
 *   <li>If these are fewer than are wanted, ask the region for as many as are missing.
 *   <li>Sort; a page ends where a timestamp ends, so that entries of one batch are in one page.
 * </ol>
 *
 * <p>A version is pinned for a page alone. The next page goes on below the last timestamp, whatever
 * was flushed or absorbed meanwhile. Each page is at least four times as large as the one before.
 *
 * <p><em>Confined to one thread</em>, except {@link #close}, which waits for the running call.
 */
final class NewestSearch implements IndexCursor {
    private static final int FIRST_PAGE = 4;
    private static final int PAGE_GROWTH = 4;
    private static final int PAGE_MAX = 1 << 20;

    /** Pages of searches that were closed. */
    private static final Pool<Page> PAGES = new Pool<>(Page::new);

    /** A page with more room than for so many entries, or so many bytes of keys, is not kept. */
    private static final int KEPT_COUNT_MAX = 1 << 13;

    private static final int KEPT_BYTES_MAX = 512 << 10;

    private final Partition partition;
    private final IndexSchema index;
    private final ViewState view;
    private final TreeId tree;
    private final Slice secondaryKey = new Slice();
    private final Slice primaryKey = new Slice();
    private final LayerCount layers = new LayerCount();
    private @Nullable Page page = PAGES.take().clear();
    private int pageWanted = FIRST_PAGE;

    /** The entry of the page that it stands on, and how many moves over it were made at once. */
    private int at = -1;

    private int moved;
    private boolean isLastPage;

    /** Entries at or above it were shown. */
    private long below;

    private @Nullable RegionHandle handle;
    private IndexRegion.@Nullable Reader reader;
    private IndexRegion.Work workOfEnded = IndexRegion.Work.NONE;
    private long entryCount;

    NewestSearch(
            Partition partition, IndexSchema index, ViewState view, IndexSearch.Newest search) {
        this.partition = partition;
        this.index = index;
        this.view = view;
        this.tree = index.tree();
        this.secondaryKey.set(search.secondaryKey());
        this.below = view.timestamp() + 1;
        if (!index.maintenance().isValidWhenFound()) {
            view.searching(index.id(), false);
        }
    }

    /** Entries of one key. <em>Confined to one thread.</em> */
    static final class Page {
        private final ByteSink keys = new ByteSink(512, Integer.MAX_VALUE - 8);
        private long[] timestamps = new long[32];
        private long[] checked = new long[32];
        private int[] ends = new int[32];
        private int count;

        /** Timestamps as they are sorted, and the places of their entries. */
        private long[] order = new long[32];

        private int[] sorted = new int[32];
        private final KeySort sort = new KeySort();
        private final IntBinaryOperator compareKeys = this::compareKeys;
        private final RegionEntries ofRegion = new RegionEntries();
        private final ByteSink secondaryKey = new ByteSink(64, Integer.MAX_VALUE - 8);
        private final Slice ofEntry = new Slice();
        private Moment moment = new Moment(-1, -1);
        private final Slice left = new Slice();
        private final Slice right = new Slice();

        /** What was of the region went through the page: it has no more room than that. */
        boolean isSmall() {
            return timestamps.length <= KEPT_COUNT_MAX
                    && keys.segment().byteSize() <= KEPT_BYTES_MAX;
        }

        Page clear() {
            keys.clear();
            count = 0;
            return this;
        }

        Moment moment(long snapshot, long through) {
            if (moment.snapshot() != snapshot || moment.through() != through) {
                moment = new Moment(snapshot, through);
            }
            return moment;
        }

        void add(Slice primaryKey, long timestamp, long checkedUntil) {
            if (count == timestamps.length) {
                timestamps = Arrays.copyOf(timestamps, 2 * count);
                checked = Arrays.copyOf(checked, 2 * count);
                ends = Arrays.copyOf(ends, 2 * count);
            }
            timestamps[count] = timestamp;
            checked[count] = checkedUntil;
            ends[count++] = keys.putBytes(primaryKey).length();
        }

        private Slice key(int place, Slice target) {
            int from = place == 0 ? 0 : ends[place - 1];
            return target.set(keys.segment(), from, ends[place] - from);
        }

        private int compareKeys(int a, int b) {
            return key(a, left).compareBytes(key(b, right));
        }

        /** Puts the entries into order. */
        void sort() {
            if (order.length < count) {
                order = new long[timestamps.length];
                sorted = new int[timestamps.length];
            }
            for (int i = 0; i < count; i++) {
                order[i] = -timestamps[i];
                sorted[i] = i;
            }
            sort.sort(order, sorted, count, compareKeys);
        }

        long timestamp(int rank) {
            return timestamps[sorted[rank]];
        }

        /** Keeps the first few and those that have the timestamp of the last of them. */
        void cut(int wanted) {
            int kept = Math.min(wanted, count);
            while (kept < count && timestamp(kept) == timestamp(kept - 1)) {
                kept++;
            }
            count = kept;
        }

        /** Keeps those at or above a timestamp. */
        void cutBelow(long timestamp) {
            while (count > 0 && timestamp(count - 1) < timestamp) {
                count--;
            }
        }
    }

    private Page page() {
        Page open = page;
        if (open == null) {
            view.checkOpen();
            throw new ClosedException("the cursor");
        }
        return open;
    }

    @Override
    public synchronized boolean restart(Slice otherKey) {
        view.checkOpen();
        Page entries = page();
        partition.work().searched(index.id(), 1, entryCount);
        entryCount = 0;
        entries.secondaryKey.clear().putBytes(otherKey).asSlice(secondaryKey);
        entries.clear();
        at = -1;
        moved = 0;
        pageWanted = FIRST_PAGE;
        isLastPage = false;
        below = view.timestamp() + 1;
        return true;
    }

    @Override
    public boolean next() {
        return nextEntries(1) > 0;
    }

    @Override
    public synchronized int nextEntries(int countMax) {
        view.checkOpen();
        Page entries = page();
        while (at + 1 >= entries.count) {
            if (isLastPage) {
                at = entries.count;
                moved = 0;
                return 0;
            }
            pageWanted = Math.max(pageWanted, Math.min(countMax, PAGE_MAX));
            at = -1;
            entries.clear();
            fill(entries);
            pageWanted = Math.min(PAGE_MAX, pageWanted * PAGE_GROWTH);
        }
        moved = Math.min(countMax, entries.count - at - 1);
        at += moved;
        entryCount += moved;
        return moved;
    }

    private void fill(Page entries) {
        Version version = partition.pin();
        try {
            RegionLayer region = version.region(tree);
            if (region == null) {
                throw SnapshotCursor.goneIndex(version.schema());
            }
            RegionCursor.requireSound(region, index);
            addMemory(entries, version);
            entries.sort();
            if (entries.count >= pageWanted
                    && entries.timestamp(pageWanted - 1) > region.through()) {
                entries.cut(pageWanted);
                below = entries.timestamp(entries.count - 1);
            } else {
                addRegion(entries, region);
            }
        } finally {
            version.unpin();
        }
    }

    /** Costs nothing where no memory layer has entries of the index. */
    private void addMemory(Page entries, Version version) {
        MemoryLayer frozen = version.frozen();
        if (hasEntries(version.current()) || (frozen != null && hasEntries(frozen))) {
            addOfMemory(entries, version);
        }
        layers.end(partition, tree, FilterPredicate.none());
    }

    private boolean hasEntries(MemoryLayer layer) {
        return layer.hasTree(tree) && layer.tree(tree).entryCount() > 0;
    }

    private void addOfMemory(Page entries, Version version) {
        ScanBounds bounds = new ScanBounds(KeyRange.all(), FilterPredicate.none());
        MergedLayers merged = new MergedLayers(version, tree, bounds, view.timestamp(), layers);
        int secondaryBytes = secondaryKey.length();
        Slice ofEntry = entries.ofEntry;
        try (EntryCursor cursor = merged.inMemory()) {
            cursor.seek(secondaryKey);
            while (cursor.next()) {
                Slice key = cursor.key();
                boolean isOfKey = key.length() >= secondaryBytes
                        && ofEntry.set(key.segment(), key.offset(), secondaryBytes)
                                .contentEquals(secondaryKey);
                if (!isOfKey) {
                    break;
                }
                if (cursor.timestamp() < below) {
                    ofEntry.set(
                            key.segment(),
                            key.offset() + secondaryBytes,
                            key.length() - secondaryBytes);
                    entries.add(ofEntry, cursor.timestamp(), cursor.checkedUntil());
                }
            }
        }
    }

    private void addRegion(Page entries, RegionLayer region) {
        RegionEntries found = entries.ofRegion;
        Moment moment = entries.moment(view.timestamp(), region.through());
        boolean isMore;
        try {
            isMore = reader(region)
                    .newest(
                            secondaryKey,
                            moment,
                            below,
                            Math.max(1, pageWanted - entries.count),
                            found);
        } catch (CorruptionException | StorageIoException | InternalError damage) {
            throw region.handle().failSearch(damage);
        }
        Slice ofEntry = entries.ofEntry;
        for (int i = 0; i < found.count(); i++) {
            entries.add(
                    found.primaryKey(i, ofEntry),
                    found.timestamp(i),
                    found.isChecked(i) ? region.through() : 0);
        }
        entries.sort();
        isLastPage = !isMore;
        if (isMore) {
            below = found.timestamp(found.count() - 1);
            entries.cutBelow(below);
        }
    }

    private IndexRegion.Reader reader(RegionLayer region) {
        IndexRegion.Reader open = reader;
        if (open == null || region.handle() != handle) {
            closeReader();
            open = region.handle().region().reader();
            reader = open;
            handle = region.handle();
        }
        return open;
    }

    private void closeReader() {
        IndexRegion.Reader open = reader;
        if (open != null) {
            reader = null;
            IndexRegion.Work work = open.work();
            workOfEnded = new IndexRegion.Work(
                    workOfEnded.groupCount() + work.groupCount(),
                    workOfEnded.entryCount() + work.entryCount(),
                    workOfEnded.staleCount() + work.staleCount(),
                    workOfEnded.blockCount() + work.blockCount());
            open.close();
        }
    }

    @Override
    public IndexEntries entries() {
        return new IndexEntries() {
            @Override
            public Slice secondaryKey(int entry, Slice slice) {
                return slice.set(NewestSearch.this.secondaryKey);
            }

            @Override
            public Slice primaryKey(int entry, Slice slice) {
                Page open = page();
                return open.key(place(open, entry), slice);
            }

            @Override
            public long timestamp(int entry) {
                Page open = page();
                return open.timestamps[place(open, entry)];
            }

            @Override
            public long checkedUntil(int entry) {
                Page open = page();
                return open.checked[place(open, entry)];
            }

            private int place(Page open, int entry) {
                return open.sorted[at - moved + 1 + entry];
            }
        };
    }

    private Page onEntry() {
        Page open = page();
        if (at < 0 || at >= open.count) {
            throw new IllegalStateException("the cursor stands on no entry");
        }
        return open;
    }

    @Override
    public boolean previous() {
        throw forwardOnly();
    }

    @Override
    public void seek(Slice key) {
        throw forwardOnly();
    }

    @Override
    public void seekEnd() {
        throw forwardOnly();
    }

    private static InvalidRequestException forwardOnly() {
        return new InvalidRequestException("the newest entries are read from the newest on");
    }

    @Override
    public Slice secondaryKey() {
        onEntry();
        return secondaryKey;
    }

    @Override
    public Slice primaryKey() {
        Page open = onEntry();
        return open.key(open.sorted[at], primaryKey);
    }

    @Override
    public long timestamp() {
        Page open = onEntry();
        return open.timestamps[open.sorted[at]];
    }

    @Override
    public long checkedUntil() {
        Page open = onEntry();
        return open.checked[open.sorted[at]];
    }

    @Override
    public SearchWork work() {
        IndexRegion.Reader open = reader;
        IndexRegion.Work last = open == null ? IndexRegion.Work.NONE : open.work();
        return new SearchWork(
                0,
                0,
                0,
                workOfEnded.groupCount() + last.groupCount(),
                workOfEnded.entryCount() + last.entryCount(),
                workOfEnded.staleCount() + last.staleCount(),
                workOfEnded.blockCount() + last.blockCount());
    }

    @Override
    public LayerWork layers() {
        return layers.work();
    }

    @Override
    public synchronized void close() {
        Page open = page;
        if (open != null) {
            page = null;
            partition.work().searched(index.id(), 1, entryCount);
            closeReader();
            if (open.isSmall()) {
                PAGES.give(open);
            }
        }
    }
}
