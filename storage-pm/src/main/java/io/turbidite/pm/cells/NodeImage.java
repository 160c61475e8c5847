package io.turbidite.pm.cells;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.region.CheckedWord;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;

import java.lang.foreign.MemorySegment;

/**
 * A copy of a node on the heap: to be checked, to be sorted, and by the writer to be changed
 * together with the node. Entries are known by their slots.
 *
 * <p><em>Confined to one thread</em>, and reused.
 */
public final class NodeImage {
    private final KeySum sums = new KeySum();
    private final MemorySegment bytes = MemorySegment.ofArray(new byte[Node.BYTES]);
    private final Slice key = new Slice();
    private long node;
    private long valid;
    private long validBefore;
    private int end;

    /** A bit for each slot that has a place: none is used a second time. */
    private long placed;

    /**
     * Copies a node.
     *
     * @throws CorruptionException if it does not say soundly which entries count, or one of these
     *     does not lie in it
     */
    public void load(RegionMemory memory, long offset) {
        node = offset;
        // before the cells: those that count were written before
        long word = memory.getLong(offset + Node.VALID_OFFSET);
        Node.require(
                memory,
                offset + Node.VALID_OFFSET,
                "entries of a node",
                word,
                Node.validSalt(offset));
        memory.getBytes(offset, bytes, 0, Node.BYTES);
        valid = CheckedWord.payload(word);
        validBefore = valid;
        end = Node.CELLS_OFFSET;
        for (long left = valid; left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            int cellEnd = cellEnd(place(slot));
            if (cellEnd < 0) {
                throw new CorruptionException(
                        memory.name(),
                        offset + Node.PLACES_OFFSET + slot,
                        "place of an entry",
                        "inside its node",
                        String.valueOf(place(slot)));
            }
            end = Math.max(end, cellEnd);
        }
        passUnused();
    }

    /** Behind the cell at a place of the node; -1 if there can't be one. */
    private int cellEnd(int place) {
        if (place < Node.CELLS_OFFSET || place + Node.KEY_OFFSET > Node.BYTES) {
            return -1;
        }
        int keyBytes = (int) (bytes.get(Bytes.I64, place + Node.HEAD_OFFSET) & 0xFFFF);
        int cellEnd = place + Node.cellBytes(keyBytes);
        return keyBytes <= Limits.KEY_BYTES_MAX && cellEnd <= Node.BYTES ? cellEnd : -1;
    }

    /** What was written and never counted, or ceased to, keeps its slot and its bytes. */
    private void passUnused() {
        placed = 0;
        for (int eight = 0; eight < Node.SLOT_COUNT; eight += 8) {
            long zeros = Node.zeroBytes(bytes.get(Bytes.I64, Node.PLACES_OFFSET + eight));
            placed |= (~Node.eachByte(zeros) & 0xFF) << eight;
        }
        for (long left = placed & ~valid; left != 0; left &= left - 1) {
            int cellEnd = cellEnd(place(Long.numberOfTrailingZeros(left)));
            end = cellEnd < 0 ? Node.BYTES : Math.max(end, cellEnd);
        }
    }

    /**
     * Copies a node that was reached when the region was opened.
     *
     * @throws CorruptionException also if there can't be one
     */
    public void claim(Region region, long offset) {
        if (!region.pages().claim(offset, Node.BYTES)) {
            throw new CorruptionException(
                    region.memory().name(),
                    offset,
                    "node",
                    "a page that nothing else has",
                    "none, or one that was reached before");
        }
        load(region.memory(), offset);
    }

    /**
     * Compares everything with its checks: kind, link, keys, fingerprints, zeros.
     *
     * @throws CorruptionException that names what is not as it should be
     */
    public void check(RegionMemory memory, Node.Kind kind) {
        Node.require(
                memory,
                node + Node.LINK_OFFSET,
                "link of a node",
                bytes.get(Bytes.I64, Node.LINK_OFFSET),
                Node.linkSalt(node));
        long seal = bytes.get(Bytes.I64, Node.SEAL_OFFSET);
        Node.require(
                memory,
                node + Node.SEAL_OFFSET,
                "seal of a node",
                seal,
                Node.sealSalt(node, low()));
        require(memory, Node.SEAL_OFFSET, "kind", kind.code(), CheckedWord.payload(seal));
        for (int at = Node.ZERO_OFFSET; at < Node.CELLS_OFFSET; at += 8) {
            require(memory, at, "padding", 0, bytes.get(Bytes.I64, at));
        }
        for (long left = valid; left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            Slice found = key(slot);
            require(
                    memory,
                    place(slot) + Node.HEAD_OFFSET,
                    "key's checksum",
                    sums.head(found),
                    bytes.get(Bytes.I64, place(slot) + Node.HEAD_OFFSET));
            require(
                    memory,
                    Node.FINGERPRINTS_OFFSET + slot,
                    "fingerprint",
                    Node.hash(found) & 0xFF,
                    bytes.get(Bytes.U8, Node.FINGERPRINTS_OFFSET + slot) & 0xFF);
            int length = found.length();
            int tail = length & 7;
            if (tail != 0) {
                long last = bytes.get(Bytes.I64, place(slot) + Node.KEY_OFFSET + (length & -8));
                require(memory, place(slot), "padding of a key", 0, last >>> (8 * tail));
            }
        }
    }

    private void require(RegionMemory memory, int at, String what, long expected, long found) {
        if (expected != found) {
            throw new CorruptionException(
                    memory.name(),
                    node + at,
                    what,
                    Long.toHexString(expected),
                    Long.toHexString(found));
        }
    }

