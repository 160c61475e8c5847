package io.turbidite.lsm.component;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.cache.CachedFile;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.btree.ComingKeys;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.btree.PointCursor;
import io.turbidite.lsm.btree.Tree;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.Block.Kind;
import io.turbidite.lsm.component.BlockWriter.Section;
import io.turbidite.lsm.entry.Found;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
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
 * ComponentMeta     table of contents
 * FileFooter        64 bytes
 * </pre>
 *
 * <p>The record tree holds (key, timestamp, kind, value); the key tree, which a primary index has (LUO19
 * §5.2), the same without values and with the same ordinals. Interiors and Bloom filter stay in memory
 * while the component is open; leaf pages come through the buffer cache.
 *
 * <p><em>Thread-safe</em>; its cursors are each confined to one thread. The owner closes it when no
 * operation uses it any more; a use after that throws {@link io.turbidite.core.ClosedException}.
 */
public final class DiskComponent implements AutoCloseable {
    /** How far a streaming cursor reads ahead. */
    public static final int READ_AHEAD_BYTES = 1 << 20;

    private final DiskFile file;
    private final long bytes;
    private final ComponentMeta meta;
    private final BlockReader blocks;
    private final Arena arena;
    private final BufferCache cache;
    private final CachedFile pages;
    private final Tree records;
    private final @Nullable Tree keys;
    private final @Nullable BloomFilter bloom;
    private final Slice minKey;
    private final Slice maxKey;
    private boolean closed;

    private DiskComponent(DiskFile file, Arena arena, ComponentHeader expected, BufferCache cache) {
        this.file = file;
        this.arena = arena;
        this.cache = cache;
        this.bytes = file.size();
        // 1. header, footer and table of contents
        this.meta = readMeta(file, bytes, expected);
        this.blocks = new BlockReader(file, expected.fileId());
        checkSections();
        meta.options().compression().requireAvailable();
        // 2. what stays in memory
        Fences recordFences = readFences(Kind.RECORD_INTERIOR, meta.sections().recordInterior());
        Fences keyFences = meta.options().keyTree()
                ? readFences(Kind.KEY_INTERIOR, meta.sections().keyInterior())
                : null;
        checkLeaves(recordFences, keyFences);
        this.bloom = meta.options().bloom() ? readBloom(meta.sections().bloom()) : null;
        this.minKey = offHeap(meta.minKey());
        this.maxKey = offHeap(meta.maxKey());
        // 3. page numbers in the cache: the record tree's first
        int recordPages = recordFences.pageCount();
        int keyPages = keyFences == null ? 0 : keyFences.pageCount();
        this.pages = cache.register(
                file.name(),
                Math.addExact(recordPages, keyPages),
                blocks.loader(recordFences, keyFences));
        this.records = new Tree(file.name(), recordFences, pages, 0);
        this.keys = keyFences == null ? null : new Tree(file.name(), keyFences, pages, recordPages);
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
        boolean opened = false;
        try {
            DiskComponent component = new DiskComponent(file, arena, expected, cache);
            opened = true;
            return component;
        } finally {
            if (!opened) {
                arena.close();
                file.close();
            }
        }
    }

    /** The file's name. */
    public String name() {
        return file.name();
    }

    public ComponentId id() {
        return meta.id();
    }

    public ComponentHeader header() {
        return meta.owner();
    }

    public ComponentOptions options() {
        return meta.options();
    }

    public ComponentFilter filter() {
        return meta.filter();
    }

    /** All entries: versions and anti-matter included. Ordinals go from 0 to this. */
    public long entryCount() {
        return meta.counts().entries();
    }

    public long antimatterCount() {
        return meta.counts().antimatter();
    }

    /** Leaf pages of the records. */
    public int recordPageCount() {
        return records.fences().pageCount();
    }

    /** Distinct keys. */
    public long keyCount() {
        return meta.counts().keys();
    }

    /** Bytes of the file. */
    public long bytes() {
        return bytes;
    }

    /** Bytes that stay in memory while it is open: interiors and Bloom filter. */
    public long residentBytes() {
        long resident = records.fences().byteSize();
        if (keys != null) {
            resident += keys.fences().byteSize();
        }
        return bloom == null ? resident : resident + bloom.byteSize();
    }

    /** Where the bytes of the file are. */
    public ComponentSpace space() {
        ComponentMeta.Sections sections = meta.sections();
        return new ComponentSpace(
                blockBytes(records.fences()),
                keys == null ? 0 : blockBytes(keys.fences()),
                sections.recordInterior().bytes() + sections.keyInterior().bytes(),
                sections.bloom().bytes());
    }

    private static long blockBytes(Fences fences) {
        long sum = 0;
        for (int page = 0; page < fences.pageCount(); page++) {
            sum += fences.blockBytes(page);
        }
        return sum;
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
        return bloom == null || bloom.mayContain(keyHash);
    }

    public boolean hasBloom() {
        return bloom != null;
    }

