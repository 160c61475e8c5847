package io.turbidite.pm.validate;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeBuilder;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.cells.Staged;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;

import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.Arrays;

/**
 * The table in the region: each primary key's newest timestamp, and how many entries it has
 * physically. Extendible hashing (Fagin and others, 1979): a bucket is a {@link Node} with the keys
 * of one interval of hashes, and halves when it is full. The buckets are chained by their
 * intervals, so the directory can be off the region: it is built again at opening.
 *
 * <p><em>Thread-safe</em> for one writer and any readers, who are inside an epoch. A full bucket is
 * replaced by copies, published by one store of its predecessor's link; readers go on in the old
 * one. Keys are exact. A key is forgotten when its bucket is copied and no entry is left.
 */
final class VersionTable {
    /** How many keys share the fences. */
    static final int SLICE_KEY_COUNT = 512;

    private static final int SLICE_KEY_BYTES = 1 << 18;

    private static final VarHandle PLACE = MethodHandles.arrayElementVarHandle(long[].class);

    private final Region region;
    private final RegionMemory memory;
    private final StaleTable stale;
    private final Staged staged;
    private final NodeImage image = new NodeImage();
    private final NodeBuilder builder = new NodeBuilder();
    private final Slice key = new Slice();
    private final Slice other = new Slice();

    /** Buckets by the first bits of the hash; a power of two, at least two. */
    private volatile long[] directory = {};

    // ---- a slice of keys to be absorbed
    private final byte[] keyBytes = new byte[SLICE_KEY_BYTES];
    private final MemorySegment keySegment = MemorySegment.ofArray(keyBytes);
    private final int[] keyOffsets = new int[SLICE_KEY_COUNT + 1];
    private final long[] hashes = new long[SLICE_KEY_COUNT];
    private final long[] timestamps = new long[SLICE_KEY_COUNT];
    private final boolean[] hasEntries = new boolean[SLICE_KEY_COUNT];
    private final int[] entryCounts = new int[SLICE_KEY_COUNT];
    private final long[] order = new long[SLICE_KEY_COUNT];
    private int sliceCount;

    private long keyCount;

    private VersionTable(Region region, StaleTable stale) {
        this.region = region;
        this.memory = region.memory();
        this.stale = stale;
        this.staged = new Staged(region);
    }

    /** Writes an empty table to the region, and says where it begins. */
    static long create(Region region) {
        long root = region.pages().allocate(Node.BYTES);
        long first = region.pages().allocate(Node.BYTES);
        NodeBuilder builder = new NodeBuilder();
        builder.store(region, root, Node.Kind.BUCKET, 0, first);
        builder.store(region, first, Node.Kind.BUCKET, 0, 0);
        return root;
    }

    /**
     * Reads the table that begins at the region's root: checks all of it, claims its pages, and
     * fills the table of stale keys.
     *
     * @throws CorruptionException if anything is not as it was written
     */
    static VersionTable open(Region region, StaleTable stale) {
        VersionTable table = new VersionTable(region, stale);
        table.read();
        return table;
    }

    // ---- readers --------------------------------------------------------------------------------

    /** What is known of a key, a {@link VersionWord}; 0 if nothing. */
    long find(Slice wanted, long hash) {
        long cell = Node.find(memory, bucketOf(hash), wanted, hash);
        return cell < 0 ? 0 : soundWord(cell);
    }

    private long soundWord(long cell) {
        long word = memory.getLong(cell);
        requireSound(cell, word);
        return word;
    }

    private void requireSound(long cell, long word) {
        if (!VersionWord.isSound(word, NodeImage.keySum(memory, cell))) {
            throw new CorruptionException(
                    memory.name(), cell, "version of a key", "checked", Long.toHexString(word));
        }
    }

    private long bucketOf(long hash) {
        long[] places = directory;
        int shift = Long.numberOfLeadingZeros(places.length) + 1;
        return (long) PLACE.getAcquire(places, (int) (hash >>> shift));
    }

    /** How many keys it has. */
    long keyCount() {
        return keyCount;
    }

    // ---- the writer -----------------------------------------------------------------------------

