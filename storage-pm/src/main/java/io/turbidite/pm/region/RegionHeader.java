package io.turbidite.pm.region;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * What a region says of itself. <em>Immutable.</em>
 *
 * <p>There are two slots, at offsets 0 and 4096; each change goes to the slot that has the older
 * one, so that a torn one leaves its predecessor. The sound slot with the larger sequence counts.
 * Layout of a slot (little-endian):
 *
 * <pre>
 * offset bytes field
 *      0    64 envelope         format "pm-region"; the file id is the index
 *     64     8 sequence         of changes of the header
 *     72     8 state            1 clean, 2 open, 3 absorbing
 *     80     8 absorbedThrough  timestamp up to which the region has absorbed
 *     88     8 sum              of all blocks, at the end of the last absorption; 0 if not kept
 *     96     8 treeRoot         offset of the first node of the secondary-key layer
 *    104     8 tableRoot        offset of the first bucket of the table of versions
 *    112     4 pageBytes        of a page of postings
 *    116     4 mode             1 dax, 2 file, 3 volatile; 0 in regions of before it was kept
 *    120     8 reachedThrough   the largest timestamp that any absorption was to end with, a cut
 *                             one too; 0 in regions of before it was kept
 *    128     8 session          of the store that opened it last; 0 in version 1
 *    136     8 contentSession   whose contents it has: {@code session}, or the one before it as
 *                             long as {@code session} has changed nothing
 *    144   108 zero
 *    252     4 checksum         masked CRC32C of bytes 0 to 251
 * </pre>
 *
 * @param sequence of changes of the header
 * @param state what was going on when it was written
 * @param absorbedThrough timestamp up to which the region has absorbed
 * @param sum of all blocks, at the end of the last absorption; 0 if not kept
 * @param treeRoot offset of the first node of the secondary-key layer
 * @param tableRoot offset of the first bucket of the table of versions
 * @param pageBytes of a page of postings
 * @param mode of the memory that it was written to; null in regions of before it was kept
 * @param reachedThrough the largest timestamp that any absorption was to end with, written down
 *     before it changed anything; it never gets smaller. 0 in regions of before it was kept
 * @param session of the store that opened it last; 0 in version 1
 * @param contentSession whose contents it has: {@code session}, or the one before it as long as
 *     {@code session} has changed nothing
 */
