package io.turbidite.lsm.strategy.bitmap;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.format.KnownFormat;
import io.turbidite.core.memory.NativeMemory;

import org.roaringbitmap.buffer.ImmutableRoaringBitmap;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;

/**
 * The invalid entries of a component, by ordinal. They stay in memory while it is open: off-heap, a
 * bit for an entry at most, and two bytes for each invalid one where those are rare.
 *
 * <p><em>Immutable and thread-safe.</em> The component's handle closes it; nobody reads it then.
 */
public final class ImmutableValidityBitmap implements AutoCloseable {
    /** Its format. */
    public static final KnownFormat FORMAT =
            new KnownFormat(ValidityBitmapFormat.FORMAT, ValidityBitmapFormat.VERSION);

    /** What ordinals of 32 bits reach. */
    public static final long ENTRY_COUNT_MAX = 1L << 32;

    /** No ordinal: behind all of them. */
    public static final long NONE = Long.MAX_VALUE;

    private final Arena arena;
    private final ValidityBitmapOwner owner;
    private final ImmutableRoaringBitmap bitmap;
    private final long entryCount;
    private final long count;
    private final long bytes;

    private ImmutableValidityBitmap(
            Arena arena,
            ValidityBitmapOwner owner,
            ImmutableRoaringBitmap bitmap,
            long entryCount,
            long bytes) {
        this.arena = arena;
        this.owner = owner;
        this.bitmap = bitmap;
        this.entryCount = entryCount;
        this.count = bitmap.getLongCardinality();
        this.bytes = bytes;
    }

    /**
     * Reads a file that {@link ValidityBitmapBuilder#write} has written.
     *
     * @param owner whose file it must be
     * @throws CorruptionException if it is damaged, cut, stale or another's
     * @throws io.turbidite.core.FormatVersionException if it is of another version
     */
    public static ImmutableValidityBitmap open(Disk disk, String name, ValidityBitmapOwner owner) {
        Arena arena = NativeMemory.shared("invalid entries " + name);
        try (Undo undo = Undo.of(arena::close);
                DiskFile file = disk.openReadOnly(name)) {
            return undo.keep(read(file, arena, owner));
        }
    }

    private static ImmutableValidityBitmap read(
            DiskFile file, Arena arena, ValidityBitmapOwner owner) {
        FileHeader header = FileHeader.readFrom(file)
                .check(file.name(), ValidityBitmapFormat.FORMAT, ValidityBitmapFormat.VERSION)
                .checkOwner(file.name(), owner.storeId(), owner.fileId());
        long fileBytes = file.size();
        FileFooter footer = FileFooter.readFrom(file).checkOwner(file.name(), fileBytes, header);
        long payloadBytes = fileBytes - FileHeader.BYTES - FileFooter.BYTES;
        long bitmapBytes = payloadBytes - ValidityBitmapFormat.BITMAP_OFFSET;
        require(
                file,
                footer.payloadOffset() == FileHeader.BYTES
                        && footer.payloadBytes() == payloadBytes
                        && bitmapBytes > 0
                        && bitmapBytes <= ValidityBitmapFormat.BITMAP_BYTES_MAX,
                "payload",
                "%d bytes at %d".formatted(payloadBytes, FileHeader.BYTES),
                "%d bytes at %d".formatted(footer.payloadBytes(), footer.payloadOffset()));
        MemorySegment payload = arena.allocate(payloadBytes, Long.BYTES);
        int got = file.read(FileHeader.BYTES, payload, 0, (int) payloadBytes);
        require(file, got == payloadBytes, "payload", payloadBytes + " bytes", got + " bytes");
        footer.checkPayload(file.name(), payload, 0);
        return decode(file, arena, owner, payload);
    }

    private static ImmutableValidityBitmap decode(
            DiskFile file, Arena arena, ValidityBitmapOwner owner, MemorySegment payload) {
        long component = payload.get(Bytes.I64, ValidityBitmapFormat.COMPONENT_FILE_ID_OFFSET);
        require(
                file,
                component == owner.componentFileId(),
                "component",
                "file " + owner.componentFileId(),
                "file " + component);
        long entryCount = payload.get(Bytes.I64, ValidityBitmapFormat.ENTRY_COUNT_OFFSET);
        long invalidCount = payload.get(Bytes.I64, ValidityBitmapFormat.INVALID_COUNT_OFFSET);
        MemorySegment bits = payload.asSlice(ValidityBitmapFormat.BITMAP_OFFSET);
        // the checksum is right: what is wrong now is the writer's fault
        try {
            ImmutableValidityBitmap invalidEntries = new ImmutableValidityBitmap(
                    arena,
                    owner,
                    new ImmutableRoaringBitmap(bits.asByteBuffer()),
                    entryCount,
                    FileHeader.BYTES + payload.byteSize() + FileFooter.BYTES);
            require(
                    file,
                    invalidEntries.count == invalidCount
                            && invalidCount > 0
                            && entryCount <= ENTRY_COUNT_MAX
                            && Integer.toUnsignedLong(invalidEntries.bitmap.last()) < entryCount,
                    "invalid entries",
                    "%d below %d".formatted(invalidCount, entryCount),
                    "%d up to %s"
                            .formatted(
                                    invalidEntries.count,
                                    Long.toString(invalidEntries.previous(NONE))));
            return invalidEntries;
        } catch (CorruptionException said) {
            throw said;
        } catch (RuntimeException unreadable) {
            // the bitmap's library trusts the lengths and offsets that it reads, whatever they lead
            // to
            throw new CorruptionException(
                    file.name(),
                    FileHeader.BYTES,
                    "invalid entries",
                    "a bitmap",
                    String.valueOf(unreadable.getMessage()));
        }
    }

    private static void require(
            DiskFile file, boolean right, String what, String expected, String found) {
        if (!right) {
            throw new CorruptionException(file.name(), FileHeader.BYTES, what, expected, found);
        }
    }

    public ValidityBitmapOwner owner() {
        return owner;
    }

    /** Entries of the component, valid or invalid. */
    public long entryCount() {
        return entryCount;
    }

    /** Invalid entries. */
    public long count() {
        return count;
    }

    /** Bytes of the file; about what it takes of memory. */
    public long bytes() {
        return bytes;
    }

    /** Whether the entry is invalid. */
    public boolean contains(long ordinal) {
        assert ordinal >= 0 && ordinal < entryCount : ordinal + " of " + entryCount;
        return bitmap.contains((int) ordinal);
    }

    /** The first invalid entry at or behind {@code ordinal}; {@link #NONE} if there is none. */
    public long next(long ordinal) {
        if (ordinal >= entryCount) {
            return NONE;
        }
        long found = bitmap.nextValue((int) ordinal);
        return found < 0 ? NONE : found;
    }

    /** The last invalid entry at or before {@code ordinal}; -1 if there is none. */
    public long previous(long ordinal) {
        return ordinal < 0
                ? -1
                : bitmap.previousValue((int) Math.min(ordinal, ENTRY_COUNT_MAX - 1));
    }

    ImmutableRoaringBitmap bitmap() {
        return bitmap;
    }

    @Override
    public void close() {
        arena.close();
    }

    @Override
    public String toString() {
        return "%d invalid of %d entries of component %d"
                .formatted(count, entryCount, owner.componentFileId());
    }
}
