package io.turbidite.lsm.component;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Undo;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.KnownFormat;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.geo.WindowSearch;
import io.turbidite.core.geo.Zone;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.btree.ComingKeys;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.btree.PageChoice;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.btree.Tree;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.BlockWriter.Section;
import io.turbidite.lsm.entry.Found;
import io.turbidite.lsm.rtree.Boxes;
import io.turbidite.lsm.rtree.NearestByBoxes;
import io.turbidite.lsm.rtree.NearestCursor;
import io.turbidite.lsm.rtree.WindowCursor;
import io.turbidite.lsm.rtree.WindowWork;
import io.turbidite.lsm.sample.ComponentSample;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;
import java.util.function.Consumer;

/**
 * An immutable layer of an LSM index: one file with a sorted run of entries.
 *
 * <pre>
 * FileHeader        64 bytes, format "component"
 * leaf pages        blocks of both trees, as they filled
 * record interior   block
 * key interior      block, if there is a key tree
 * Bloom filter      block, if there is one
 * boxes             block, of an R-tree
 * sample            block, of a primary
 * ComponentMeta     table of contents
 * FileFooter        64 bytes
 * </pre>
 *
 * <p>The record tree holds (key, timestamp, kind, value); the key tree, which a primary index has
 * (LUO19 §5.2), the same without values and with the same ordinals. Interiors, Bloom filter and
 * boxes stay in memory while the component is open; leaf pages come through the buffer cache.
 *
 * <p><em>Thread-safe</em>; its cursors are each confined to one thread. The owner closes it when no
 * operation uses it any more; a use after that throws {@link io.turbidite.core.ClosedException}.
 */
public final class DiskComponent implements AutoCloseable {
    /** Its format and the versions that are read. */
    public static final KnownFormat FORMAT = new KnownFormat(
            ComponentWriter.FORMAT, ComponentMeta.VERSION_MIN, ComponentMeta.VERSION);

    /** How far a streaming cursor reads ahead. */
    public static final int READ_AHEAD_BYTES = 1 << 20;

    private final String name;
    private final long bytes;
    private final ComponentMeta meta;
    private final Arena arena;
    private final @Nullable BloomFilter bloom;
    private final Slice minKey;
    private final Slice maxKey;

    /** Null if the file could not be opened. */
    private final @Nullable ComponentContent content;

    /** Made by the first scan that asks. */
    private volatile @Nullable PageBounds pageBounds;

    /** Why nobody may read it; null while it is sound, as far as one knows. Never changes back. */
    private volatile @Nullable ComponentDamage damage;

    private boolean closed;

    private DiskComponent(DiskFile file, Arena arena, ComponentHeader expected, BufferCache cache) {
        this.name = file.name();
        this.arena = arena;
        this.bytes = file.size();
        this.meta = ComponentFrame.read(file, bytes, expected);
        this.minKey = offHeap(meta.minKey());
        this.maxKey = offHeap(meta.maxKey());
        // last: what it registers in the cache is let go by close alone
        ComponentContent opened = ComponentContent.open(file, bytes, meta, arena, cache);
        this.bloom = opened.bloom();
        this.content = opened;
    }

    private DiskComponent(
            String name, long bytes, ComponentMeta meta, Arena arena, ComponentDamage damage) {
        this.name = name;
        this.bytes = bytes;
        this.meta = meta;
        this.arena = arena;
        this.bloom = null;
        this.minKey = offHeap(meta.minKey());
        this.maxKey = offHeap(meta.maxKey());
        this.content = null;
        this.damage = damage;
    }

    /**
     * Opens a finished component.
     *
     * @param expected whose file it must be
     * @throws CorruptionException if the file is damaged, cut, stale or another's; leaf pages are
     *     checked when they are read
     * @throws io.turbidite.core.FormatVersionException if a newer release wrote it
     */
    public static DiskComponent open(
            Disk disk, String name, ComponentHeader expected, BufferCache cache) {
        DiskFile file = disk.openReadOnly(name);
        Arena arena = NativeMemory.shared("component " + name);
        try (Undo undo = Undo.of(() -> {
            arena.close();
            file.close();
        })) {
            return undo.keep(new DiskComponent(file, arena, expected, cache));
        }
    }

