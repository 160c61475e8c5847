package io.turbidite.hashlog.log;

import io.turbidite.core.bytes.Bytes;

import java.lang.foreign.MemorySegment;
import java.util.BitSet;

/**
 * Finds where the records go on behind a damaged block, if that is certain.
 *
 * <p><em>Confined to one thread.</em> The header words in the block are followed as if they were
 * sound. That is believed if
 *
 * <ol>
 *   <li>they lead on through the page, from word to word, to its very end;
 *   <li>no other place in the sound blocks behind leads there too. Payload bytes can look like
 *       records: whoever follows a wrong length could meet such, but then the true records lead to
 *       the end as well.
 * </ol>
 */
final class PageFraming {
    private final BitSet leading = new BitSet();

    /**
     * Where the first record begins behind the damage.
     *
     * @param at where a record begins, in a block that is not sound
     * @param end of the page's records
     * @return in a sound block, or {@code end}; -1 if it is not certain
     */
    int behindDamage(MemorySegment page, BitSet sound, int at, int end) {
        int behind = at;
        while (behind < end && !sound.get(behind / LogShape.BLOCK_BYTES)) {
            behind = next(page, behind, end);
        }
        if (behind >= end) {
            // it leads to the end, and what could be lost by mistake lies in damaged blocks
            return behind == end && firstSound(sound, at, end) >= end ? end : -1;
        }
        findLeading(page, Math.min(behind, firstSound(sound, at, end)), end);
        int path = behind;
        for (int i = leading.nextSetBit(0); i >= 0; i = leading.nextSetBit(i + 1)) {
            int place = i * Long.BYTES;
            while (path < place) {
                path = next(page, path, end);
            }
            if (path != place && sound.get(place / LogShape.BLOCK_BYTES)) {
                return -1;
            }
        }
        return leading.get(behind / Long.BYTES) ? behind : -1;
    }

    /** The first place of a sound block behind {@code at}. */
    private static int firstSound(BitSet sound, int at, int end) {
        int block = sound.nextSetBit(at / LogShape.BLOCK_BYTES);
        return block < 0 ? end : Math.min(end, block * LogShape.BLOCK_BYTES);
    }

    /** Finds all places from which words lead to the end. */
    private void findLeading(MemorySegment page, int from, int end) {
        leading.clear();
        for (int place = end - Long.BYTES; place >= from; place -= Long.BYTES) {
            int next = next(page, place, end);
            if (next == end || (next < end && leading.get(next / Long.BYTES))) {
                leading.set(place / Long.BYTES);
            }
        }
    }

    /** Where the record at {@code at} ends; beyond all if none can be there. */
    private static int next(MemorySegment page, int at, int end) {
        long word = page.get(Bytes.I64, at);
        long byteCount = RecordHeader.recordBytes(word);
        return RecordHeader.isVisible(word)
                        && RecordHeader.isOfItsKind(word)
                        && byteCount <= end - at
                ? at + (int) byteCount
                : Integer.MAX_VALUE;
    }
}