    /**
     * The newest operation on a key in a layer that is absorbed. Durable with {@link #flush}.
     *
     * @param hasEntry whether that operation has an entry in the index
     * @param entryCount how many entries the layer has for the key
     */
    void absorb(Slice absorbed, long timestamp, boolean hasEntry, int entryCount) {
        if (sliceCount == SLICE_KEY_COUNT
                || keyOffsets[sliceCount] + absorbed.length() > SLICE_KEY_BYTES) {
            flush();
        }
        int at = keyOffsets[sliceCount];
        MemorySegment.copy(
                absorbed.segment(), absorbed.offset(), keySegment, at, absorbed.length());
        hashes[sliceCount] = Node.hash(absorbed);
        timestamps[sliceCount] = timestamp;
        hasEntries[sliceCount] = hasEntry;
        entryCounts[sliceCount] = entryCount;
        keyOffsets[++sliceCount] = at + absorbed.length();
    }

    /** Makes durable what was absorbed: two fences. */
    void flush() {
        stage();
        publish();
    }

    /** Makes durable what was staged, and all else that was written in the region before. */
    void publish() {
        staged.publish();
        region.pages().release();
    }

    /**
     * Writes what was absorbed; it counts after {@link #publish}.
     *
     * <ol>
     *   <li>Known keys get their new word in place; new ones a cell that does not count yet, in a
     *       copy of the bucket if it is full.
     *   <li>Behind a fence: the words that say which cells count, and the links to copies.
     * </ol>
     */
    void stage() {
        for (int i = 0; i < sliceCount; i++) {
            // by hash, unsigned; buckets are never so narrow that the low bits matter
            order[i] = ((hashes[i] ^ Long.MIN_VALUE) & -SLICE_KEY_COUNT) | i;
        }
        Arrays.sort(order, 0, sliceCount);
        int at = 0;
        while (at < sliceCount) {
            long bucket = bucketOf(hashes[indexAt(at)]);
            image.load(memory, bucket);
            boolean isFull = false;
            int end = at;
            while (end < sliceCount && bucketOf(hashes[indexAt(end)]) == bucket) {
                if (!isFull && !absorbInPlace(indexAt(end))) {
                    isFull = true;
                    replace(bucket, end);
                    break; // the rest belongs to the copies, which the next rounds find
                }
                end++;
            }
            if (!isFull) {
                image.stageValid(staged);
            }
            at = end;
        }
        sliceCount = 0;
    }

    private int indexAt(int place) {
        return (int) order[place] & SLICE_KEY_COUNT - 1;
    }

    private Slice keyAt(int index, Slice target) {
        return target.set(keySegment, keyOffsets[index], keyOffsets[index + 1] - keyOffsets[index]);
    }

    /** False if the key is new and has no room. */
    private boolean absorbInPlace(int index) {
        Slice absorbed = keyAt(index, key);
        int slot = image.find(absorbed, hashes[index]);
        if (slot >= 0) {
            long cell = image.cell(slot);
            long before = soundWord(cell);
            long word = merged(before, index, NodeImage.keySum(memory, cell));
            memory.putLong(cell, word);
            region.dirty().add(cell, 8);
            image.setWord(slot, word);
            noteStale(absorbed, index, cell, before, word);
            return true;
        }
        if (!image.fits(absorbed.length())) {
            return false;
        }
        slot = image.add(region, 0, absorbed, hashes[index]);
        long cell = image.cell(slot);
        long word = merged(0, index, NodeImage.keySum(memory, cell));
        memory.putLong(cell, word);
        image.setWord(slot, word);
        keyCount++;
        noteStale(absorbed, index, cell, 0, word);
        return true;
    }

    private long merged(long before, int index, int keySum) {
        boolean isNewer = timestamps[index] >= VersionWord.timestamp(before);
        return VersionWord.of(
                isNewer ? timestamps[index] : VersionWord.timestamp(before),
                isNewer ? hasEntries[index] : VersionWord.hasEntry(before),
                VersionWord.plus(VersionWord.count(before), entryCounts[index]),
                keySum);
    }