    public boolean hasKeyTree() {
        return keys != null;
    }

    /**
     * Finds the newest version of {@code key} at or below {@code snapshot}; does not ask the Bloom
     * filter.
     *
     * @param found filled in, ordinal too, unless absent; its value only if {@code wantValue}
     * @return {@link Found#ABSENT}, {@link Found#MATTER} or {@link Found#ANTIMATTER}
     */
    public int find(Slice key, long snapshot, Found found, boolean wantValue) {
        return records.find(key, snapshot, found, wantValue);
    }

    /** As {@link #find} without value; in the key tree, if there is one. */
    public int findKey(Slice key, long snapshot, Found found) {
        return keyTree().find(key, snapshot, found, false);
    }

    /** All entries in order, through the buffer cache; reads ahead where it misses page after page. */
    public TreeCursor cursor() {
        return records.cursor(readAhead(recordPages(), Foresight.ofScan(records.fences())));
    }

    /** All entries in order without their values: of the key tree, if there is one. */
    public TreeCursor keyCursor() {
        return keyTree().cursor(readAhead(keyPages(), Foresight.ofScan(keyTree().fences())));
    }

    private ReadAheadPages readAhead(ReadAheadPages.Tree tree, Foresight foresight) {
        return new ReadAheadPages(blocks, tree, cache, pages, foresight);
    }

    private ReadAheadPages.Tree recordPages() {
        return new ReadAheadPages.Tree(Kind.RECORD_LEAF, records.fences(), 0);
    }

    private ReadAheadPages.Tree keyPages() {
        return keys == null
                ? recordPages()
                : new ReadAheadPages.Tree(
                        Kind.KEY_LEAF, keys.fences(), records.fences().pageCount());
    }

    /** All entries in order, read ahead past the buffer cache: for merges. */
    public TreeCursor streamCursor() {
        return records.cursor(new StreamedLeafPages(
                blocks, Kind.RECORD_LEAF, records.fences(), READ_AHEAD_BYTES));
    }

    /** Stateful point searches in the record tree, best for ascending keys. */
    public PointCursor pointCursor() {
        return records.pointCursor();
    }

    /**
     * Point searches in the record tree for keys that are known before: their pages are read together where
     * they lie near one another.
     *
     * @param stateful whether it remembers where it was
     * @param snapshot at which most keys will be sought
     */
    public PointCursor pointCursor(ComingKeys coming, long snapshot, boolean stateful) {
        return records.pointCursor(
                readAhead(recordPages(), Foresight.of(coming, records.fences(), snapshot)),
                stateful);
    }

    /** Stateful point searches in the key tree, if there is one, else in the record tree. */
    public PointCursor keyPointCursor() {
        return keyTree().pointCursor();
    }

    /** Entries with keys in {@code range}, exactly; reads at most two pages. */
    public long estimateEntries(KeyRange range) {
        Tree tree = keyTree();
        Slice low = range.low();
        Slice high = range.high();
        long from = low == null ? 0 : tree.rank(low);
        long to = high == null ? tree.entryCount() : tree.rank(high);
        return Math.max(0, to - from);
    }

    /**
     * Checks every byte of the file and everything that its parts claim of one another; reads past the
     * buffer cache. Never throws for damage: each finding goes to {@code out}.
     */
    public void verify(Consumer<CorruptionException> out) {
        new ComponentVerifier(this, out).run();
    }