    /**
     * Stands for a component whose file can't be opened. Nothing of it is known but what the
     * manifest says: it is not empty, may have any key, and no filter prunes it.
     *
     * @param bytes as the manifest has it
     * @param options as such a component has them
     */
    public static DiskComponent unreadable(
            ComponentHeader owner,
            ComponentId id,
            long bytes,
            ComponentOptions options,
            int filterFieldCount,
            String name,
            ComponentDamage damage) {
        Section none = new Section(0, 0);
        ComponentMeta meta = new ComponentMeta(
                ComponentMeta.VERSION,
                owner,
                id,
                new ComponentMeta.Times(Long.MIN_VALUE, Long.MAX_VALUE),
                new ComponentMeta.Counts(1, 0, 1, 1),
                options,
                new ComponentMeta.Sections(none, none, none, none, none),
                new Slice(),
                new Slice(),
                ComponentFilter.unknown(filterFieldCount));
        Arena arena = NativeMemory.shared("component " + name);
        return new DiskComponent(name, bytes, meta, arena, damage);
    }

    /**
     * From now on {@code witness} is told of damage that a reader meets in a leaf page, before the
     * reader is. Merges, builds and verifications, which read past the cache, deal with what they
     * meet themselves.
     */
    public DiskComponent reportingTo(Consumer<CorruptionException> witness) {
        if (content != null) {
            content.blocks().tell(witness);
        }
        return this;
    }

    /**
     * Sets the component aside: from now on whoever would read it is refused; cursors that are open
     * read on. The first cause stays.
     */
    public void quarantine(ComponentDamage found) {
        if (damage == null) {
            damage = found;
        }
    }

    /** Why it is set aside; null if it is not. */
    public @Nullable ComponentDamage damage() {
        return damage;
    }

    /**
     * Refuses what needs the component.
     *
     * @throws io.turbidite.core.QuarantinedException if it is set aside
     */
    public void requireSound() {
        sound();
    }

    /** Whether at least its table of contents could be read. */
    public boolean isOpen() {
        return content != null;
    }

    /** What is read. */
    private ComponentContent sound() {
        ComponentDamage found = damage;
        ComponentContent all = content;
        if (found != null || all == null) {
            throw Objects.requireNonNull(found, "it is not open for a cause").refusal(name);
        }
        return all;
    }

    /** The file's name. */
    public String name() {
        return name;
    }

    /** The operations that it covers. */
    public ComponentId id() {
        return meta.id();
    }

    /** What its file says of itself. */
    public ComponentHeader header() {
        return meta.owner();
    }

    /** How it is laid out. */
    public ComponentOptions options() {
        return meta.options();
    }

    /** Its bounds of the filter fields. */
    public ComponentFilter filter() {
        return meta.filter();
    }

    /** Whether an older release's format is its file's: a merge writes it in today's. */
    public boolean isOutdated() {
        return meta.version() < ComponentMeta.VERSION;
    }

    /** All entries: versions and anti-matter included. Ordinals go from 0 to this. */
    public long entryCount() {
        return meta.counts().entries();
    }

    /** How many entries it has that are no deletions. */
    public long matterCount() {
        return entryCount() - antimatterCount();
    }

    /**
     * About how many versions of records its entries are of. Of an index as it was flushed or built
     * they are counted; a merge that leaves out entries takes as large a part of versions to be
     * gone.
     */
    public long versionCount() {
        return meta.counts().versions();
    }

    /** How many deletions it has. */
    public long antimatterCount() {
        return meta.counts().antimatter();
    }

    /** Leaf pages of the records. */
    public int recordPageCount() {
        return content == null ? 0 : content.records().fences().pageCount();
    }

    /** Distinct keys. */
    public long keyCount() {
        return meta.counts().keys();
    }

    /** Bytes of the file. */
    public long bytes() {
        return bytes;
    }

    /**
     * Bytes that stay in memory while it is open: interiors and Bloom filter, and on the heap what
     * scans have learned of its pages.
     */
    public long residentBytes() {
        PageBounds learned = pageBounds;
        return (content == null ? 0 : content.residentBytes())
                + (learned == null ? 0 : learned.bytes());
    }

    /** Where the bytes of the file are. */
    public ComponentSpace space() {
        return content == null ? new ComponentSpace(0, 0, 0, 0, 0) : content.space(meta.sections());
    }

