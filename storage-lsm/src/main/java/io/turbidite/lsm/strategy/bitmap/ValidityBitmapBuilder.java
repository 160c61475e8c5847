package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.memory.NativeMemory;

import org.jspecify.annotations.Nullable;
import org.roaringbitmap.RoaringBitmap;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * Gathers the invalid entries of a component, in any order, and writes them as a file.
 *
 * <p><em>Confined to one thread at a time.</em> Memory: a bit for an entry at most, on the heap;
 * less where few are invalid.
 */
public final class ValidityBitmapBuilder {
    private final long entryCountMax;
    private final RoaringBitmap marked;

    private ValidityBitmapBuilder(long entryCountMax, RoaringBitmap marked) {
        this.entryCountMax = entryCountMax;
        this.marked = marked;
    }

    /**
     * A builder without invalid entries.
     *
     * @param entryCountMax what the component may have of entries
     * @throws InvalidRequestException if a bitmap does not reach them all
     */
    public static ValidityBitmapBuilder create(long entryCountMax) {
        if (entryCountMax < 0 || entryCountMax > ImmutableValidityBitmap.ENTRY_COUNT_MAX) {
            throw new InvalidRequestException(
                    "a component of %d entries can't have a bitmap of invalid ones: that reaches %d; use a merge policy that bounds components"
                            .formatted(entryCountMax, ImmutableValidityBitmap.ENTRY_COUNT_MAX));
        }
        return new ValidityBitmapBuilder(entryCountMax, new RoaringBitmap());
    }

    /** A builder that begins with what is invalid already of a component. */
    public static ValidityBitmapBuilder of(
            long entryCount, @Nullable ImmutableValidityBitmap before) {
        ValidityBitmapBuilder builder = create(entryCount);
        if (before != null) {
            assert before.entryCount() == entryCount : before;
            builder.marked.or(before.bitmap().toRoaringBitmap());
        }
        return builder;
    }

    /** Marks an entry. */
    public void mark(long ordinal) {
        assert ordinal >= 0 && ordinal < entryCountMax : ordinal + " of " + entryCountMax;
        marked.add((int) ordinal);
    }

    /** Entries that are marked. */
    public long count() {
        return marked.getLongCardinality();
    }

    /**
     * Writes the file and makes it durable; its directory is the caller's to sync. If it fails
     * there is no file, as far as that can be.
     *
     * @param entryCount of the component
     * @return bytes of the file
     */
    public long write(Disk disk, String name, ValidityBitmapOwner owner, long entryCount) {
        assert entryCount <= entryCountMax : entryCount;
        if (marked.isEmpty()) {
            throw new IllegalStateException("no entry is invalid: that is no bitmap");
        }
        marked.runOptimize();
        try (Arena arena = NativeMemory.confined("a new bitmap")) {
            MemorySegment payload = encode(arena, owner, entryCount);
            return write(disk, name, owner, payload);
        }
    }

    private MemorySegment encode(Arena arena, ValidityBitmapOwner owner, long entryCount) {
        int bitmapBytes = Math.toIntExact(marked.serializedSizeInBytes());
        MemorySegment payload =
                arena.allocate((long) ValidityBitmapFormat.BITMAP_OFFSET + bitmapBytes, Long.BYTES);
        payload.set(
                Bytes.I64, ValidityBitmapFormat.COMPONENT_FILE_ID_OFFSET, owner.componentFileId());
        payload.set(Bytes.I64, ValidityBitmapFormat.ENTRY_COUNT_OFFSET, entryCount);
        payload.set(Bytes.I64, ValidityBitmapFormat.INVALID_COUNT_OFFSET, count());
        marked.serialize(payload.asSlice(ValidityBitmapFormat.BITMAP_OFFSET).asByteBuffer());
        return payload;
    }

    private static long write(
            Disk disk, String name, ValidityBitmapOwner owner, MemorySegment payload) {
        int payloadBytes = Math.toIntExact(payload.byteSize());
        int checksum = new Crc32c().compute(payload, 0, payloadBytes);
        try (Undo undo = Undo.of(() -> delete(disk, name));
                DiskFile file = disk.create(name)) {
            new FileHeader(
                            ValidityBitmapFormat.FORMAT,
                            ValidityBitmapFormat.VERSION,
                            0,
                            owner.storeId(),
                            owner.fileId())
                    .writeTo(file);
            file.write(FileHeader.BYTES, payload, 0, payloadBytes);
            new FileFooter(
                            FileHeader.BYTES,
                            payloadBytes,
                            checksum,
                            owner.storeId(),
                            owner.fileId())
                    .writeTo(file, FileHeader.BYTES + (long) payloadBytes);
            file.sync();
            undo.keep();
            return file.size();
        }
    }

    private static void delete(Disk disk, String name) {
        try {
            if (disk.exists(name)) {
                disk.delete(name);
            }
        } catch (StorageException left) {
            // no manifest names it: the next opening puts it into the trash
        }
    }
}
