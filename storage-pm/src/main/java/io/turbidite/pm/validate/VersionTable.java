package io.turbidite.pm.validate;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.pm.cells.Node;
import io.turbidite.pm.cells.NodeBuilder;
import io.turbidite.pm.cells.NodeImage;
import io.turbidite.pm.cells.Staged;
import io.turbidite.pm.region.Region;
import io.turbidite.pm.region.RegionMemory;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;

/**
 * The table in the region: each primary key's newest timestamp, and how many entries it has
 * physically. Extendible hashing (Fagin and others, 1979): a bucket is a {@link Node} with the keys
 * of one interval of hashes, and halves when it is full. One of few long keys has more nodes, which
 * begin at the same hash. The buckets are chained by their intervals, so the directory can be off
 * the region: it is built again at opening.
 *
 * <p><em>Thread-safe</em> for one writer and any readers, who are inside an epoch. A full bucket is
 * replaced by copies, published by one store of its predecessor's link; readers go on in the old
 * one. Keys are exact. A key is forgotten when its bucket is copied and no entry is left.
 */
final class VersionTable {
    /** How many places of the directory a key may need: hashes that agree in more bits are rare. */
    private static final int PLACES_A_KEY = 8;

    /**
     * How many keys of a slice share the copies of a bucket. Those behind them have a bucket of
     * their own then, which is nearly empty: so more would save nothing, and take buffers.
     */
    private static final int PLANNED_KEY_COUNT_MAX = 1 << 11;

    private static final long PLACE_COUNT_MIN = 1 << 10;
    private static final long PLACE_COUNT_MAX = 1 << 28;

    private static final VarHandle PLACE = MethodHandles.arrayElementVarHandle(long[].class);

    private final Region region;
    private final RegionMemory memory;
    private final StaleTable stale;
    private final Staged staged;
    private final Bucket bucket = new Bucket();
    private final Slice key = new Slice();

    /** Buckets by the first bits of the hash; a power of two, at least two. */
    private volatile long[] directory = {};

    /** Keys to be absorbed, which share the fences. */
    private final HashedKeys slice = new HashedKeys();

    private final BucketCopies copies;
    private final MemoryBudget.Account account;

    private long keyCount;

