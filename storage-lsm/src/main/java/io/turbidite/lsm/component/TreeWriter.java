package io.turbidite.lsm.component;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.lsm.btree.FencesBuilder;
import io.turbidite.lsm.btree.LeafBuilder;
import io.turbidite.lsm.entry.EntryHead;
import io.turbidite.lsm.rtree.BoxesBuilder;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Writes one tree of a component: leaf pages as they fill, the interior at the end. <em>Confined to
 * one thread at a time.</em> Owned by the component's writer, as are builders, block writer and
 * arena.
 */
final class TreeWriter {
    private final BlockWriter blocks;
    private final Block.Kind leafKind;
    private final Compression compression;
    private final LeafBuilder leaf;
    private final FencesBuilder fences;
    private final Arena arena;
    private final ByteSink firstKey = new ByteSink(64, Limits.KEY_BYTES_MAX);
    private final Slice firstKeySlice = new Slice();
    private long entryCount;

    /** Told of every entry and page of an R-tree. */
    private @Nullable BoxesBuilder boxes;

    /** Where a page is laid out that will be compressed; the null segment if none will be. */
    private MemorySegment page = MemorySegment.NULL;

    TreeWriter(
            BlockWriter blocks,
            Block.Kind leafKind,
            ComponentOptions options,
            ComponentWriters.Builders builders,
            Arena arena) {
        this.blocks = blocks;
        this.leafKind = leafKind;
        this.compression = options.compression();
        this.leaf = builders.leaf();
        this.fences = builders.fences();
        this.arena = arena;
        if (compression != Compression.NONE) {
            page = newPage(options.pageBytes());
        }
    }

    /** Has {@code builder} told of every entry and page. */
    void boxedBy(@Nullable BoxesBuilder builder) {
        boxes = builder;
    }

    /**
     * Adds the entry that comes next.
     *
     * @param sharedBytes how many first bytes the key shares with the one before it
     * @param sameKey whether it is the one before it
     */
    void add(EntryHead entry, int sharedBytes, boolean sameKey, Slice value) {
        if (leaf.entryCount() > 0) {
            if (leaf.add(entry, sharedBytes, value)) {
                added(entry);
                return;
            }
            writePage();
        }
        entry.putKey(firstKey.clear());
        fences.begin(firstKey.asSlice(firstKeySlice), sharedBytes, sameKey, entry.timestamp);
        leaf.add(entry, sharedBytes, value);
        added(entry);
    }

    private void added(EntryHead entry) {
        entryCount++;
        if (boxes != null) {
            boxes.add(entry);
        }
    }

    /** Writes the last leaf page. */
    void finishLeaves() {
        if (leaf.entryCount() > 0) {
            writePage();
        }
    }

    BlockWriter.Section writeInterior(Block.Kind kind) {
        MemorySegment bytes = fences.build(arena, entryCount);
        return blocks.write(kind, bytes.asSlice(Block.HEADER_BYTES));
    }

    private void writePage() {
        int number = fences.pageCount();
        int pageBytes = leaf.pageBytes();
        long firstOrdinal = entryCount - leaf.entryCount();
        int at = blocks.reserve(pageBytes + LeafBuilder.SPARE_BYTES);
        long fileOffset = blocks.fileOffset();
        int blockBytes;
        if (compression == Compression.NONE) {
            leaf.build(blocks.buffer(), at, firstOrdinal);
            int payloadBytes = pageBytes - Block.HEADER_BYTES;
            blockBytes = blocks.seal(leafKind, number, compression, payloadBytes, payloadBytes);
        } else {
            if (pageBytes + LeafBuilder.SPARE_BYTES > page.byteSize()) {
                page = newPage(pageBytes);
            }
            leaf.build(page, 0, firstOrdinal);
            blockBytes = compress(number, pageBytes, at + (long) Block.HEADER_BYTES);
        }
        fences.end(firstOrdinal, fileOffset, blockBytes, pageBytes);
        if (boxes != null) {
            boxes.endPage();
        }
    }

    private MemorySegment newPage(int pageBytes) {
        return NativeMemory.allocate(arena, pageBytes + (long) LeafBuilder.SPARE_BYTES, 64);
    }

    private int compress(int number, int pageBytes, long target) {
        int rawBytes = pageBytes - Block.HEADER_BYTES;
        // less than an eighth saved is not worth decompressing for
        int compressedMax = rawBytes - rawBytes / 8;
        MemorySegment buffer = blocks.buffer();
        int compressed = compression.compress(
                page, Block.HEADER_BYTES, rawBytes, buffer.asSlice(target, compressedMax));
        if (compressed > 0) {
            return blocks.seal(leafKind, number, compression, compressed, rawBytes);
        }
        MemorySegment.copy(page, Block.HEADER_BYTES, buffer, target, rawBytes);
        return blocks.seal(leafKind, number, Compression.NONE, rawBytes, rawBytes);
    }
}
