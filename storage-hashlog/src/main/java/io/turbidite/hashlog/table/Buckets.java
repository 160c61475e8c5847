package io.turbidite.hashlog.table;

import static io.turbidite.hashlog.table.EntryWord.FOLDED;
import static io.turbidite.hashlog.table.EntryWord.FROZEN;

import io.turbidite.core.Undo;
import io.turbidite.core.memory.NativeMemory;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * One generation of the table: buckets of one cache line, seven entries and an overflow word each.
 *
 * <p><em>Thread-safe by compare-and-swap on words.</em> Users are protected by an epoch: the memory
 * is freed when a larger generation has taken over and all epochs have passed.
 *
 * <p>Which bucket. The first generation takes the lower bits of the hash. Each doubling takes one
 * more bit from the top of the tag, below the bits taken before; so a bucket splits exactly by what
 * its entries say, without looking at a record, for up to {@link #DOUBLING_COUNT_MAX} doublings.
 * The price is a tag that tells fewer properties of one bucket apart, which readers don't mind:
 * they compare the property at every hop of a chain.
 *
 * <p>Claiming a slot takes one compare-and-swap, where FASTER takes two phases: slots fill in their
 * order, through the overflow buckets too, and none comes free again. So behind the first free slot
 * there is nothing, and who swaps an entry into it knows all entries there are: two claims of one
 * tag want the same slot, and the one that loses finds the other's entry when it looks again.
 *
 * <p>Freezing (growth): the mover sets the frozen bit in every word of a bucket, free ones too.
 * From then on no compare-and-swap succeeds there; whoever fails goes to the next generation.
 *
 * <p>Folding: when no overflow bucket is left and the budget gives no larger generation, the last
 * bucket of the line is marked, and tags without an entry share the chain of the first bucket's
 * slot 0 from then on. Chains mix properties then and get longer, but nothing is refused and
 * nothing lost. The mark is never taken back: free slots of a folded bucket that has moved stay
 * free.
 */
final class Buckets {
    static final int BUCKET_BYTES = 64;
    static final int ENTRY_COUNT = 7;

    /** Tag bits that growth may use; 6 are left to tell properties of one bucket apart. */
    static final int DOUBLING_COUNT_MAX = 8;

    /** What moves at once; a writer that needs one of them waits for all, some microseconds. */
    static final int CHUNK_BUCKETS = 64;

    static final int UNMOVED = 0;
    static final int MOVING = 1;
    static final int MOVED = 2;

    private static final int OVERFLOW = ENTRY_COUNT * 8;
    private static final VarHandle WORDS = ValueLayout.JAVA_LONG.varHandle();

    /**
     * Outcomes of a look: the bucket has moved, the slot was found or made, no room, look again.
     */
    static final int BUCKET_FROZEN = 0;

    static final int DONE = 1;
    static final int FULL = 2;
    private static final int AGAIN = 3;

    final MemorySegment memory;
    final int baseBits;
    final int doublings;

    /** State of each chunk while this generation is moved to the next. */
    final AtomicIntegerArray chunks;

    final AtomicInteger movedChunkCount = new AtomicInteger();

    private final Arena arena;
    private final int bucketCount;
    private final int overflowCountMax;

    /** Overflow buckets taken; index 0 is none. */
    private final AtomicInteger overflowTaken = new AtomicInteger(1);

    /** Overflow buckets that moved entries may need: not for new ones until the move is done. */
    private volatile int overflowReserved;

    Buckets(int baseBits, int doublings, int overflowReserved) {
        this.baseBits = baseBits;
        this.doublings = doublings;
        this.bucketCount = 1 << (baseBits + doublings);
        this.overflowCountMax = overflowCount(bucketCount);
        this.overflowReserved = overflowReserved;
        this.chunks = new AtomicIntegerArray((bucketCount + CHUNK_BUCKETS - 1) / CHUNK_BUCKETS);
        this.arena = NativeMemory.shared("a hash table's buckets");
        try (Undo undo = Undo.of(arena::close)) {
            this.memory = undo.keep(NativeMemory.allocate(arena, bytes(bucketCount), BUCKET_BYTES));
        }
    }

    /** Bytes of a generation of {@code bucketCount} buckets with its overflow buckets. */
    static long bytes(long bucketCount) {
        return (bucketCount + overflowCount((int) bucketCount)) * BUCKET_BYTES;
    }

    private static int overflowCount(int bucketCount) {
        return bucketCount / 2 + 1;
    }

    int bucketCount() {
        return bucketCount;
    }

    int overflowCountMax() {
        return overflowCountMax;
    }

    int overflowTaken() {
        return overflowTaken.get() - 1;
    }

    /** Moved entries have their places: what was reserved for them is for all. */
    void moveDone() {
        overflowReserved = 0;
    }

    /**
     * The bucket of a hash: its lower bits, and above them its upper bits as far as growth took
     * them.
     */
    int bucketOf(long hash) {
        int low = (int) hash & ((1 << baseBits) - 1);
        return doublings == 0 ? low : (int) (hash >>> (64 - doublings)) << baseBits | low;
    }

    int chunkOf(long hash) {
        return bucketOf(hash) / CHUNK_BUCKETS;
    }

    /** Loads the bucket's first word, to have its line in the cache when it is needed. */
    long touch(long hash) {
        return memory.get(ValueLayout.JAVA_LONG, offsetOf(bucketOf(hash)));
    }

    long load(long offset) {
        return (long) WORDS.getAcquire(memory, offset);
    }

    /** Swaps with the effects of a release on success. */
    boolean swap(long offset, long expected, long word) {
        return WORDS.compareAndSet(memory, offset, expected, word);
    }

    // ---- looking up -----------------------------------------------------------------------------

    /** The newest address of the hash's chain, 0 if there is none. */
    long headOf(long hash) {
        long tag = EntryWord.tagOf(hash);
        long first = offsetOf(bucketOf(hash));
        for (long bucket = first; ; ) {
            for (int i = 0; i < ENTRY_COUNT; i++) {
                long word = load(bucket + i * 8L);
                if (EntryWord.hasTag(word, tag)) {
                    return EntryWord.address(word);
                }
                if (EntryWord.address(word) == 0) {
                    break; // nothing behind it
                }
            }
            long overflow = load(bucket + OVERFLOW);
            if ((overflow & EntryWord.OVERFLOW_MASK) == 0) {
                boolean folded = (overflow & FOLDED) != 0;
                return folded ? EntryWord.address(load(first)) : 0;
            }
            bucket = overflowOffset(overflow);
        }
    }

    /**
     * Finds the hash's entry, or makes one that holds {@code address}.
     *
     * @param mayFold whether a bucket without room for another entry is folded
     * @param into the slot found; {@link HashTable.Slot#isClaimed} if it was made
     * @return {@link #DONE}; {@link #BUCKET_FROZEN}: go to the next generation; {@link #FULL}: grow
     *     first
     */
    int findOrClaim(long hash, long address, boolean mayFold, HashTable.Slot into) {
        while (true) {
            int outcome = lookOrClaim(hash, address, mayFold, into);
            if (outcome != AGAIN) {
                return outcome;
            }
            Thread.onSpinWait();
        }
    }

    private int lookOrClaim(long hash, long address, boolean mayFold, HashTable.Slot into) {
        long tag = EntryWord.tagOf(hash);
        long first = offsetOf(bucketOf(hash));
        for (long bucket = first; ; ) {
            long end = bucket + OVERFLOW;
            for (long at = bucket; at < end; at += 8) {
                long word = load(at);
                if (word < 0) {
                    return BUCKET_FROZEN;
                }
                if (word == 0) {
                    // a folded one is made before anybody looks, or has no free slot
                    return (load(end) & FOLDED) != 0
                            ? lookFolded(first, tag, address, into)
                            : claim(at, tag, address, into);
                }
                if (EntryWord.hasTag(word, tag)) {
                    return into.found(this, at, word);
                }
            }
            long overflow = load(end);
            if (overflow < 0) {
                return BUCKET_FROZEN;
            }
            if ((overflow & EntryWord.OVERFLOW_MASK) != 0) {
                bucket = overflowOffset(overflow);
            } else if ((overflow & FOLDED) != 0) {
                return lookFolded(first, tag, address, into);
            } else {
                return extend(bucket, mayFold);
            }
        }
    }

    /** All further tags of a folded bucket share slot 0, whatever its tag is. */
    private int lookFolded(long first, long tag, long address, HashTable.Slot into) {
        long word = load(first);
        if (word < 0) {
            return BUCKET_FROZEN;
        }
        return word != 0 ? into.found(this, first, word) : claim(first, tag, address, into);
    }

    private int claim(long free, long tag, long address, HashTable.Slot into) {
        long claimed = tag | address;
        return swap(free, 0, claimed) ? into.claimed(this, free, claimed) : AGAIN;
    }

    /** Hangs an empty bucket on a full one, or folds it if there is none left. */
    private int extend(long bucket, boolean mayFold) {
        int index = takeOverflow(overflowReserved);
        if (index == 0) {
            if (!mayFold) {
                return FULL;
            }
            swap(bucket + OVERFLOW, 0, FOLDED);
        } else if (!swap(bucket + OVERFLOW, 0, index)) {
            giveBack(index);
        }
        return AGAIN;
    }

    /** An overflow bucket that is all zeros, or 0. */
    private int takeOverflow(int reserved) {
        while (true) {
            int index = overflowTaken.get();
            if (index >= overflowCountMax - reserved) {
                return 0;
            }
            if (overflowTaken.compareAndSet(index, index + 1)) {
                return index;
            }
        }
    }

    /** A lost race's bucket: given back if it is still the newest, else left unused. */
    private void giveBack(int index) {
        overflowTaken.compareAndSet(index + 1, index);
    }

    // ---- checkpoints ----------------------------------------------------------------------------

    /**
     * Copies what a bucket holds. Whether it is folded is looked at first: a folded bucket gets no
     * more entries, so that all it has are seen; one that is folded later only shares more. Its
     * slot 0 is taken: a bucket is folded when it is full, or after the shared chain came there.
     */
    void read(int index, BucketEntries into) {
        long first = offsetOf(index);
        long last = first;
        long overflow = load(last + OVERFLOW);
        while ((overflow & EntryWord.OVERFLOW_MASK) != 0) {
            last = overflowOffset(overflow);
            overflow = load(last + OVERFLOW);
        }
        long shared = load(first);
        into.clear((overflow & FOLDED) != 0 && EntryWord.address(shared) != 0);
        for (long bucket = first; ; ) {
            for (int i = 0; i < ENTRY_COUNT; i++) {
                long word = load(bucket + i * 8L) & ~FROZEN;
                if (word != 0) {
                    into.add(word);
                }
            }
            overflow = load(bucket + OVERFLOW);
            if ((overflow & EntryWord.OVERFLOW_MASK) == 0) {
                return;
            }
            bucket = overflowOffset(overflow);
        }
    }

    /** Adds entries to an empty bucket that nobody else can reach yet. */
    void put(int index, BucketEntries entries) {
        for (int i = 0; i < entries.count(); i++) {
            append(index, entries.word(i));
        }
        if (entries.isFolded()) {
            fold(index);
        }
    }

    // ---- recovery -------------------------------------------------------------------------------

    /**
     * Puts a key pointer where an earlier life had it. Key pointers come by address, and nobody
     * else uses the table. One that links to the head which tags without an entry share was linked
     * through it, since every other chain has a head of its own: so its tag shares that chain here
     * too. Any other gets an entry, which is always right.
     *
     * @param previous where the key pointer links
     * @return {@link #DONE}, or {@link #FULL}: a chain has no place
     */
    int replay(long hash, long address, long previous) {
        long tag = EntryWord.tagOf(hash);
        long first = offsetOf(bucketOf(hash));
        long free = -1;
        long last = first;
        for (long bucket = first; bucket >= 0; ) {
            for (int i = 0; i < ENTRY_COUNT; i++) {
                long offset = bucket + i * 8L;
                long word = load(offset);
                if (word == 0) {
                    free = free < 0 ? offset : free;
                } else if (EntryWord.hasTag(word, tag)) {
                    return replayOwn(offset, first, address, previous);
                }
            }
            last = bucket;
            long overflow = load(bucket + OVERFLOW) & EntryWord.OVERFLOW_MASK;
            bucket = overflow == 0 ? -1 : overflowOffset(overflow);
        }
        boolean folded = (load(last + OVERFLOW) & FOLDED) != 0;
        long head = EntryWord.address(load(first));
        if (head != 0 && (previous == head || (folded && address <= head))) {
            WORDS.setRelease(memory, last + OVERFLOW, FOLDED);
            raiseTo(first, address);
            return DONE;
        }
        if (free < 0) {
            int index = takeOverflow(overflowReserved);
            if (index == 0) {
                return FULL;
            }
            free = overflowOffset(index);
            WORDS.setRelease(memory, free + OVERFLOW, folded ? FOLDED : 0L);
            WORDS.setRelease(memory, last + OVERFLOW, (long) index);
        }
        WORDS.setRelease(memory, free, tag | address);
        return DONE;
    }

    /** The tag has an entry; if others share it, it must not leave their chain. */
    private int replayOwn(long offset, long first, long address, long previous) {
        long head = EntryWord.address(load(offset));
        if (offset == first && address > head && previous != head && isFolded(first)) {
            return FULL;
        }
        raiseTo(offset, address);
        return DONE;
    }

    private void raiseTo(long offset, long address) {
        long word = load(offset);
        if (address > EntryWord.address(word)) {
            WORDS.setRelease(memory, offset, (word & ~EntryWord.ADDRESS_MASK) | address);
        }
    }

    private boolean isFolded(long first) {
        long overflow = load(first + OVERFLOW);
        while ((overflow & EntryWord.OVERFLOW_MASK) != 0) {
            overflow = load(overflowOffset(overflow) + OVERFLOW);
        }
        return (overflow & FOLDED) != 0;
    }

    // ---- moving to the next generation ----------------------------------------------------------

    /**
     * Freezes the chunk's buckets and copies their entries; called by the one who took the chunk.
     */
    void moveChunk(int chunk, Buckets next) {
        int end = Math.min(bucketCount, (chunk + 1) * CHUNK_BUCKETS);
        for (int b = chunk * CHUNK_BUCKETS; b < end; b++) {
            moveBucket(b, next);
        }
        chunks.set(chunk, MOVED);
        movedChunkCount.incrementAndGet();
    }

    private void moveBucket(int index, Buckets next) {
        long first = offsetOf(index);
        boolean folded = freeze(first);
        int low = index & ((1 << baseBits) - 1);
        int high = index >>> baseBits << 1;
        int left = high << baseBits | low;
        int right = (high | 1) << baseBits | low;
        long foldedHead = folded ? load(first) & ~FROZEN : 0;
        if (folded) {
            // First, so that it is slot 0 of both: its chain has properties of both.
            next.append(left, foldedHead);
            next.append(right, foldedHead);
        }
        for (long bucket = first; ; ) {
            for (int i = 0; i < ENTRY_COUNT; i++) {
                long word = load(bucket + i * 8L) & ~FROZEN;
                boolean isHead = folded && bucket == first && i == 0;
                if (word != 0 && !isHead) {
                    long bit =
                            word >>> (EntryWord.ADDRESS_BITS + EntryWord.TAG_BITS - 1 - doublings);
                    next.append((bit & 1) == 0 ? left : right, word);
                }
            }
            long overflow = load(bucket + OVERFLOW);
            if ((overflow & EntryWord.OVERFLOW_MASK) == 0) {
                break;
            }
            bucket = overflowOffset(overflow);
        }
        if (folded) {
            next.fold(left);
            next.fold(right);
        }
    }

    /** Freezes a bucket and its overflow buckets. Returns whether it was folded. */
    private boolean freeze(long first) {
        for (long bucket = first; ; ) {
            for (int i = 0; i < ENTRY_COUNT; i++) {
                freezeWord(bucket + i * 8L);
            }
            long overflow = freezeWord(bucket + OVERFLOW);
            if ((overflow & EntryWord.OVERFLOW_MASK) == 0) {
                return (overflow & FOLDED) != 0;
            }
            bucket = overflowOffset(overflow);
        }
    }

    private long freezeWord(long offset) {
        return (long) WORDS.getAndBitwiseOr(memory, offset, FROZEN);
    }

    /** Adds an entry to a bucket that nobody else can reach yet. */
    private void append(int index, long word) {
        for (long bucket = offsetOf(index); ; ) {
            for (int i = 0; i < ENTRY_COUNT; i++) {
                if (load(bucket + i * 8L) == 0) {
                    WORDS.setRelease(memory, bucket + i * 8L, word);
                    return;
                }
            }
            long overflow = load(bucket + OVERFLOW);
            if (overflow == 0) {
                int taken = takeOverflow(0);
                if (taken == 0) {
                    throw new IllegalStateException("no bucket for a moved entry: " + this);
                }
                WORDS.setRelease(memory, bucket + OVERFLOW, (long) taken);
                overflow = taken;
            }
            bucket = overflowOffset(overflow);
        }
    }

    private void fold(int index) {
        long bucket = offsetOf(index);
        long overflow = load(bucket + OVERFLOW);
        while ((overflow & EntryWord.OVERFLOW_MASK) != 0) {
            bucket = overflowOffset(overflow);
            overflow = load(bucket + OVERFLOW);
        }
        WORDS.setRelease(memory, bucket + OVERFLOW, FOLDED);
    }

    // ---- helpers --------------------------------------------------------------------------------

    private static long offsetOf(int bucket) {
        return (long) bucket * BUCKET_BYTES;
    }

    private long overflowOffset(long overflow) {
        return (bucketCount + (overflow & EntryWord.OVERFLOW_MASK)) * BUCKET_BYTES;
    }

    void close() {
        arena.close();
    }

    @Override
    public String toString() {
        return "Buckets[%d buckets, %d of %d overflow buckets]"
                .formatted(bucketCount, overflowTaken(), overflowCountMax);
    }
}
