package io.turbidite.lsm.component;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.cache.PageLoader;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.lsm.btree.Fences;
import io.turbidite.lsm.component.Block.Expected;
import io.turbidite.lsm.component.BlockWriter.Section;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;

/**
 * Reads blocks of a component file, checks them and decompresses them. <em>Thread-safe: it has no
 * state but the file, and a checksum that one thread at a time may borrow.</em>
 */
final class BlockReader {
    /** One read call. */
    private static final int READ_BYTES_MAX = 1 << 30;

    private final DiskFile file;
    private final long fileId;

    /** For loads of the cache: making one is more garbage than all the rest of a load. */
    private final AtomicReference<@Nullable Crc32c> spareCrc = new AtomicReference<>();

    /** Is told of damage that a reader has met, before the reader is. */
    private volatile Consumer<CorruptionException> witness = damage -> {};

    BlockReader(DiskFile file, long fileId) {
        this.file = file;
        this.fileId = fileId;
    }

    void tell(Consumer<CorruptionException> told) {
        witness = told;
    }

    /** Tells the witness of damage in a block that it does not know of. */
    void met(CorruptionException damage) {
        witness.accept(damage);
    }

    /** Reads a block that is never compressed, header included, into memory of {@code arena}. */
    MemorySegment readSection(Block.Kind kind, Section section, Arena arena) {
        Expected expected = expected(kind, 0, section.fileOffset());
        if (section.bytes() < Block.HEADER_BYTES || section.bytes() > Integer.MAX_VALUE) {
            throw expected.malformed("block of " + section.bytes() + " bytes");
        }
        // a Bloom filter must start at a cache line, an interior's block does: its heads are 64
        // behind
        int lead = kind == Block.Kind.BLOOM ? 64 - Block.HEADER_BYTES : 0;
        MemorySegment block =
                NativeMemory.allocate(arena, lead + section.bytes(), 64).asSlice(lead);
        readFully(expected, block, (int) section.bytes());
        Compression found = Block.check(block, 0, expected, (int) section.bytes(), new Crc32c());
        if (found != Compression.NONE) {
            throw expected.malformed("compressed");
        }
        return block;
    }

    /** Reads leaf page {@code page} of a tree into {@code target}, which is as long as the page. */
    void readPage(Block.Kind kind, Fences fences, int page, MemorySegment target) {
        Crc32c spare = spareCrc.getAndSet(null);
        Crc32c crc = spare == null ? new Crc32c() : spare;
        try {
            readPage(kind, fences, page, target, crc);
        } catch (CorruptionException damage) {
            witness.accept(damage);
            throw damage;
        }
        crc.forget();
        spareCrc.set(crc);
    }

    private void readPage(
            Block.Kind kind, Fences fences, int page, MemorySegment target, Crc32c crc) {
        Expected expected = expected(kind, page, fences.fileOffset(page));
        int blockBytes = fences.blockBytes(page);
        if (blockBytes == target.byteSize()) {
            readFully(expected, target, blockBytes);
            unpackHere(expected, fences, target, target, crc);
            return;
        }
        // a load is rare and decompressing dear: an allocation of its own does not show
        try (Arena arena = NativeMemory.confined("a block of a component")) {
            MemorySegment block = NativeMemory.allocate(arena, blockBytes, 64);
            readFully(expected, block, blockBytes);
            unpackHere(expected, fences, block, target, crc);
        }
    }

    Expected expected(Block.Kind kind, int number, long fileOffset) {
        return new Expected(file.name(), fileOffset, kind, number, fileId);
    }

    /**
     * Checks a leaf block and makes a page of it.
     *
     * @param block exactly the block
     * @param target exactly the page; {@code block} itself if it is as long
     */
    void unpack(
            Expected expected,
            Fences fences,
            MemorySegment block,
            MemorySegment target,
            Crc32c crc) {
        try {
            unpackHere(expected, fences, block, target, crc);
        } catch (CorruptionException damage) {
            witness.accept(damage);
            throw damage;
        }
    }

    private void unpackHere(
            Expected expected,
            Fences fences,
            MemorySegment block,
            MemorySegment target,
            Crc32c crc) {
        Compression compression = Block.check(block, 0, expected, (int) block.byteSize(), crc);
        unpackChecked(expected, fences, compression, block, target);
    }

    /** Makes a page of a leaf block that {@link Block#check} has passed. */
    // Identity is meant: whether the page is already where it should be.
    @SuppressWarnings({"MemorySegmentReferenceEquality", "ReferenceEquality"})
    void unpackChecked(
            Expected expected,
            Fences fences,
            Compression compression,
            MemorySegment block,
            MemorySegment target) {
        long blockBytes = block.byteSize();
        if (compression == Compression.NONE) {
            if (blockBytes != target.byteSize()) {
                throw expected.malformed(
                        "page of %d bytes, %d expected".formatted(blockBytes, target.byteSize()));
            }
            if (block != target) {
                target.copyFrom(block);
            }
        } else {
            MemorySegment.copy(block, 0, target, 0, Block.HEADER_BYTES);
            if (block == target
                    || !compression.decompress(
                            block.asSlice(Block.HEADER_BYTES),
                            target.asSlice(Block.HEADER_BYTES))) {
                throw expected.malformed(
                        "not %s of that many bytes".formatted(compression.label()));
            }
        }
        String problem = fences.problemOfPage(expected.number(), target);
        if (problem != null) {
            throw expected.malformed(problem);
        }
    }

    private void readFully(Expected expected, MemorySegment target, int byteCount) {
        long done = 0;
        while (done < byteCount) {
            int wanted = (int) Math.min(READ_BYTES_MAX, byteCount - done);
            int bytes = file.read(expected.fileOffset() + done, target, done, wanted);
            done += bytes;
            if (bytes < wanted) {
                throw expected.damaged(done, "length", byteCount + " bytes", done + " bytes");
            }
        }
    }

    /**
     * The loader of the buffer cache: all leaf pages of the file, those of the record tree first.
     */
    PageLoader loader(Fences records, @Nullable Fences keys) {
        return new PageLoader() {
            @Override
            public int pageBytes(int page) {
                return isRecord(page)
                        ? records.pageBytes(page)
                        : keyFences().pageBytes(page - records.pageCount());
            }

            @Override
            public void load(int page, MemorySegment target) {
                if (isRecord(page)) {
                    readPage(Block.Kind.RECORD_LEAF, records, page, target);
                } else {
                    int keyPage = page - records.pageCount();
                    readPage(Block.Kind.KEY_LEAF, keyFences(), keyPage, target);
                }
            }

            private boolean isRecord(int page) {
                return page < records.pageCount();
            }

            private Fences keyFences() {
                if (keys == null) {
                    throw new IllegalArgumentException(file.name() + " has no key tree");
                }
                return keys;
            }
        };
    }

    /** What reads should be aligned to; see {@link DiskFile#blockBytes}. */
    int blockBytes() {
        return file.blockBytes();
    }

    /** As {@link #readRaw}, and false if less than {@code needed} is there. */
    boolean tryRead(long fileOffset, MemorySegment target, int byteCount, int needed) {
        return file.read(fileOffset, target, 0, byteCount) >= needed;
    }

    /**
     * Reads bytes as they are, for whoever checks them itself.
     *
     * @param needed of the {@code byteCount} bytes, how many must be there
     */
    void readRaw(long fileOffset, MemorySegment target, int byteCount, int needed) {
        int bytes = file.read(fileOffset, target, 0, byteCount);
        if (bytes < needed) {
            throw new CorruptionException(
                    file.name(), fileOffset, "file", needed + " bytes", bytes + " bytes");
        }
    }
}