record RegionHeader(
        long sequence,
        State state,
        long absorbedThrough,
        long sum,
        long treeRoot,
        long tableRoot,
        int pageBytes,
        @Nullable RegionMode mode,
        long reachedThrough,
        long session,
        long contentSession) {
    static final String FORMAT = "pm-region";
    static final int VERSION = 2;

    /** It had no sessions. */
    static final int VERSION_MIN = 1;

    /** Two pages of the operating system: they are written independently. */
    static final int SLOT_STRIDE = 4_096;

    static final int SLOT_BYTES = 256;
    static final int SEQUENCE_OFFSET = FileHeader.BYTES;
    static final int STATE_OFFSET = SEQUENCE_OFFSET + 8;
    static final int ABSORBED_OFFSET = STATE_OFFSET + 8;
    static final int SUM_OFFSET = ABSORBED_OFFSET + 8;
    static final int TREE_ROOT_OFFSET = SUM_OFFSET + 8;
    static final int TABLE_ROOT_OFFSET = TREE_ROOT_OFFSET + 8;
    static final int PAGE_BYTES_OFFSET = TABLE_ROOT_OFFSET + 8;
    static final int MODE_OFFSET = PAGE_BYTES_OFFSET + 4;
    static final int REACHED_OFFSET = MODE_OFFSET + 4;
    static final int SESSION_OFFSET = REACHED_OFFSET + 8;
    static final int CONTENT_SESSION_OFFSET = SESSION_OFFSET + 8;
    static final int ZERO_OFFSET = CONTENT_SESSION_OFFSET + 8;
    static final int CHECKSUM_OFFSET = SLOT_BYTES - 4;

    /** What was going on when a header was written. */
    enum State {
        /** Closed, all forced. */
        CLEAN(1),
        /** In use, between absorptions. */
        OPEN(2),
        /** In the middle of an absorption. */
        ABSORBING(3);

        private final int code;

        State(int code) {
            this.code = code;
        }

        private static @Nullable State of(long code) {
            for (State state : values()) {
                if (state.code == code) {
                    return state;
                }
            }
            return null;
        }
    }

    MemorySegment encode(RegionSpec spec) {
        MemorySegment slot = MemorySegment.ofArray(new byte[SLOT_BYTES]);
        new FileHeader(FORMAT, VERSION, 0, spec.storeId(), spec.indexId()).write(slot, 0);
        slot.set(Bytes.I64, SEQUENCE_OFFSET, sequence);
        slot.set(Bytes.I64, STATE_OFFSET, (long) state.code);
        slot.set(Bytes.I64, ABSORBED_OFFSET, absorbedThrough);
        slot.set(Bytes.I64, SUM_OFFSET, sum);
        slot.set(Bytes.I64, TREE_ROOT_OFFSET, treeRoot);
        slot.set(Bytes.I64, TABLE_ROOT_OFFSET, tableRoot);
        slot.set(Bytes.I32, PAGE_BYTES_OFFSET, pageBytes);
        slot.set(Bytes.I32, MODE_OFFSET, mode == null ? 0 : mode.code());
        slot.set(Bytes.I64, REACHED_OFFSET, reachedThrough);
        slot.set(Bytes.I64, SESSION_OFFSET, session);
        slot.set(Bytes.I64, CONTENT_SESSION_OFFSET, contentSession);
        slot.set(Bytes.I32, CHECKSUM_OFFSET, new Crc32c().compute(slot, 0, CHECKSUM_OFFSET));
        return slot;
    }

    /**
     * The newest sound header of a region.
     *
     * @throws CorruptionException if there is none, or it is another's
     * @throws FormatVersionException if it is of a version that this release does not read
     */
    static RegionHeader read(RegionMemory memory, RegionSpec spec) {
        @Nullable RegionHeader newest = null;
        @Nullable StorageException refused = null;
        for (int slot = 0; slot < 2; slot++) {
            try {
                RegionHeader found = decode(memory, slot, spec);
                if (newest == null || found.sequence > newest.sequence) {
                    newest = found;
                }
            } catch (CorruptionException | FormatVersionException e) {
                if (refused == null || e instanceof FormatVersionException) {
                    refused = e;
                }
            }
        }
        if (newest != null) {
            return newest;
        }
        throw refused == null ? new IllegalStateException("no slot was read") : refused;
    }

    private static RegionHeader decode(RegionMemory memory, int slotIndex, RegionSpec spec) {
        String file = memory.name();
        long at = (long) slotIndex * SLOT_STRIDE;
        MemorySegment slot = MemorySegment.ofArray(new byte[SLOT_BYTES]);
        memory.getBytes(at, slot, 0, SLOT_BYTES);
        FileHeader envelope = FileHeader.read(file, slot, 0);
        int stored = slot.get(Bytes.I32, CHECKSUM_OFFSET);
        int computed = new Crc32c().compute(slot, 0, CHECKSUM_OFFSET);
        if (stored != computed) {
            throw new CorruptionException(
                    file,
                    at + CHECKSUM_OFFSET,
                    "region header checksum",
                    Integer.toHexString(computed),
                    Integer.toHexString(stored));
        }
        var _ = envelope.check(file, FORMAT, VERSION_MIN, VERSION)
                .checkOwner(file, spec.storeId(), spec.indexId());
        for (int i = ZERO_OFFSET; i < CHECKSUM_OFFSET; i++) {
            require(file, at + i, "padding", 0, slot.get(Bytes.U8, i));
        }
        if (envelope.version() == VERSION_MIN) {
            require(file, at + SESSION_OFFSET, "padding", 0, slot.get(Bytes.I64, SESSION_OFFSET));
            require(
                    file,
                    at + CONTENT_SESSION_OFFSET,
                    "padding",
                    0,
                    slot.get(Bytes.I64, CONTENT_SESSION_OFFSET));
        }
        long code = slot.get(Bytes.I64, STATE_OFFSET);
        State state = State.of(code);
        if (state == null) {
            throw new CorruptionException(
                    file, at + STATE_OFFSET, "state", "1 to 3", String.valueOf(code));
        }
        int pageBytes = slot.get(Bytes.I32, PAGE_BYTES_OFFSET);
        require(file, at + PAGE_BYTES_OFFSET, "page size", spec.pageBytes(), pageBytes);
        int modeCode = slot.get(Bytes.I32, MODE_OFFSET);
        RegionMode mode = RegionMode.of(modeCode);
        if (mode == null && modeCode != 0) {
            throw new CorruptionException(
                    file, at + MODE_OFFSET, "mode", "0 to 3", String.valueOf(modeCode));
        }
        return new RegionHeader(
                slot.get(Bytes.I64, SEQUENCE_OFFSET),
                state,
                slot.get(Bytes.I64, ABSORBED_OFFSET),
                slot.get(Bytes.I64, SUM_OFFSET),
                slot.get(Bytes.I64, TREE_ROOT_OFFSET),
                slot.get(Bytes.I64, TABLE_ROOT_OFFSET),
                pageBytes,
                mode,
                slot.get(Bytes.I64, REACHED_OFFSET),
                slot.get(Bytes.I64, SESSION_OFFSET),
                slot.get(Bytes.I64, CONTENT_SESSION_OFFSET));
    }

    /** The same, of other sessions; in memory alone. */
    RegionHeader of(long newSession, long newContentSession) {
        return new RegionHeader(
                sequence,
                state,
                absorbedThrough,
                sum,
                treeRoot,
                tableRoot,
                pageBytes,
                mode,
                reachedThrough,
                newSession,
                newContentSession);
    }

    /** Whether a region is what a session left: nobody has changed it since. */
    boolean isOfSession(long wanted) {
        return session == wanted || contentSession == wanted;
    }

    /** Whether a file has a header of a region, in whatever version. */
    static boolean isIn(DiskFile file, long storeId, long indexId) {
        MemorySegment start = MemorySegment.ofArray(new byte[2 * SLOT_STRIDE]);
        var _ = file.read(0, start, 0, 2 * SLOT_STRIDE);
        return isSlotOf(file.name(), start, 0, storeId, indexId)
                || isSlotOf(file.name(), start, SLOT_STRIDE, storeId, indexId);
    }

    /** Whether a file has nothing but zeros, as a region that was begun. */
    static boolean isBlank(DiskFile file) {
        MemorySegment bytes = MemorySegment.ofArray(new byte[1 << 16]);
        MemorySegment zeros = MemorySegment.ofArray(new byte[1 << 16]);
        long at = 0;
        int byteCount = file.read(0, bytes, 0, 1 << 16);
        while (byteCount > 0) {
            if (bytes.asSlice(0, byteCount).mismatch(zeros.asSlice(0, byteCount)) >= 0) {
                return false;
            }
            at += byteCount;
            byteCount = file.read(at, bytes, 0, 1 << 16);
        }
        return true;
    }

    private static boolean isSlotOf(
            String file, MemorySegment start, long at, long storeId, long indexId) {
        try {
            FileHeader found = FileHeader.read(file, start, at);
            return found.format().equals(FORMAT)
                    && found.storeId() == storeId
                    && found.fileId() == indexId;
        } catch (CorruptionException none) {
            return false; // what it is then is not known
        }
    }

    private static void require(String file, long at, String what, long expected, long found) {
        if (expected != found) {
            throw new CorruptionException(
                    file, at, what, String.valueOf(expected), String.valueOf(found));
        }
    }
}
