package io.turbidite.feeds.flow;

import io.turbidite.core.Undo;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;

/**
 * Up to where a spill is acknowledged ({@link SpillFormat}): what lies before it must be there
 * after a crash, what lies behind it may be torn. <em>Confined to one thread.</em>
 *
 * <p>It is synced after what it tells of, and before anybody is told: that is what tells a torn end
 * from damage.
 */
final class SpillMark {
    private static final int SLOTS = 2;

    private final SpillPlace place;
    private final Disk disk;
    private final String name;
    private final Crc32c crc = new Crc32c();
    private final MemorySegment slot = MemorySegment.ofArray(new byte[SpillFormat.SLOT_BYTES]);
    private @Nullable DiskFile file;
    private long generation;
    private long segment;
    private long bytes;

    /** Of the oldest segment that is not delivered. */
    private long first;

    /** Whether names in the directory, or it, may not be durable. */
    private boolean needsNames;

    SpillMark(SpillPlace place) {
        this.place = place;
        this.disk = place.disk();
        this.name = place.directory() + "/" + place.prefix() + SpillFormat.MARK;
    }

    /**
     * Reads what there is.
     *
     * @throws io.turbidite.core.StorageException if it is damaged, or of another version
     */
    void read() {
        if (!disk.exists(name)) {
            return;
        }
        try (DiskFile there = disk.openReadOnly(name)) {
            for (int i = 1; i <= SLOTS; i++) {
                int got = there.read(
                        (long) i * SpillFormat.SLOT_STRIDE, slot, 0, SpillFormat.SLOT_BYTES);
                long found = slot.get(Bytes.I64, SpillFormat.SLOT_GENERATION_OFFSET);
                if (got == SpillFormat.SLOT_BYTES
                        && slot.get(Bytes.I32, SpillFormat.CHECKSUM_OFFSET) == checksum()
                        && found > generation) {
                    generation = found;
                    segment = slot.get(Bytes.I64, SpillFormat.SLOT_SEGMENT_OFFSET);
                    bytes = slot.get(Bytes.I64, SpillFormat.SLOT_BYTES_OFFSET);
                    first = segment - slot.get(Bytes.I32, SpillFormat.SLOT_OLDER_OFFSET);
                }
            }
            if (generation > 0) { // else the header may be torn as the slots are
                FileHeader.readFrom(there)
                        .check(name, SpillFormat.MARK_FORMAT, SpillFormat.VERSION);
            }
        }
    }

    private int checksum() {
        return crc.compute(
                slot,
                SpillFormat.SLOT_OLDER_OFFSET,
                SpillFormat.SLOT_BYTES - SpillFormat.SLOT_OLDER_OFFSET);
    }

    /** The segment up to which all is acknowledged; 0 if nothing was. */
    long segment() {
        return segment;
    }

    /** Whether there are batches in that segment that were acknowledged and are not delivered. */
    boolean wantsSegment() {
        return bytes > 0;
    }

    /** The oldest segment that is not delivered, as far as that is known. */
    long first() {
        return first;
    }

    /** Whether what begins there is acknowledged. */
    boolean covers(long ofSegment, long offset) {
        return ofSegment < segment || (ofSegment == segment && offset < bytes);
    }

    /** Whether it is in that segment that acknowledged bytes end. */
    boolean endsIn(long ofSegment) {
        return ofSegment == segment;
    }

    /** A file was made in the directory: its name is to be durable before the next mark is. */
    void needsNames() {
        needsNames = true;
    }

    /**
     * The segments up to that one are delivered, of those before the last: they may be gone, when
     * this returns.
     */
    void forget(long delivered) {
        if (first <= delivered && delivered < segment) {
            write(delivered + 1, segment, bytes);
        }
    }

    /**
     * All up to there is durable; so is that it is, when this returns.
     *
     * @param newFirst the oldest segment that is not delivered
     */
    void write(long newFirst, long newSegment, long newBytes) {
        DiskFile target = file();
        if (needsNames) {
            syncNames();
            needsNames = false;
            if (!disk.exists(beside())) { // behind the mark's name: without it it says deleted
                disk.create(beside()).close();
                disk.syncDirectory(SpillPlace.parentOf(beside()));
            }
        }
        generation++;
        slot.fill((byte) 0);
        slot.set(Bytes.I64, SpillFormat.SLOT_GENERATION_OFFSET, generation);
        slot.set(Bytes.I64, SpillFormat.SLOT_SEGMENT_OFFSET, newSegment);
        slot.set(Bytes.I64, SpillFormat.SLOT_BYTES_OFFSET, newBytes);
        slot.set(Bytes.I32, SpillFormat.SLOT_OLDER_OFFSET, (int) (newSegment - newFirst));
        slot.set(Bytes.I32, SpillFormat.CHECKSUM_OFFSET, checksum());
        long at = (1 + generation % SLOTS) * SpillFormat.SLOT_STRIDE;
        target.write(at, slot, 0, SpillFormat.SLOT_BYTES);
        target.sync();
        first = newFirst;
        segment = newSegment;
        bytes = newBytes;
    }

    private DiskFile file() {
        DiskFile open = file;
        if (open != null) {
            return open;
        }
        if (disk.exists(name) && generation > 0) {
            open = disk.open(name);
            file = open;
            return open;
        }
        if (disk.exists(name)) {
            disk.delete(name); // torn when it was made
        }
        open = disk.create(name);
        try (Undo undo = Undo.of(open::close)) {
            new FileHeader(SpillFormat.MARK_FORMAT, SpillFormat.VERSION, 0, place.owner(), 0)
                    .writeTo(open);
            open.sync();
            needsNames = true;
            file = undo.keep(open);
        }
        return open;
    }

    private String beside() {
        return place.directory() + SpillFormat.BESIDE_SUFFIX;
    }

    /**
     * Whether there was a mark that somebody has deleted, with the directory. It is asked once:
     * then that is forgotten.
     */
    boolean takeDeleted() {
        if (disk.exists(name) || !disk.exists(beside())) {
            return false;
        }
        disk.delete(beside());
        return true;
    }

    private void syncNames() {
        String directory = place.directory();
        for (int end = directory.length(); end > 0; end = directory.lastIndexOf('/', end - 1)) {
            disk.syncDirectory(directory.substring(0, end));
        }
        disk.syncDirectory("");
    }

    /**
     * Closes the file.
     *
     * @param isDone whether nothing is left of the spill: then it goes with its directory
     */
    void close(boolean isDone) {
        DiskFile open = file;
        file = null;
        if (open != null) {
            open.close();
        }
        if (isDone && place.isAcknowledged() && disk.exists(place.directory())) {
            if (disk.exists(beside())) {
                disk.delete(beside());
                disk.syncDirectory(SpillPlace.parentOf(beside())); // it is to go for good first
            }
            if (disk.exists(name)) {
                disk.delete(name);
            }
            if (disk.list(place.directory()).isEmpty()) {
                disk.delete(place.directory());
            }
        }
    }
}
