package io.turbidite.lsm.component;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.cache.CachedFile;
import io.turbidite.core.file.DiskFile;
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
import io.turbidite.lsm.component.Block.Kind;
import io.turbidite.lsm.component.BlockWriter.Section;
import io.turbidite.lsm.rtree.Boxes;
import io.turbidite.lsm.rtree.NearestByBoxes;
import io.turbidite.lsm.rtree.WindowCursor;
import io.turbidite.lsm.rtree.WindowWork;
import io.turbidite.lsm.sample.ComponentSample;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Objects;

/**
 * What reads of a component go to: its file, its trees and its Bloom filter. <em>Thread-safe.</em>
 *
 * @param keys null if the component has no key tree
 * @param bloom null if it has no Bloom filter
 * @param boxes null if it is no R-tree's
 */
record ComponentContent(
        DiskFile file,
        BlockReader blocks,
        BufferCache cache,
        CachedFile pages,
        Tree records,
        @Nullable Tree keys,
        @Nullable BloomFilter bloom,
        @Nullable Boxes boxes) {
    /**
     * Reads what stays in memory, and checks it against the table of contents.
     *
     * @param bytes of the file
     * @param arena for it; the caller closes it behind this
     * @throws CorruptionException if it is damaged
     */
    static ComponentContent open(
            DiskFile file, long bytes, ComponentMeta meta, Arena arena, BufferCache cache) {
        String name = file.name();
        ComponentMeta.Sections sections = meta.sections();
        BlockReader blocks = new BlockReader(file, meta.owner().fileId());
        ComponentFrame.checkSections(file, bytes, meta);
        meta.options().compression().requireAvailable();
        // 1. what stays in memory
        Fences recordFences =
                readFences(blocks, Kind.RECORD_INTERIOR, sections.recordInterior(), meta, arena);
        Fences keyFences = meta.options().keyTree()
                ? readFences(blocks, Kind.KEY_INTERIOR, sections.keyInterior(), meta, arena)
                : null;
        ComponentFrame.checkLeaves(file, meta, recordFences, keyFences);
        BloomFilter bloom =
                meta.options().bloom() ? readBloom(blocks, sections.bloom(), name, arena) : null;
        Boxes boxes = meta.options().boxes() == null
                ? null
                : readBoxes(blocks, sections.boxes(), recordFences, arena);
        // 2. page numbers in the cache: the record tree's first
        int recordPages = recordFences.pageCount();
        int keyPages = keyFences == null ? 0 : keyFences.pageCount();
        CachedFile pages = cache.register(
                name, Math.addExact(recordPages, keyPages), blocks.loader(recordFences, keyFences));
        return new ComponentContent(
                file,
                blocks,
                cache,
                pages,
                new Tree(name, recordFences, pages, 0),
                keyFences == null ? null : new Tree(name, keyFences, pages, recordPages),
                bloom,
                boxes);
    }

    private static Fences readFences(
            BlockReader blocks, Kind kind, Section section, ComponentMeta meta, Arena arena) {
        MemorySegment block = blocks.readSection(kind, section, arena);
        Block.Expected expected = blocks.expected(kind, 0, section.fileOffset());
        String problem = Fences.problem(block);
        if (problem != null) {
            throw expected.malformed(problem);
        }
        Fences fences = Fences.over(block);
        if (fences.entryCount() != meta.counts().entries()) {
            throw expected.malformed("%d entries, %d expected"
                    .formatted(fences.entryCount(), meta.counts().entries()));
        }
        return fences;
    }

    private static BloomFilter readBloom(
            BlockReader blocks, Section section, String name, Arena arena) {
        MemorySegment block = blocks.readSection(Kind.BLOOM, section, arena);
        return BloomFilter.over(
                block,
                Block.HEADER_BYTES,
                block.byteSize() - Block.HEADER_BYTES,
                name,
                section.fileOffset() + Block.HEADER_BYTES);
    }

    private static Boxes readBoxes(
            BlockReader blocks, Section section, Fences fences, Arena arena) {
        MemorySegment block = blocks.readSection(Kind.BOXES, section, arena);
        String problem = Boxes.problem(block, fences);
        if (problem != null) {
            throw blocks.expected(Kind.BOXES, 0, section.fileOffset()).malformed(problem);
        }
        return Boxes.over(block);
    }

    /**
     * Reads the sample; null if there is none.
     *
     * @throws CorruptionException if it is damaged
     */
    @Nullable
    ComponentSample sample(Section section) {
        if (section.bytes() == 0) {
            return null;
        }
        try (Arena arena = NativeMemory.confined("the sample of a component")) {
            MemorySegment payload =
                    blocks.readSection(Kind.SAMPLE, section, arena).asSlice(Block.HEADER_BYTES);
            String problem = ComponentSample.problem(payload);
            if (problem != null) {
                throw blocks.expected(Kind.SAMPLE, 0, section.fileOffset()).malformed(problem);
            }
            return ComponentSample.of(payload);
        }
    }

    /** The tree to look keys up in. */
    Tree keyTree() {
        return keys == null ? records : keys;
    }

    /** Bytes that stay in memory. */
    long residentBytes() {
        long resident = records.fences().byteSize();
        if (keys != null) {
            resident += keys.fences().byteSize();
        }
        if (boxes != null) {
            resident += boxes.byteSize();
        }
        return bloom == null ? resident : resident + bloom.byteSize();
    }

    /** Where the bytes of the file are. */
    ComponentSpace space(ComponentMeta.Sections sections) {
        return new ComponentSpace(
                blockBytes(records.fences()),
                keys == null ? 0 : blockBytes(keys.fences()),
                sections.recordInterior().bytes()
                        + sections.keyInterior().bytes()
                        + sections.boxes().bytes(),
                sections.bloom().bytes(),
                sections.sample().bytes());
    }

    private static long blockBytes(Fences fences) {
        long sum = 0;
        for (int page = 0; page < fences.pageCount(); page++) {
            sum += fences.blockBytes(page);
        }
        return sum;
    }

    TreeCursor cursor(@Nullable PageChoice choice) {
        return records.cursor(
                readAhead(recordPages(), PrefetchPlan.ofScan(records.fences())), choice);
    }

    /** The entries in a window; through the cache, without reading ahead: pages lie apart. */
    WindowCursor windowCursor(WindowSearch search, WindowWork work) {
        return new WindowCursor(records, requireBoxes(), search, work);
    }

    NearestByBoxes nearestCursor(SpatialKind kind, Place place, WindowWork work, int waitingMax) {
        return new NearestByBoxes(
                records, requireBoxes(), kind, place, records.cursor(), work, waitingMax);
    }

    /** About how many entries are in a zone. */
    long estimateEntries(Zone zone) {
        return requireBoxes().estimate(zone, records.fences());
    }

    private Boxes requireBoxes() {
        return Objects.requireNonNull(boxes, "no boxes");
    }

    TreeCursor keyCursor() {
        return keyTree()
                .cursor(readAhead(keyPages(), PrefetchPlan.ofScan(keyTree().fences())));
    }

    /** Past the buffer cache. */
    TreeCursor streamCursor(int readAheadBytes) {
        return records.cursor(
                new StreamedLeafPages(blocks, Kind.RECORD_LEAF, records.fences(), readAheadBytes));
    }

    PointCursor pointCursor(ComingKeys coming, long snapshot, boolean stateful) {
        return records.pointCursor(
                readAhead(recordPages(), PrefetchPlan.of(coming, records.fences(), snapshot)),
                stateful);
    }

    private ReadAheadPages readAhead(ReadAheadPages.Tree tree, PrefetchPlan plan) {
        return new ReadAheadPages(blocks, tree, cache, pages, plan);
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

    /** Entries with keys in {@code range}, exactly; reads at most two pages. */
    long estimateEntries(KeyRange range) {
        Tree tree = keyTree();
        Slice low = range.low();
        Slice high = range.high();
        long from = low == null ? 0 : tree.rank(low);
        long to = high == null ? tree.entryCount() : tree.rank(high);
        return Math.max(0, to - from);
    }

    /** Drops the pages from the cache; the file is closed behind the arena. */
    void closePages() {
        records.close();
        if (keys != null) {
            keys.close();
        }
        pages.close();
    }
}
