package io.turbidite.feeds.cluster.change;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileHeader;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * What a file of changes holds. <em>Confined to one thread.</em> Steps:
 *
 * <ol>
 *   <li>Frames are read one behind the other, until one is not whole, is a mark, or the file ends.
 *   <li>From there on it is looked for one more: frames are synced one by one, and take the place
 *       of the mark. So where one lies behind the end, the end is none, but damage.
 * </ol>
 */
final class ChangeScan {
    private final String name;
    private final FileHeader header;
    private final byte[] bytes;
    private final Crc32c crc = new Crc32c();
    private final List<Entry> entries = new ArrayList<>();
    private Epoch epoch = Epoch.NONE;
    private ClusterMap map = ClusterMap.EMPTY;
    private int lastOffset = ChangeFrame.FIRST_OFFSET;
    private int end = ChangeFrame.FIRST_OFFSET;

    private ChangeScan(String name, FileHeader header, byte[] bytes) {
        this.name = name;
        this.header = header;
        this.bytes = bytes;
    }

    /**
     * Reads a file whose header was found right.
     *
     * @throws CorruptionException if it is damaged before its end
     */
    static ChangeScan of(DiskFile file, FileHeader header) {
        long size = file.size();
        if (size > ChangeLog.BYTES_MAX + (long) ChangeCodec.PAYLOAD_BYTES_MAX) {
            throw new CorruptionException(
                    file.name(), 0, "file", "at most " + ChangeLog.BYTES_MAX + " bytes", "" + size);
        }
        byte[] bytes = new byte[(int) size];
        int got = file.read(0, MemorySegment.ofArray(bytes), 0, bytes.length);
        assert got == bytes.length : got + " of " + bytes.length;
        ChangeScan scan = new ChangeScan(file.name(), header, bytes);
        scan.read();
        return scan;
    }

    private void read() {
        boolean marked = false;
        for (ChangeFrame frame = frameAt(end); frame != null && !marked; ) {
            if (frame.kind() == ChangeFrame.KIND_MARK) {
                checkNumber(frame, entries.size());
                marked = true;
            } else {
                take(frame);
                lastOffset = end;
                end += frame.byteCount();
                frame = frameAt(end);
            }
        }
        int behind = end + ChangeFrame.ALIGNMENT;
        for (int at = behind; at < bytes.length; at += ChangeFrame.ALIGNMENT) {
            if (frameAt(at) != null) {
                throw new CorruptionException(
                        name,
                        end,
                        "what follows on change " + entries.size(),
                        "whole, since more lies behind it at " + at,
                        marked ? "an end" : "damaged");
            }
        }
    }

    private @Nullable ChangeFrame frameAt(int offset) {
        return ChangeFrame.read(bytes, offset, header, crc);
    }

    private void take(ChangeFrame frame) {
        if (frame.kind() == ChangeFrame.KIND_EPOCH) {
            if (frame.number() <= epoch.number()) {
                throw damaged("an epoch", "later than " + epoch.number(), "" + frame.number());
            }
            epoch = new Epoch(frame.number(), frame.word());
            return;
        }
        if (frame.kind() != ChangeFrame.KIND_CHANGE) {
            throw damaged("a frame", "of kind 1 to 3", "of kind " + frame.kind());
        }
        checkNumber(frame, entries.size() + 1L);
        long before = entries.isEmpty() ? Entry.CHAIN_START : entries.getLast().chain();
        long chain = Entry.chained(before, frame.number(), frame.payload());
        if (frame.word() != chain) {
            throw damaged(
                    "the chain of change " + frame.number(),
                    Long.toHexString(chain),
                    Long.toHexString(frame.word()));
        }
        try {
            Change change = ChangeCodec.decode(frame.payload());
            map = map.with(change);
            entries.add(new Entry(frame.number(), chain, change));
        } catch (InvalidRequestException e) {
            throw damaged(
                    "change " + frame.number(), "one that fits", String.valueOf(e.getMessage()));
        }
    }

    private void checkNumber(ChangeFrame frame, long expected) {
        if (frame.number() != expected) {
            throw damaged("the number of a frame", "" + expected, "" + frame.number());
        }
    }

    private CorruptionException damaged(String what, String expected, String found) {
        return new CorruptionException(name, end, what, expected, found);
    }

    /** All bytes of the file. */
    byte[] bytes() {
        return bytes;
    }

    List<Entry> entries() {
        return entries;
    }

    Epoch epoch() {
        return epoch;
    }

    ClusterMap map() {
        return map;
    }

    /** Where the last change or epoch begins; that of {@link #end} if there is none. */
    int lastOffset() {
        return lastOffset;
    }

    /** Behind the last change or epoch. */
    int end() {
        return end;
    }
}
