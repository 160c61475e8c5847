package io.turbidite.hashlog.chain;

import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.table.HashTable;

import java.lang.foreign.MemorySegment;

/**
 * The records of one property, newest first, over one or several chains.
 *
 * <p><em>Confined to one thread;</em> its reader is protected from {@link #start} on, and may be
 * refreshed between calls of {@link #next}: addresses stay good, on disk or in memory.
 *
 * <p>Sees every record below the safe tail at the time of {@link #start}; of those above it the
 * ones that are visible when the walk comes by.
 */
public final class ChainWalk {
    private final LogReader reader;
    private final HashTable table;
    private final Property property;
    private final ReadAhead readAhead;
    private final long[] chains;
    private final long[] next;
    private long floor;
    private long record;
    private long header;
    private long hopCount;

    /** What prefetching loads add up to: a use of them that the compiler must keep. */
    private long touched;

    /**
     * @param chains hashes of the chains to walk
     */
    public ChainWalk(
            LogReader reader,
            HashTable table,
            Property property,
            long[] chains,
            ReadAhead readAhead) {
        this.chains = chains.clone();
        this.next = new long[chains.length];
        this.reader = reader;
        this.table = table;
        this.property = property;
        this.readAhead = readAhead;
    }

    /**
     * Starts at the newest record, to end before {@code from}, an address not below the log's
     * begin.
     */
    public void start(long from) {
        for (int chain = 0; chain < chains.length; chain++) {
            next[chain] = table.headOf(chains[chain]);
        }
        floor = from;
    }

    /** Goes on where it ended, to end before {@code from}. */
    public void goOn(long from) {
        floor = from;
    }

    /** The chain whose next key pointer is the newest. */
    private int newest() {
        int newest = 0;
        for (int chain = 1; chain < next.length; chain++) {
            if (next[chain] > next[newest]) {
                newest = chain;
            }
        }
        return newest;
    }

    /** Moves to the next record of the property; false at the end. */
    public boolean next() {
        while (true) {
            int chain = newest();
            long at = next[chain];
            if (at < floor || at == 0) {
                return false;
            }
            hopCount++;
            readAhead.before(reader, at);
            reader.seek(at, KeyPointer.LINK_BYTES);
            long link = KeyPointer.loadLink(reader.segment(), reader.offset());
            long previous = KeyPointer.previous(link);
            next[chain] = previous;
            touched += reader.touch(previous);
            long start = KeyPointer.recordAddress(at, link);
            if (start >= floor) {
                long word = reader.seekRecord(start);
                if (previous >= at || !KeyPointer.isOf(link, word)) {
                    throw reader.damaged(at, "key pointer", link);
                }
                if (RecordHeader.isVisible(word)
                        && property.matches(link, word, reader, start)
                        && !reader.log().deleted().contains(start)) {
                    record = start;
                    header = word;
                    readAhead.visited((int) RecordHeader.recordBytes(word));
                    return true;
                }
            }
        }
    }

    /** The record's address. */
    public long address() {
        return record;
    }

    /** Its header word. */
    public long header() {
        return header;
    }

    /** What holds the payload, until the reader moves. */
    public MemorySegment segment() {
        return reader.segment();
    }

    /** Where the record begins in the segment, in bytes. */
    public long payloadOffset() {
        return reader.offset() + RecordHeader.payloadOffset(header);
    }

    /** How long the record is, in bytes. */
    public int payloadBytes() {
        return RecordHeader.payloadBytes(header);
    }

    /** Keeps the prefetching loads alive. */
    long touched() {
        return touched;
    }

    /** Key pointers looked at so far, those of other properties included. */
    public long hopCount() {
        return hopCount;
    }
}