    /** When the oldest operation in it happened, microseconds since 1970. */
    public long minWallMicros() {
        return meta.times().minWallMicros();
    }

    /** When the newest operation in it happened. */
    public long maxWallMicros() {
        return meta.times().maxWallMicros();
    }

    /** The smallest key; empty if there is no entry. Valid until close. */
    public Slice minKey() {
        return new Slice().set(minKey);
    }

    /** The largest key; empty if there is no entry. Valid until close. */
    public Slice maxKey() {
        return new Slice().set(maxKey);
    }

    /**
     * Whether a version of the key may be in here, by the Bloom filter; true if there is none.
     *
     * @param keyHash {@link BloomFilter#hash} of the key
     */
    public boolean mayContain(long keyHash) {
        return bloom == null || meta.options().tokens() || bloom.mayContain(keyHash);
    }

    /** Whether there is a Bloom filter over the keys. */
    public boolean hasBloom() {
        return bloom != null && !meta.options().tokens();
    }

    /**
     * Whether an entry may be in here whose key begins with a token, by the Bloom filter of tokens;
     * true if there is none.
     *
     * @param tokenHash {@link BloomFilter#hash} of the token as it stands in keys, with its mark
     */
    public boolean mayContainToken(long tokenHash) {
        return bloom == null || !meta.options().tokens() || bloom.mayContain(tokenHash);
    }

    /** Whether it has a tree of keys alone. */
    public boolean hasKeyTree() {
        return meta.options().keyTree();
    }

    /**
     * Finds the newest version of {@code key} at or below {@code snapshot}; does not ask the Bloom
     * filter.
     *
     * @param found filled in, ordinal too, unless absent; its value only if {@code wantValue}
     * @return {@link Found#ABSENT}, {@link Found#MATTER} or {@link Found#ANTIMATTER}
     */
    public int find(Slice key, long snapshot, Found found, boolean wantValue) {
        return sound().records().find(key, snapshot, found, wantValue);
    }

    /** As {@link #find} without value; in the key tree, if there is one. */
    public int findKey(Slice key, long snapshot, Found found) {
        return sound().keyTree().find(key, snapshot, found, false);
    }

    /**
     * All entries in order, through the buffer cache; reads ahead where it misses page after page.
     */
    public TreeCursor cursor() {
        return sound().cursor(null);
    }

    /** As {@link #cursor()}; forward it reads those pages alone that {@code choice} names. */
    public TreeCursor cursor(PageChoice choice) {
        return sound().cursor(choice);
    }

    /**
     * What scans have learned of the values on its pages.
     *
     * @param fieldCount how many filter fields there are
     */
    public PageBounds pageBounds(int fieldCount) {
        PageBounds known = pageBounds;
        if (known == null) {
            // should two make them at once, what one of them has learned is learned anew
            known = new PageBounds(recordPageCount(), fieldCount);
            pageBounds = known;
        }
        return known;
    }

    /**
     * The entries of an R-tree's component that are in a window, in order, through the buffer
     * cache.
     *
     * @param search for cursors of this thread alone
     * @param work where it counts
     */
    public WindowCursor windowCursor(WindowSearch search, WindowWork work) {
        return sound().windowCursor(search, work);
    }

    /** All entries of an R-tree, nearest first; without their values. */
    public NearestByBoxes nearestCursor(SpatialKind kind, Place place, WindowWork work) {
        return nearestCursor(kind, place, work, NearestCursor.WAITING_MAX);
    }

    NearestByBoxes nearestCursor(SpatialKind kind, Place place, WindowWork work, int waitingMax) {
        return sound().nearestCursor(kind, place, work, waitingMax);
    }

    /** Whether the box around all entries meets the zone; true if there is none. */
    public boolean mayMeet(Zone zone) {
        Boxes all = boxes();
        return all == null || all.meets(zone);
    }

    /** All entries in order without their values: of the key tree, if there is one. */
    public TreeCursor keyCursor() {
        return sound().keyCursor();
    }

    /** All entries in order, read ahead past the buffer cache: for merges. */
    public TreeCursor streamCursor() {
        return sound().streamCursor(READ_AHEAD_BYTES);
    }

