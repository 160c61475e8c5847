package io.turbidite.hashlog.log;

import io.turbidite.core.CorruptionException;

import java.lang.foreign.MemorySegment;

/**
 * The records between two addresses, in the order of their addresses; fillers are stepped over.
 *
 * <p><em>Confined to one thread.</em> Ends at the safe tail of its start at the latest, so it never
 * looks at a place that is being written (the original takes an unwritten header for padding and
 * steps into record bodies, research §3). Its reader is protected while it runs and refreshed now
 * and then; from disk it fetches {@link #CHUNK_BYTES} at a time.
 */
public final class LogScan {
    /**
     * Fetched at once from disk: large enough for a device's full speed, small enough for a cache.
     */
    static final int CHUNK_BYTES = 256 << 10;

    /** Bytes between two refreshes. */
    private static final int REFRESH_BYTES = 256 << 10;

    private final LogReader reader;
    private final LogShape shape;
    private long next;
    private long end;
    private long refreshAt;
    private long address;
    private long header;

    /** Reads by a reader, which stays the caller's. */
    public LogScan(LogReader reader) {
        this.reader = reader;
        this.shape = reader.log().shape();
    }

    /**
     * Starts over.
     *
     * @param from where a record or a page starts, not below begin
     * @param to exclusive; the safe tail if that is lower
     */
    public void start(long from, long to) {
        next = Math.max(from, shape.firstRecordOf(shape.pageOf(from)));
        end = Math.min(to, reader.log().safeTail());
        refreshAt = next + REFRESH_BYTES;
    }

    /**
     * Moves to the next record, session mark or deletion, deleted records included; false at the
     * end.
     */
    public boolean next() {
        while (next < end) {
            if (next >= refreshAt) {
                reader.refresh();
                refreshAt = next + REFRESH_BYTES;
            }
            address = next;
            long pageEnd = shape.startOf(shape.pageOf(address) + 1);
            if (!reader.holds(address, RecordHeader.BYTES)) {
                reader.prefetch(address, Math.min(pageEnd, address + CHUNK_BYTES));
            }
            header = reader.headerAt(address);
            long byteCount = RecordHeader.recordBytes(header);
            if (!RecordHeader.isVisible(header)
                    || byteCount > pageEnd - address
                    || !RecordHeader.isOfItsKind(header)) {
                throw damaged(pageEnd);
            }
            next = address + byteCount;
            if (next == pageEnd) {
                next = shape.firstRecordOf(shape.pageOf(pageEnd));
            }
            if (RecordHeader.kind(header) != RecordHeader.FILLER) {
                if (!reader.holds(address, (int) byteCount)) {
                    int ahead = (int) Math.max(byteCount, CHUNK_BYTES);
                    reader.prefetch(address, Math.min(pageEnd, address + ahead));
                }
                reader.seek(address, (int) byteCount);
                return true;
            }
        }
        return false;
    }

    /** The record's address. */
    public long address() {
        return address;
    }

    /** Its header word. */
    public long header() {
        return header;
    }

    /** Where the next record starts; the end once there is none: a scan may go on there later. */
    public long position() {
        return next;
    }

    /** What holds the record until the next call. */
    public MemorySegment segment() {
        return reader.segment();
    }

    /** Where in {@link #segment} it begins. */
    public long offset() {
        return reader.offset();
    }

    private CorruptionException damaged(long pageEnd) {
        return reader.log()
                .damaged(
                        address,
                        "record",
                        "visible, of its kind and up to %d bytes".formatted(pageEnd - address),
                        "header 0x%016x".formatted(header));
    }
}