    private VersionTable(Region region, StaleTable stale, MemoryBudget.Account account) {
        this.account = account;
        this.region = region;
        this.memory = region.memory();
        this.stale = stale;
        this.staged = new Staged(region);
        this.copies = new BucketCopies(region, stale, slice);
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
     * @param account lends memory to whoever fills an empty table
     * @throws CorruptionException if anything is not as it was written
     */
    static VersionTable open(Region region, StaleTable stale, MemoryBudget.Account account) {
        VersionTable table = new VersionTable(region, stale, account);
        table.read();
        return table;
    }

    // ---- readers --------------------------------------------------------------------------------

    /** What is known of a key, a {@link VersionWord}; 0 if nothing. */
    long find(Slice wanted, long hash) {
        long cell = cellOf(wanted, hash);
        return cell < 0 ? 0 : soundWord(cell);
    }

    /** Where the cell of a key is; -1 if there is none. */
    long placeOf(Slice wanted, long hash) {
        return cellOf(wanted, hash);
    }

    private long cellOf(Slice wanted, long hash) {
        long cell = -1;
        for (long node = bucketOf(hash); cell < 0 && node != 0; node = nextOfBucket(node)) {
            cell = Node.find(memory, node, wanted, hash);
        }
        return cell;
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
     * <p>Into an empty table go as many at once as there is memory for: in the order of their
     * hashes each bucket is written once then, and not copied with every slice.
     *
     * @param hasEntry whether that operation has an entry in the index
     * @param entryCount how many entries the layer has for the key
     */
    void absorb(Slice absorbed, long timestamp, boolean hasEntry, int entryCount) {
        if (slice.isFull(absorbed.length()) && !(keyCount == 0 && slice.mayGrow(account))) {
            flush();
        }
        slice.add(absorbed, LayerVersion.of(timestamp, hasEntry, entryCount));
    }

    /**
     * Makes durable what was absorbed: two fences. Releases pages: not while pointers of the tree
     * are staged that have not replaced those to its retired pages.
     */
    void flush() {
        stage();
        publish();
        region.pages().release();
    }

    /**
     * Makes durable what was staged, and all else that was written in the region before. Pages are
     * released by whoever publishes last.
     */
    void publish() {
        staged.publish();
    }

    /** Gives back what was borrowed for {@link #absorb}; all of it is staged. */
    void giveBack() {
        slice.giveBack(account);
    }

    /** Forgets what is not staged, and gives back what was borrowed for it. */
    void close() {
        slice.clear();
        giveBack();
    }

    /**
     * Writes what was absorbed; it counts after {@link #publish}.
     *
     * <ol>
     *   <li>Known keys get their new word in place; new ones a cell that does not count yet, in a
     *       copy of the bucket if it is full. A copy's nodes are all written before anything leads
     *       to the first.
     *   <li>Behind a fence: the words that say which cells count, and the links to copies.
     * </ol>
     */
    void stage() {
        slice.sort();
        int count = slice.count();
        int at = 0;
        while (at < count) {
            long first = bucketOf(slice.hash(slice.at(at)));
            bucket.load(memory, first);
            boolean isOfBucket = true;
            boolean hasRoom = true;
            while (isOfBucket && hasRoom) {
                hasRoom = absorbInPlace(slice.at(at));
                at += hasRoom ? 1 : 0;
                isOfBucket = at < count && bucketOf(slice.hash(slice.at(at))) == first;
            }
            if (hasRoom) {
                bucket.stageValid(staged);
            } else {
                at = replace(first, at);
            }
        }
        slice.clear();
    }

    /** False if the key is new and has no room. */
    private boolean absorbInPlace(int index) {
        Slice absorbed = slice.key(index, key);
        NodeImage image = bucket.imageOf(absorbed, slice.hash(index));
        if (image != null) {
            int slot = image.find(absorbed, slice.hash(index));
            long cell = image.cell(slot);
            long before = soundWord(cell);
            long word =
                    LayerVersion.merged(before, slice.word(index), NodeImage.keySum(memory, cell));
            memory.putLong(cell, word);
            region.dirty().add(cell, 8);
            image.setWord(slot, word);
            noteStale(absorbed, index, cell, before, word);
            return true;
        }
        image = bucket.imageWithRoom(absorbed.length());
        if (image == null) {
            return false;
        }
        int slot = image.add(region, 0, absorbed, slice.hash(index));
        long cell = image.cell(slot);
        long word = LayerVersion.merged(0, slice.word(index), NodeImage.keySum(memory, cell));
        memory.putLong(cell, word);
        image.setWord(slot, word);
        keyCount++;
        noteStale(absorbed, index, cell, 0, word);
        return true;
    }

    private void noteStale(Slice absorbed, int index, long cell, long before, long word) {
        stale.superseded(absorbed, slice.hash(index), cell, before, slice.word(index), word);
    }

    /**
     * Replaces a bucket by copies that have the keys of the slice too, from a place on that belong
     * to it.
     *
     * @return the place of the first that they don't have
     */
    private int replace(long first, int from) {
        long low = bucket.low();
        long next = bucket.next();
        long width = (next == 0 ? 0 : Node.low(memory, next)) - low; // 0 is all
        int end = from;
        while (end < slice.count()
                && end - from < PLANNED_KEY_COUNT_MAX
                && bucketOf(slice.hash(slice.at(end))) == first) {
            end++;
        }
        long placeCountMax = (keyCount + slice.count()) * PLACES_A_KEY;
        end = copies.plan(
                bucket,
                width,
                from,
                end,
                Math.clamp(placeCountMax, PLACE_COUNT_MIN, PLACE_COUNT_MAX));
        long predecessor = low == 0 ? region.tableRoot() : lastNode(bucketOf(low - 1));
        copies.write(next);
        keyCount += copies.addedCount();
        for (int piece = 0; piece < copies.pieceCount(); piece++) {
            direct(copies.low(piece), copies.width(piece), copies.first(piece));
        }
        NodeImage.stageLink(staged, predecessor, copies.first(0));
        for (int i = 0; i < bucket.nodeCount(); i++) {
            region.pages().retire(bucket.image(i).node());
        }
        return end;
    }

    /** The last node of the bucket that begins with a node. */
    private long lastNode(long first) {
        long last = first;
        for (long next = nextOfBucket(first); next != 0; next = nextOfBucket(next)) {
            last = next;
        }
        return last;
    }

    /** The next node of the same bucket; 0 if there is none. */
    private long nextOfBucket(long node) {
        long next = Node.next(memory, node);
        return next != 0 && Node.low(memory, next) == Node.low(memory, node) ? next : 0;
    }

    /** Leads {@code width} hashes from {@code low} on to a bucket. */
    private void direct(long low, long width, long first) {
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
        int count = width == 0 ? places.length : (int) (width >>> shift);
        for (int i = 0; i < count; i++) {
            PLACE.setRelease(places, from + i, first);
        }
        directory = places;
    }

    /**
     * An entry of a key is gone, durably. The change is durable with the next fence.
     *
     * @return how many stale entries the key has at most
     */
    int collected(Slice collected, long hash) {
        long cell = cellOf(collected, hash);
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
        NodeImage root = new NodeImage();
        root.claim(region, node);
        root.check(memory, Node.Kind.BUCKET);
        require(root.count() == 0, node, "entries before the first bucket", "none", "some");
        node = Node.next(memory, node);
        require(node != 0, region.tableRoot(), "first bucket", "there", "missing");
        directory = new long[2];
        long expectedLow = 0;
        while (node != 0) {
            bucket.claim(region, node);
            long low = bucket.low();
            if (low != expectedLow) {
                throw damaged(node, "interval", hex(expectedLow), hex(low));
            }
            long next = bucket.next();
            long nextLow = next == 0 ? 0 : nextLow(next);
            long width = nextLow - low;
            boolean isInterval = width == 0
                    ? low == 0
                    : Long.bitCount(width) == 1
                            && (low & width - 1) == 0
                            && (next == 0 || Long.compareUnsigned(nextLow, low) > 0);
            if (!isInterval) {
                throw damaged(node, "interval's end", "of a power of two", hex(nextLow));
            }
            if (width != 0 && Long.compareUnsigned(width, 1L << 32) < 0) {
                throw damaged(node, "interval's length", "a part of the directory", hex(width));
            }
            for (int i = 0; i < bucket.nodeCount(); i++) {
                readEntries(bucket.image(i), low, width);
            }
            direct(low, width, node);
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

    private void readEntries(NodeImage image, long low, long width) {
        for (long left = image.valid(); left != 0; left &= left - 1) {
            int slot = Long.numberOfTrailingZeros(left);
            Slice found = image.key(slot, key);
            long hash = Node.hash(found);
            // no text is made for a key that is right: that was a sixth of an opening
            if (!BucketPlan.isWithin(hash, low, width)) {
                throw damaged(image.cell(slot), "hash", "of its bucket", hex(hash));
            }
            requireSound(image.cell(slot), image.word(slot));
            keyCount++;
            stale.restored(found, hash, image.cell(slot), image.word(slot));
        }
    }

    private void require(boolean holds, long at, String what, String expected, String found) {
        if (!holds) {
            throw damaged(at, what, expected, found);
        }
    }

    private CorruptionException damaged(long at, String what, String expected, String found) {
        return new CorruptionException(memory.name(), at, what, expected, found);
    }

    private static String hex(long value) {
        return Long.toHexString(value);
    }
}