    /**
     * As {@link #verify}, without the leaf pages: size, header, footer, table of contents, interiors, Bloom
     * filter. A small share of the file.
     */
    public void verifyMetadata(Consumer<CorruptionException> out) {
        if (file.size() != bytes) {
            out.accept(new CorruptionException(
                    name(), file.size(), "file", bytes + " bytes", file.size() + " bytes"));
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
        records.close();
        if (keys != null) {
            keys.close();
        }
        pages.close();
        arena.close();
        file.close();
    }

    @Override
    public String toString() {
        return "%s[%s, %d entries, %d bytes]".formatted(name(), id(), entryCount(), bytes);
    }

    ComponentMeta meta() {
        return meta;
    }

    Fences recordFences() {
        return records.fences();
    }

    @Nullable
    Fences keyFences() {
        return keys == null ? null : keys.fences();
    }

    BlockReader blocks() {
        return blocks;
    }

    /** Reads header, footer and table of contents again. */
    void reread() {
        readMeta(file, bytes, meta.owner());
    }

    private Tree keyTree() {
        return keys == null ? records : keys;
    }

    private static ComponentMeta readMeta(DiskFile file, long bytes, ComponentHeader expected) {
        String name = file.name();
        FileHeader header = FileHeader.readFrom(file)
                .check(name, ComponentWriter.FORMAT, ComponentWriter.VERSION)
                .checkOwner(name, expected.storeId(), expected.fileId());
        if (header.flags() != 0) {
            throw new CorruptionException(
                    name, FileHeader.FILE_OFFSET, "flags", "0", Integer.toString(header.flags()));
        }
        FileFooter footer = FileFooter.readFrom(file).checkOwner(name, bytes, header);
        if (footer.payloadOffset() + footer.payloadBytes() != bytes - FileFooter.BYTES) {
            throw new CorruptionException(
                    name,
                    bytes - FileFooter.BYTES,
                    "table of contents",
                    "up to the footer",
                    "%d bytes at %d".formatted(footer.payloadBytes(), footer.payloadOffset()));
        }
        if (footer.payloadBytes() > ComponentWriter.META_BYTES_MAX) {
            throw new CorruptionException(
                    name,
                    footer.payloadOffset(),
                    "table of contents",
                    ComponentWriter.META_BYTES_MAX + " bytes at most",
                    footer.payloadBytes() + " bytes");
        }
        MemorySegment payload = MemorySegment.ofArray(new byte[(int) footer.payloadBytes()]);
        int payloadBytes = (int) footer.payloadBytes();
        new BlockReader(file, expected.fileId())
                .readRaw(footer.payloadOffset(), payload, payloadBytes, payloadBytes);
        footer.checkPayload(name, payload, 0);
        return ComponentMeta.decode(
                new MetaReader(name, footer.payloadOffset(), payload), expected);
    }

    /** Interior and Bloom filter lie one behind the other, up to the table of contents. */
    private void checkSections() {
        ComponentMeta.Sections sections = meta.sections();
        long end = sections.recordInterior().fileOffset();
        if (end < FileHeader.BYTES) {
            throw damagedSection(Kind.RECORD_INTERIOR, end);
        }
        end = checkSection(Kind.RECORD_INTERIOR, sections.recordInterior(), end, true);
        end = checkSection(
                Kind.KEY_INTERIOR, sections.keyInterior(), end, meta.options().keyTree());
        end = checkSection(Kind.BLOOM, sections.bloom(), end, meta.options().bloom());
        long metaOffset = FileFooter.readFrom(file).payloadOffset();
        if (end != metaOffset) {
            throw damagedSection(Kind.BLOOM, end);
        }
    }

    private long checkSection(Kind kind, Section section, long at, boolean present) {
        if (!present) {
            if (section.bytes() != 0 || section.fileOffset() != 0) {
                throw damagedSection(kind, section.fileOffset());
            }
            return at;
        }
        if (section.fileOffset() != at
                || section.bytes() < Block.HEADER_BYTES
                || section.bytes() > bytes - at) {
            throw damagedSection(kind, section.fileOffset());
        }
        return at + section.bytes();
    }

    private CorruptionException damagedSection(Kind kind, long at) {
        return new CorruptionException(
                file.name(), at, kind.description, "where the section before it ends", "not");
    }

    private Fences readFences(Kind kind, Section section) {
        MemorySegment block = blocks.readSection(kind, section, arena);
        Block.Expected expected = blocks.expected(kind, 0, section.fileOffset());
        String problem = Fences.problem(block);
        if (problem != null) {
            throw expected.malformed(problem);
        }
        Fences fences = Fences.over(block);
        if (fences.entryCount() != entryCount()) {
            throw expected.malformed(
                    "%d entries, %d expected".formatted(fences.entryCount(), entryCount()));
        }
        return fences;
    }

    /** The pages of both trees together fill the file from its header to the first interior. */
    private void checkLeaves(Fences recordFences, @Nullable Fences keyFences) {
        int recordPages = recordFences.pageCount();
        int keyPages = keyFences == null ? 0 : keyFences.pageCount();
        int recordPage = 0;
        int keyPage = 0;
        long end = FileHeader.BYTES;
        while (recordPage < recordPages || keyPage < keyPages) {
            if (recordPage < recordPages && recordFences.fileOffset(recordPage) == end) {
                end += recordFences.blockBytes(recordPage++);
            } else if (keyFences != null
                    && keyPage < keyPages
                    && keyFences.fileOffset(keyPage) == end) {
                end += keyFences.blockBytes(keyPage++);
            } else {
                throw new CorruptionException(
                        file.name(),
                        end,
                        "leaf page",
                        "recorded in an interior",
                        "record page %d and key page %d lie elsewhere"
                                .formatted(recordPage, keyPage));
            }
        }
        if (end != meta.sections().recordInterior().fileOffset()) {
            throw damagedSection(Kind.RECORD_INTERIOR, end);
        }
    }

    private BloomFilter readBloom(Section section) {
        MemorySegment block = blocks.readSection(Kind.BLOOM, section, arena);
        return BloomFilter.over(
                block,
                Block.HEADER_BYTES,
                block.byteSize() - Block.HEADER_BYTES,
                file.name(),
                section.fileOffset() + Block.HEADER_BYTES);
    }

    private Slice offHeap(Slice key) {
        MemorySegment copy = NativeMemory.allocate(arena, Math.max(1, key.length()), 8);
        MemorySegment.copy(key.segment(), key.offset(), copy, 0, key.length());
        return new Slice().set(copy, 0, key.length());
    }
}