    private void noteStale(Slice absorbed, int index, long cell, long before, long word) {
        stale.superseded(
                absorbed,
                hashes[index],
                cell,
                VersionWord.hasEntry(before),
                entryCounts[index],
                VersionWord.timestamp(word),
                VersionWord.hasEntry(word));
    }

    /**
     * Replaces a bucket by copies that have room for the keys of the slice from {@code from} on
     * that belong to it.
     */
    private void replace(long bucket, int from) {
        long low = image.low();
        long next = Node.next(memory, bucket);
        long width = (next == 0 ? 0 : Node.low(memory, next)) - low; // 0 is all
        int wanted = 0;
        int wantedBytes = 0;
        for (int i = from; i < sliceCount && bucketOf(hashes[indexAt(i)]) == bucket; i++) {
            wanted++;
            wantedBytes += NodeBuilder.bytesOf(keyAt(indexAt(i), key).length());
        }
        int pieces = 1;
        while (!piecesFit(low, width, pieces, from, wanted)) {
            pieces *= 2;
            if (pieces > 1 << 16) {
                throw new IllegalStateException(
                        "%d keys of %d bytes in one bucket".formatted(wanted, wantedBytes));
            }
        }
        long predecessor = low == 0 ? region.tableRoot() : bucketOf(low - 1);
        long[] made = new long[pieces];
        for (int i = 0; i < pieces; i++) {
            made[i] = region.pages().allocate(Node.BYTES);
        }
        long pieceWidth = pieceWidth(width, pieces);
        for (int piece = 0; piece < pieces; piece++) {
            long pieceLow = low + piece * pieceWidth;
            for (long left = image.valid(); left != 0; left &= left - 1) {
                int slot = Long.numberOfTrailingZeros(left);
                copyTo(made[piece], slot, pieceLow, pieceWidth);
            }
            builder.store(
                    region,
                    made[piece],
                    Node.Kind.BUCKET,
                    pieceLow,
                    piece + 1 < pieces ? made[piece + 1] : next);
        }
        direct(low, pieceWidth, made);
        NodeImage.stageLink(staged, predecessor, made[0]);
        region.pages().retire(bucket);
    }

    private void copyTo(long target, int slot, long pieceLow, long pieceWidth) {
        Slice copied = image.key(slot, other);
        long hash = Node.hash(copied);
        if (!isWithin(hash, pieceLow, pieceWidth)) {
            return;
        }
        long word = image.word(slot);
        if (isForgotten(word)) {
            keyCount--;
            return;
        }
        long cell = target + builder.add(word, copied, hash);
        stale.moved(copied, hash, cell);
    }

    private static boolean isForgotten(long word) {
        return VersionWord.count(word) == 0 && !VersionWord.hasEntry(word);
    }

    private static boolean isWithin(long hash, long low, long width) {
        return width == 0 || Long.compareUnsigned(hash - low, width) < 0;
    }

    private static long pieceWidth(long width, int pieces) {
        if (pieces == 1) {
            return width;
        }
        return width == 0
                ? Long.divideUnsigned(-1, pieces) + 1
                : Long.divideUnsigned(width, pieces);
    }

    /** Whether each piece has room for its old keys and the wanted ones. */
    private boolean piecesFit(long low, long width, int pieces, int from, int wanted) {
        long pieceWidth = pieceWidth(width, pieces);
        int[] counts = new int[pieces];
        int[] bytes = new int[pieces];
        for (long left = image.valid(); left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            if (!isForgotten(image.word(slot))) {
                Slice old = image.key(slot, other);
                int piece = pieceOf(Node.hash(old), low, pieceWidth);
                counts[piece]++;
                bytes[piece] += NodeBuilder.bytesOf(old.length());
            }
        }
        for (int i = from; i < from + wanted; i++) {
            Slice fresh = keyAt(indexAt(i), other);
            if (image.find(fresh, hashes[indexAt(i)]) < 0) {
                int piece = pieceOf(hashes[indexAt(i)], low, pieceWidth);
                counts[piece]++;
                bytes[piece] += NodeBuilder.bytesOf(fresh.length());
            }
        }
        for (int i = 0; i < pieces; i++) {
            if (counts[i] > Node.SLOT_COUNT || bytes[i] > NodeBuilder.capacity()) {
                return false;
            }
        }
        return true;
    }