    /** Where the node is. */
    public long node() {
        return node;
    }

    /** A bit for each slot whose entry counts. */
    public long valid() {
        return valid;
    }

    public int count() {
        return Long.bitCount(valid);
    }

    /** The smallest hash of a bucket. */
    public long low() {
        return bytes.get(Bytes.I64, Node.LOW_OFFSET);
    }

    private int place(int slot) {
        return (bytes.get(Bytes.U8, Node.PLACES_OFFSET + slot) & 0xFF) * 8;
    }

    private int keyBytes(int slot) {
        return (int) (bytes.get(Bytes.I64, place(slot) + Node.HEAD_OFFSET) & 0xFFFF);
    }

    /** The key of a slot; valid until the next call. */
    public Slice key(int slot) {
        return key.set(bytes, place(slot) + Node.KEY_OFFSET, keyBytes(slot));
    }

    /** Sets a slice to the key of a slot; valid until the next {@link #load}. */
    public Slice key(int slot, Slice target) {
        return target.set(bytes, place(slot) + Node.KEY_OFFSET, keyBytes(slot));
    }

    /** The word of a slot. */
    public long word(int slot) {
        return bytes.get(Bytes.I64, place(slot));
    }

    /** The head of a slot's cell. */
    public long head(int slot) {
        return bytes.get(Bytes.I64, place(slot) + Node.HEAD_OFFSET);
    }

    /** Where the cell of a slot is in the region; its word is there. */
    public long cell(int slot) {
        return node + place(slot);
    }

    /** The checksum in the head of a cell: something to salt the cell's word with. */
    public static int keySum(RegionMemory memory, long cell) {
        return (int) (memory.getLong(cell + Node.HEAD_OFFSET) >>> 32);
    }

    /** The slot of a key with this hash; -1 if there is none. */
    public int find(Slice wanted, long hash) {
        long pattern = Node.pattern(hash);
        for (int eight = 0; eight < Node.SLOT_COUNT; eight += 8) {
            long fingerprints = bytes.get(Bytes.I64, Node.FINGERPRINTS_OFFSET + eight);
            long matches = Node.eachByte(Node.zeroBytes(fingerprints ^ pattern)) & valid >>> eight;
            for (; matches != 0; matches &= matches - 1) {
                int slot = eight + Long.numberOfTrailingZeros(matches);
                if (keyBytes(slot) == wanted.length() && key(slot).contentEquals(wanted)) {
                    return slot;
                }
            }
        }
        return -1;
    }

    /** Compares the keys of two slots. */
    public int compare(int left, int right) {
        return Bytes.compare(
                bytes,
                place(left) + Node.KEY_OFFSET,
                keyBytes(left),
                bytes,
                place(right) + Node.KEY_OFFSET,
                keyBytes(right));
    }

    /** Compares the key of a slot with another. */
    public int compare(int slot, Slice other) {
        return Bytes.compare(
                bytes,
                place(slot) + Node.KEY_OFFSET,
                keyBytes(slot),
                other.segment(),
                other.offset(),
                other.length());
    }

    /**
     * Fills {@code slots} with the slots that count, in the order of their keys.
     *
     * @return how many there are
     */
    public int sorted(int[] slots) {
        int count = 0;
        for (long left = valid; left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            int at = count++;
            while (at > 0 && compare(slots[at - 1], slot) > 0) {
                slots[at] = slots[at - 1];
                at--;
            }
            slots[at] = slot;
        }
        return count;
    }

    /** Notes a new word of a slot, which the caller stores. */
    public void setWord(int slot, long word) {
        bytes.set(Bytes.I64, place(slot), word);
    }

    /** Whether a new key of this length has room in the node. */
    public boolean fits(int keyBytes) {
        return freeSlot() < Node.SLOT_COUNT && end + Node.cellBytes(keyBytes) <= Node.BYTES;
    }

    /** No slot is used a second time: a reader may be at it. */
    private int freeSlot() {
        return Long.numberOfTrailingZeros(~placed);
    }

    /**
     * Writes a new entry into the node, where nobody sees it before {@link #stageValid}.
     *
     * @return its slot
     */
    public int add(Region region, long word, Slice added, long hash) {
        int slot = freeSlot();
        RegionMemory memory = region.memory();
        NodeBuilder.writeCell(bytes, end, word, sums.head(added), added);
        int cellBytes = Node.cellBytes(added.length());
        memory.putBytes(node + end, bytes, end, cellBytes);
        region.dirty().add(node + end, cellBytes);
        putByte(region, Node.FINGERPRINTS_OFFSET + slot, (byte) hash);
        putByte(region, Node.PLACES_OFFSET + slot, (byte) (end / 8));
        end += cellBytes;
        valid |= 1L << slot;
        placed |= 1L << slot;
        return slot;
    }

    private void putByte(Region region, int at, byte value) {
        bytes.set(Bytes.U8, at, value);
        int word = at & -8;
        region.memory().putLong(node + word, bytes.get(Bytes.I64, word));
        region.dirty().add(node + word, 8);
    }

    /** Stages the word that says which entries count, if that has changed. */
    public void stageValid(Staged staged) {
        if (valid != validBefore) {
            staged.add(node + Node.VALID_OFFSET, CheckedWord.of(valid, Node.validSalt(node)));
            validBefore = valid;
        }
    }

    /** Stages what makes {@code next} the node behind {@code from}. */
    public static void stageLink(Staged staged, long from, long next) {
        staged.add(from + Node.LINK_OFFSET, Node.linkWord(from, next));
    }
}
