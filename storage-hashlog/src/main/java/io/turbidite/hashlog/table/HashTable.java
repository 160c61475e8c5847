package io.turbidite.hashlog.table;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.epoch.Epochs;
import io.turbidite.core.memory.MemoryBudget;

import org.jspecify.annotations.Nullable;

import java.util.Objects;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * From the hash of a property to the newest key pointer of its chain; grows while sessions go on.
 *
 * <p><em>Thread-safe;</em> every call but {@link #grow} and {@link #close} is made under the
 * protection of an epoch. Owns its memory, charged to one account.
 *
 * <p>Growth. A larger generation is put beside the current one; the background, and every session
 * that needs a bucket which has not moved, move it chunk by chunk; then the larger one is the
 * current one, and the old memory is freed when all epochs have passed. Readers go to the larger
 * one for chunks that have moved.
 */
public final class HashTable {
    /**
     * Overflow buckets per bucket from which on the table wants to grow: about 5 entries per
     * bucket.
     */
    private static final int GROW_SHARE = 8;

    /** Chunks moved in one background step. */
    private static final int STEP_CHUNKS = 256;

    private final Epochs epochs;
    private final MemoryBudget.Account account;

    /** The current generation, and the one it is being moved to. */
    private volatile Generations generations;

    /** Held by who starts, goes on with or ends a growth. */
    private final AtomicBoolean growing = new AtomicBoolean();

    private volatile boolean refused;

    /**
     * Growth is held off. Set under {@link #growing}; cleared by anybody, before a growth begins.
     */
    private volatile boolean pinned;

    private HashTable(Epochs epochs, MemoryBudget.Account account, Buckets first) {
        this.epochs = epochs;
        this.account = account;
        this.generations = new Generations(first, null);
    }

    /**
     * An empty table of 2^{@code bucketBits} buckets.
     *
     * @param bucketBits 6 to 26
     * @throws InvalidRequestException if the account has no room for it
     */
    public static HashTable create(int bucketBits, Epochs epochs, MemoryBudget.Account account) {
        return create(new TableShape(bucketBits, 0), epochs, account);
    }

    /** An empty table that starts as large as {@code shape} says; for {@link #put}. */
    public static HashTable create(TableShape shape, Epochs epochs, MemoryBudget.Account account) {
        HashTable table = createIfRoom(shape, epochs, account);
        if (table == null) {
            throw new InvalidRequestException(
                    "a hash table of %d bytes does not fit the memory budget: %s"
                            .formatted(Buckets.bytes(shape.bucketCount()), account));
        }
        return table;
    }

    /** The same; null if the account has no room for it. */
    public static @Nullable HashTable createIfRoom(
            TableShape shape, Epochs epochs, MemoryBudget.Account account) {
        long bytes = Buckets.bytes(shape.bucketCount());
        if (!account.reserve(bytes)) {
            return null;
        }
        try (Undo undo = Undo.of(() -> account.release(bytes))) {
            Buckets first = new Buckets(shape.baseBits(), shape.doublings(), 0);
            return undo.keep(new HashTable(epochs, account, first));
        }
    }

    /** Where an entry was found or made; reused by its session. <em>Confined to one thread.</em> */
    public static final class Slot {
        private @Nullable Buckets buckets;
        private long offset;
        private long word;
        private boolean claimed;

        int found(Buckets in, long at, long content) {
            buckets = in;
            offset = at;
            word = content;
            claimed = false;
            return 1;
        }

        int claimed(Buckets in, long at, long content) {
            found(in, at, content);
            claimed = true;
            return 1;
        }

        /** Whether the entry is new and already holds the address it was asked for. */
        public boolean isClaimed() {
            return claimed;
        }

        /** The address in the entry when it was last looked at. */
        public long address() {
            return EntryWord.address(word);
        }

        /**
         * Puts {@code newAddress} in the place of {@link #address()}.
         *
         * @return false if the entry has changed or moved since
         */
        public boolean swing(long newAddress) {
            Buckets in = Objects.requireNonNull(buckets);
            return in.swap(offset, word, (word & ~EntryWord.ADDRESS_MASK) | newAddress);
        }

        /**
         * Looks at the entry again.
         *
         * @return false if it has moved: find it again
         */
        public boolean reload() {
            Buckets in = Objects.requireNonNull(buckets);
            word = in.load(offset);
            return !EntryWord.isFrozen(word);
        }
    }

    /**
     * Loads a line that {@link #findOrClaim} will need; several at a time hide one another's
     * misses.
     */
    public long touch(long hash) {
        return generations.current.touch(hash);
    }

    /** The newest address of the chain of {@code hash}, 0 if there is none. */
    public long headOf(long hash) {
        Generations now = generations;
        Buckets next = now.next;
        if (next != null && now.current.chunks.get(now.current.chunkOf(hash)) == Buckets.MOVED) {
            return next.headOf(hash);
        }
        return now.current.headOf(hash);
    }

    /** Finds the entry of {@code hash}, or makes one that holds {@code address}. */
    public void findOrClaim(long hash, long address, Slot into) {
        boolean found = find(hash, address, true, into);
        assert found;
    }

    /**
     * Puts {@code address} into the entry of {@code hash} unless that holds a higher one; so it
     * makes no difference in which order the key pointers of a log are raised.
     *
     * @return false if there is no room for another entry: the table would have to fold, which only
     *     chains that are linked afterwards can follow
     */
    public boolean raise(long hash, long address, Slot slot) {
        while (find(hash, address, false, slot)) {
            if (slot.isClaimed()) {
                return true;
            }
            do {
                if (slot.address() >= address || slot.swing(address)) {
                    return true;
                }
            } while (slot.reload());
        }
        return false;
    }

    /**
     * Puts a key pointer of the log where an earlier life's table had it, so that tags which shared
     * a chain share it again. Key pointers come by address, from one thread.
     *
     * @param previous where it links
     * @return false if a chain has no place, which a table as large as that one was does not come
     *     to
     */
    public boolean replay(long hash, long address, long previous) {
        while (true) {
            Generations now = generations;
            Buckets in = now.current;
            if (now.next != null) {
                move(now.current, now.next, now.current.chunkOf(hash));
                in = now.next;
            }
            if (in.replay(hash, address, previous) == Buckets.DONE) {
                return true;
            }
            if (now.next == null && !canGrow(in)) {
                return false;
            }
            grow();
        }
    }

    private boolean find(long hash, long address, boolean foldable, Slot into) {
        while (true) {
            Generations now = generations;
            Buckets in = now.current;
            if (now.next != null) {
                move(now.current, now.next, now.current.chunkOf(hash));
                in = now.next;
            }
            boolean isLargest = now.next == null && !canGrow(in);
            switch (in.findOrClaim(hash, address, isLargest && foldable, into)) {
                case Buckets.DONE -> {
                    return true;
                }
                case Buckets.FULL -> {
                    if (isLargest) {
                        return false;
                    }
                    pinned = false; // writers don't wait for a checkpoint
                    grow(); // the background is late: we lend a hand
                }
                default -> Thread.onSpinWait(); // frozen: the generations have changed
            }
        }
    }

    // ---- growth ---------------------------------------------------------------------------------

    /** Whether {@link #grow} has something to do. */
    public boolean wantsGrowth() {
        Generations now = generations;
        return now.next != null
                || (canGrow(now.current)
                        && now.current.overflowTaken() > now.current.bucketCount() / GROW_SHARE);
    }

    private boolean canGrow(Buckets buckets) {
        return !refused && buckets.doublings < Buckets.DOUBLING_COUNT_MAX;
    }

    /**
     * Starts a growth that is wanted, or moves some of the table; does nothing while another thread
     * does.
     *
     * @return whether there is more to move
     */
    public boolean grow() {
        if (!growing.compareAndSet(false, true)) {
            Thread.onSpinWait();
            return false;
        }
        try {
            Generations now = generations;
            Buckets next = now.next;
            if (next == null) {
                return !pinned && wantsGrowth() && start(now.current);
            }
            return moveSome(now.current, next);
        } finally {
            growing.set(false);
        }
    }

    private boolean moveSome(Buckets from, Buckets next) {
        int moved = 0;
        for (int c = 0; c < from.chunks.length() && moved < STEP_CHUNKS; c++) {
            if (from.chunks.get(c) == Buckets.UNMOVED) {
                move(from, next, c);
                moved++;
            }
        }
        if (from.movedChunkCount.get() < from.chunks.length()) {
            return true;
        }
        next.moveDone();
        generations = new Generations(next, null);
        epochs.bump(() -> {
            from.close();
            account.release(Buckets.bytes(from.bucketCount()));
        });
        return false;
    }

    private boolean start(Buckets from) {
        long bytes = Buckets.bytes(2L * from.bucketCount());
        if (!account.reserve(bytes)) {
            refused = true;
            return false;
        }
        Buckets next = null;
        try {
            next = new Buckets(from.baseBits, from.doublings + 1, from.overflowCountMax());
        } finally {
            if (next == null) {
                account.release(bytes);
            }
        }
        generations = new Generations(from, next);
        return true;
    }

    /** Moves a chunk, or waits for who is at it. */
    private static void move(Buckets from, Buckets next, int chunk) {
        int state = from.chunks.get(chunk);
        if (state == Buckets.UNMOVED
                && from.chunks.compareAndSet(chunk, Buckets.UNMOVED, Buckets.MOVING)) {
            from.moveChunk(chunk, next);
            return;
        }
        while (from.chunks.get(chunk) != Buckets.MOVED) {
            Thread.onSpinWait();
        }
    }

    // ---- checkpoints ----------------------------------------------------------------------------

    /**
     * Ends a growth that is under way and holds off further ones, so that bucket after bucket can
     * be read ({@link #read}) while writers go on. A writer that finds no room without a growth
     * takes the pin away.
     */
    public void pin() {
        while (!pinned) {
            while (generations.next != null) {
                grow();
            }
            if (growing.compareAndSet(false, true)) {
                pinned = generations.next == null;
                growing.set(false);
            }
        }
    }

    /** Whether no growth has begun since {@link #pin}. */
    public boolean isPinned() {
        return pinned;
    }

    public void unpin() {
        pinned = false;
    }

    /** How many buckets there are, and by which bits of a hash they are found. */
    public TableShape shape() {
        Buckets in = generations.current;
        return new TableShape(in.baseBits, in.doublings);
    }

    /**
     * Copies a bucket's entries: each is there that was made before the call began. What was read
     * counts only if the table {@link #isPinned} afterwards.
     */
    public void read(int bucket, BucketEntries into) {
        generations.current.read(bucket, into);
    }

    /** Adds what was read of a bucket to the same bucket of a table that nobody else uses yet. */
    public void put(int bucket, BucketEntries entries) {
        generations.current.put(bucket, entries);
    }

    /** Buckets of the current generation. */
    public int bucketCount() {
        return generations.current.bucketCount();
    }

    /** Overflow buckets in use in the current generation. */
    public int overflowBucketCount() {
        return generations.current.overflowTaken();
    }

    /** Whether the budget refused to let the table grow: chains will share entries. */
    public boolean isGrowthRefused() {
        return refused;
    }

    /** Frees the memory; nobody uses the table any more. */
    public void close() {
        Generations now = generations;
        release(now.current);
        Buckets next = now.next;
        if (next != null) {
            release(next);
        }
    }

    private void release(Buckets buckets) {
        buckets.close();
        account.release(Buckets.bytes(buckets.bucketCount()));
    }

    /** Both at once, so that nobody sees one without the other. */
    private record Generations(Buckets current, @Nullable Buckets next) {}

    @Override
    public String toString() {
        return "HashTable[%s]".formatted(generations);
    }
}