    private static int pieceOf(long hash, long low, long pieceWidth) {
        return pieceWidth == 0 ? 0 : (int) Long.divideUnsigned(hash - low, pieceWidth);
    }

    /** Leads the hashes from {@code low} on to buckets, each of {@code width} hashes. */
    private void direct(long low, long width, long[] buckets) {
        long[] places = directory;
        // the width of a place
        while (width != 0
                && Long.compareUnsigned(1L << (Long.numberOfLeadingZeros(places.length) + 1), width)
                        > 0) {
            long[] doubled = new long[places.length * 2];
            for (int i = 0; i < doubled.length; i++) {
                doubled[i] = places[i / 2];
            }
            places = doubled;
        }
        int shift = Long.numberOfLeadingZeros(places.length) + 1;
        int from = (int) (low >>> shift);
        int each = width == 0 ? places.length : (int) (width >>> shift);
        for (int i = 0; i < buckets.length * each; i++) {
            PLACE.setRelease(places, from + i, buckets[i / each]);
        }
        directory = places;
    }

    /**
     * An entry of a key is gone, durably. The change is durable with the next fence.
     *
     * @return how many stale entries the key has at most
     */
    int collected(Slice collected, long hash) {
        long cell = Node.find(memory, bucketOf(hash), collected, hash);
        if (cell < 0) {
            return VersionWord.COUNT_MAX;
        }
        long word = soundWord(cell);
        int count = VersionWord.count(word);
        if (count > 0 && count < VersionWord.COUNT_MAX) {
            word = VersionWord.of(
                    VersionWord.timestamp(word),
                    VersionWord.hasEntry(word),
                    count - 1,
                    NodeImage.keySum(memory, cell));
            memory.putLong(cell, word);
            region.dirty().add(cell, 8);
        }
        return VersionWord.staleCount(word);
    }

    // ---- opening --------------------------------------------------------------------------------

    private void read() {
        long node = region.tableRoot();
        image.claim(region, node);
        image.check(memory, Node.Kind.BUCKET);
        require(image.count() == 0, node, "entries before the first bucket", "none", "some");
        node = Node.next(memory, node);
        require(node != 0, region.tableRoot(), "first bucket", "there", "missing");
        directory = new long[2];
        long expectedLow = 0;
        while (node != 0) {
            image.claim(region, node);
            image.check(memory, Node.Kind.BUCKET);
            long low = image.low();
            require(low == expectedLow, node, "interval", hex(expectedLow), hex(low));
            long next = Node.next(memory, node);
            long nextLow = next == 0 ? 0 : nextLow(next);
            long width = nextLow - low;
            boolean isInterval = width == 0
                    ? low == 0
                    : Long.bitCount(width) == 1
                            && (low & width - 1) == 0
                            && (next == 0 || Long.compareUnsigned(nextLow, low) > 0);
            require(isInterval, node, "interval's end", "of a power of two", hex(nextLow));
            require(
                    width == 0 || Long.compareUnsigned(width, 1L << 32) >= 0,
                    node,
                    "interval's length",
                    "a part of the directory",
                    hex(width));
            readEntries(low, width);
            direct(low, width, new long[] {node});
            expectedLow = nextLow;
            node = next;
        }
    }

    private long nextLow(long next) {
        require(
                next + Node.BYTES <= memory.byteSize(),
                next,
                "bucket",
                "inside the region",
                "outside");
        return Node.low(memory, next);
    }

    private void readEntries(long low, long width) {
        for (long left = image.valid(); left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            Slice found = image.key(slot, key);
            long hash = Node.hash(found);
            require(
                    isWithin(hash, low, width),
                    image.cell(slot),
                    "hash",
                    "of its bucket",
                    hex(hash));
            requireSound(image.cell(slot), image.word(slot));
            keyCount++;
            stale.restored(found, hash, image.cell(slot), image.word(slot));
        }
    }

    private void require(boolean holds, long at, String what, String expected, String found) {
        if (!holds) {
            throw new CorruptionException(memory.name(), at, what, expected, found);
        }
    }

    private static String hex(long value) {
        return Long.toHexString(value);
    }
}
