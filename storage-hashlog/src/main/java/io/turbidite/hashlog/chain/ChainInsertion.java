package io.turbidite.hashlog.chain;

import io.turbidite.hashlog.log.HybridLog;
import io.turbidite.hashlog.log.RecordHeader;
import io.turbidite.hashlog.table.HashTable;

import java.lang.foreign.MemorySegment;

/**
 * Puts a key pointer into its chain without a latch, a forward link or a second allocation (FISH19
 * algorithm 1 and appendix D).
 *
 * <p><em>Confined to one session,</em> protected by its epoch, whose record is in flight:
 * everything above the record's address is in memory and stays there.
 *
 * <ol>
 *   <li>While the entry holds a lower address: link to it, and swing the entry to ours.
 *   <li>Once the entry holds a higher address it is never touched again, whatever happens: from
 *       that key pointer walk to the one, P, that is above us and whose link leads below us;
 *   <li>link to where P links, and swing P's link to ours; if that fails go on from P.
 * </ol>
 *
 * <p>A successful swing publishes the key pointer and everything stored before it (release);
 * walkers load links with acquire order.
 */
public final class ChainInsertion {
    private final HybridLog log;
    private final MemorySegment memory;
    private final HashTable table;
    private final HashTable.Slot slot = new HashTable.Slot();
    private long hardCount;

    /** Inserts into chains of that log and table. */
    public ChainInsertion(HybridLog log, HashTable table) {
        this.log = log;
        this.memory = log.memory();
        this.table = table;
    }

    /**
     * Inserts the key pointer at {@code address}, whose words are stored but for its link.
     *
     * @param hash of its property
     */
    public void insert(long hash, long address) {
        long place = log.place(address);
        long own = memory.get(RecordHeader.WORD, place);
        while (true) {
            table.findOrClaim(hash, address, slot);
            if (slot.isClaimed()) {
                return; // a new chain: linked to nothing
            }
            do {
                long newest = slot.address();
                if (newest > address) {
                    insertBelow(newest, own, address, place);
                    return;
                }
                memory.set(RecordHeader.WORD, place, KeyPointer.withPrevious(own, newest));
                if (slot.swing(address)) {
                    return;
                }
            } while (slot.reload());
            // The entry has moved to a larger table; ours may not be claimed with a stale link.
            memory.set(RecordHeader.WORD, place, own);
        }
    }

    private void insertBelow(long newest, long own, long address, long place) {
        hardCount++;
        long above = newest;
        while (true) {
            long abovePlace = log.place(above);
            long link = KeyPointer.loadLink(memory, abovePlace);
            long previous = KeyPointer.previous(link);
            if (previous > address) {
                above = previous;
                continue;
            }
            memory.set(RecordHeader.WORD, place, KeyPointer.withPrevious(own, previous));
            if (RecordHeader.WORDS.compareAndSet(
                    memory, abovePlace, link, KeyPointer.withPrevious(link, address))) {
                return;
            }
        }
    }

    /** Insertions that found a newer record in front of them: contention, for the statistics. */
    public long hardCount() {
        return hardCount;
    }
}