    /** Stateful point searches in the record tree, best for ascending keys. */
    public PointCursor pointCursor() {
        return sound().records().pointCursor();
    }

    /**
     * Point searches in the record tree for keys that are known before: their pages are read
     * together where they lie near one another.
     *
     * @param stateful whether it remembers where it was
     * @param snapshot at which most keys will be sought
     */
    public PointCursor pointCursor(ComingKeys coming, long snapshot, boolean stateful) {
        return sound().pointCursor(coming, snapshot, stateful);
    }

    /** Stateful point searches in the key tree, if there is one, else in the record tree. */
    public PointCursor keyPointCursor() {
        return sound().keyTree().pointCursor();
    }

    /** Entries with keys in {@code range}, exactly; reads at most two pages. */
    public long estimateEntries(KeyRange range) {
        return sound().estimateEntries(range);
    }

    /** About how many entries of an R-tree are in a zone; reads no page. */
    public long estimateEntries(Zone zone) {
        return sound().estimateEntries(zone);
    }

    /**
     * Reads its sample; null if there is none: of a secondary, of a component that was written
     * before version 6, or if no record was short enough. Reads up to a megabyte.
     *
     * @throws CorruptionException if the sample is damaged; the witness is told, as of a leaf page
     */
    public @Nullable ComponentSample sample() {
        try {
            return rereadSample();
        } catch (CorruptionException damage) {
            opened().blocks().met(damage);
            throw damage;
        }
    }

    /** As {@link #sample}, for the verifier, which tells of damage itself. */
    @Nullable
    ComponentSample rereadSample() {
        return opened().sample(meta.sections().sample());
    }

    /**
     * Checks every byte of the file and everything that its parts claim of one another; reads past
     * the buffer cache. Never throws for damage: each finding goes to {@code out}.
     */
    public void verify(Consumer<CorruptionException> out) {
        if (content != null) {
            new ComponentVerifier(this, out).run();
        }
    }

    /**
     * As {@link #verifyMetadata}, and reads the record tree's leaf pages as {@link #streamCursor}
     * does, each compared with its checksum: whether all of it can be read, which takes a tenth of
     * the time of {@link #verify}. What a page says is not looked at.
     */
    public void verifyPages(Consumer<CorruptionException> out) {
        verifyMetadata(out);
        if (content != null) {
            new ComponentVerifier(this, out).checkPages();
        }
    }

    /**
     * As {@link #verify}, without the leaf pages: size, header, footer, table of contents,
     * interiors, Bloom filter. A small share of the file.
     */
    public void verifyMetadata(Consumer<CorruptionException> out) {
        if (content == null) {
            return;
        }
        long found = content.file().size();
        if (found != bytes) {
            out.accept(new CorruptionException(
                    name, found, "file", bytes + " bytes", found + " bytes"));
        }
        new ComponentVerifier(this, out).checkMetadata();
    }

    /** Drops its pages from the cache and closes the file. Cursors must be gone. */
    @Override
    public void close() {
        if (closed) {
            return;
        }
        closed = true;
        if (content != null) {
            content.closePages();
        }
        arena.close();
        if (content != null) {
            content.file().close();
        }
    }

    @Override
    public String toString() {
        return "%s[%s, %d entries, %d bytes]".formatted(name(), id(), entryCount(), bytes);
    }

    ComponentMeta meta() {
        return meta;
    }

    Fences recordFences() {
        return opened().records().fences();
    }

    @Nullable
    Fences keyFences() {
        Tree keys = opened().keys();
        return keys == null ? null : keys.fences();
    }

    @Nullable
    Boxes boxes() {
        return content == null ? null : content.boxes();
    }

    BlockReader blocks() {
        return opened().blocks();
    }

    /** Reads header, footer and table of contents again. */
    void reread() {
        ComponentFrame.read(opened().file(), bytes, meta.owner());
    }

    /** For the verifier, which reads what is damaged too. */
    private ComponentContent opened() {
        return Objects.requireNonNull(content, name);
    }

    private Slice offHeap(Slice key) {
        MemorySegment copy = NativeMemory.allocate(arena, Math.max(1, key.length()), 8);
        MemorySegment.copy(key.segment(), key.offset(), copy, 0, key.length());
        return new Slice().set(copy, 0, key.length());
    }
}
