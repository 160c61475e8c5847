package io.turbidite.pm.region;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.epoch.Epochs;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Consumer;

/**
 * Pages of several sizes out of chunks of {@value #CHUNK_BYTES} bytes; a chunk has pages of one
 * size. Nothing of this is stored: at opening, what can be reached is {@link #claim claimed}, and
 * the rest is free.
 *
 * <p><em>Confined to the writer</em>, but for what epochs give back. A page that is {@link #retire
 * retired} is used again only after {@link #release}, and after all readers of that time are gone:
 * its owner calls that when no durable pointer leads to it.
 */
public final class Pages {
    /** What is taken from the memory at once. */
    public static final int CHUNK_BYTES = 1 << 16;

    /** More than these wait for readers: the rest waits here. */
    private static final int WAITING_MAX = 1_024;

    /** The first chunk has the header. */
    private static final int FIRST_CHUNK = 1;

    private final RegionMemory memory;
    private final Epochs epochs;
    private final long bytesMax;
    private final List<Stack> freePages = new ArrayList<>();
    private final Stack freeChunks = new Stack(CHUNK_BYTES);
    private Stack retired = new Stack(0);
    private final ConcurrentLinkedQueue<Stack> returned = new ConcurrentLinkedQueue<>();

    /** Those that came back, to be used again. */
    private final ArrayDeque<Stack> spare = new ArrayDeque<>();

    /** A bit for each unit of 256 bytes at which a page in use begins. */
    private final BitSet inUse = new BitSet();

    private int[] chunkPageBytes = new int[16];
    private int chunkCount = FIRST_CHUNK;

    /** Planted by tests: pages are used again before the pointers to them are gone. */
    boolean reusesAtOnce;

    Pages(RegionMemory memory, Epochs epochs, long bytesMax) {
        this.memory = memory;
        this.epochs = epochs;
        this.bytesMax = bytesMax;
    }

    /**
     * A page that nobody uses; its bytes are anything.
     *
     * @throws StorageIoException of kind NO_SPACE if the region can't grow
     */
    public long allocate(int pageBytes) {
        takeReturned();
        Stack free = freeOf(pageBytes);
        if (free.count == 0) {
            openChunk(pageBytes, free);
        }
        long page = free.pop();
        inUse.set(unitOf(page));
        return page;
    }

    private Stack freeOf(int pageBytes) {
        for (int i = 0; i < freePages.size(); i++) {
            if (freePages.get(i).pageBytes == pageBytes) {
                return freePages.get(i);
            }
        }
        Stack free = new Stack(pageBytes);
        freePages.add(free);
        return free;
    }

    private void openChunk(int pageBytes, Stack free) {
        long chunk;
        if (freeChunks.count > 0) {
            chunk = freeChunks.pop();
        } else {
            long end = (chunkCount + 1L) * CHUNK_BYTES;
            if (end > bytesMax) {
                throw full(memory, bytesMax);
            }
            if (!memory.grow(end)) {
                throw noRoom(memory, bytesMax);
            }
            chunk = chunkCount++;
        }
        own(chunk, pageBytes);
        for (int i = CHUNK_BYTES / pageBytes - 1; i >= 0; i--) {
            free.push(chunk * CHUNK_BYTES + (long) i * pageBytes);
        }
    }

    static StorageIoException full(RegionMemory memory, long bytesMax) {
        return new StorageIoException(
                StorageIoException.Kind.NO_SPACE,
                "growth",
                memory.name(),
                "the region has %d of at most %d bytes".formatted(memory.byteSize(), bytesMax),
                null);
    }

    /** It may grow, and can't. */
    private static StorageIoException noRoom(RegionMemory memory, long bytesMax) {
        return new StorageIoException(
                StorageIoException.Kind.NO_SPACE,
                "growth",
                memory.name(),
                "%s is full; the region has %d bytes, and may have %d"
                        .formatted(memory.place(), memory.byteSize(), bytesMax),
                null);
    }

    private void own(long chunk, int pageBytes) {
        if (chunk >= chunkPageBytes.length) {
            chunkPageBytes = Arrays.copyOf(chunkPageBytes, (int) Math.max(chunk + 1, chunk * 2));
        }
        chunkPageBytes[(int) chunk] = pageBytes;
    }

    private static int unitOf(long page) {
        return (int) (page / RegionMemory.BLOCK_BYTES);
    }

    /** Gives a page up; it is not used again before {@link #release}. */
    public void retire(long page) {
        if (!inUse.get(unitOf(page))) {
            throw new IllegalStateException("the page at %d is retired twice".formatted(page));
        }
        inUse.clear(unitOf(page));
        retired.push(page);
        if (reusesAtOnce) {
            returned.add(takeRetired());
        }
    }

    /** What was retired is used again once today's readers are gone. */
    public void release() {
        if (retired.count > 0 && epochs.waitingCount() < WAITING_MAX) {
            Stack pages = takeRetired();
            epochs.bump(() -> returned.add(pages));
        }
    }

    private void takeReturned() {
        for (Stack pages = returned.poll(); pages != null; pages = returned.poll()) {
            for (int i = 0; i < pages.count; i++) {
                long page = pages.items[i];
                freeOf(chunkPageBytes[(int) (page / CHUNK_BYTES)]).push(page);
            }
            pages.count = 0;
            spare.push(pages);
        }
    }

    private Stack takeRetired() {
        Stack taken = retired;
        retired = spare.isEmpty() ? new Stack(0) : spare.pop();
        return taken;
    }

    /**
     * Says that a page was reached when a region was opened.
     *
     * @return false if it can't be one: out of the region, not at a page's start, or reached before
     */
    public boolean claim(long page, int pageBytes) {
        long chunk = page / CHUNK_BYTES;
        if (chunk < FIRST_CHUNK
                || page + pageBytes > memory.byteSize()
                || page % CHUNK_BYTES % pageBytes != 0
                || page % CHUNK_BYTES + pageBytes > CHUNK_BYTES
                || inUse.get(unitOf(page))) {
            return false;
        }
        if (chunk < chunkPageBytes.length && chunkPageBytes[(int) chunk] != 0) {
            if (chunkPageBytes[(int) chunk] != pageBytes) {
                return false;
            }
        } else {
            own(chunk, pageBytes);
        }
        inUse.set(unitOf(page));
        chunkCount = (int) Math.max(chunkCount, chunk + 1);
        return true;
    }

    /** Makes what was not claimed free. */
    public void freeTheRest() {
        for (int chunk = chunkCount - 1; chunk >= FIRST_CHUNK; chunk--) {
            int pageBytes = chunk < chunkPageBytes.length ? chunkPageBytes[chunk] : 0;
            if (pageBytes == 0) {
                freeChunks.push(chunk);
                continue;
            }
            for (int i = CHUNK_BYTES / pageBytes - 1; i >= 0; i--) {
                long page = (long) chunk * CHUNK_BYTES + (long) i * pageBytes;
                if (!inUse.get(unitOf(page))) {
                    freeOf(pageBytes).push(page);
                }
            }
        }
    }

    /**
     * Tells where free and used pages are not what was reached; for the writer.
     *
     * @param reached what was claimed when all of the region was read once more
     */
    public void compare(Pages reached, Consumer<String> wrong) {
        takeReturned();
        for (Stack free : freePages) {
            tellReached(free, reached, wrong);
        }
        tellReached(retired, reached, wrong);
        for (int i = 0; i < freeChunks.count; i++) {
            long first = freeChunks.items[i] * CHUNK_BYTES;
            int at = reached.inUse.nextSetBit(unitOf(first));
            if (at >= 0 && at < unitOf(first + CHUNK_BYTES)) {
                wrong.accept("the chunk at %d is free, and a page in it is used".formatted(first));
            }
        }
        BitSet unknown = (BitSet) reached.inUse.clone();
        unknown.andNot(inUse);
        tell(unknown, "is used, and counts as free", wrong);
        BitSet lost = (BitSet) inUse.clone();
        lost.andNot(reached.inUse);
        tell(lost, "counts as used, and nothing leads to it", wrong);
    }

    private static void tellReached(Stack free, Pages reached, Consumer<String> wrong) {
        for (int i = 0; i < free.count; i++) {
            if (reached.inUse.get(unitOf(free.items[i]))) {
                wrong.accept("the page at %d is free and used".formatted(free.items[i]));
                return;
            }
        }
    }

    private static void tell(BitSet units, String what, Consumer<String> wrong) {
        if (!units.isEmpty()) {
            wrong.accept("the page at %d %s; there are %d such pages"
                    .formatted(
                            (long) units.nextSetBit(0) * RegionMemory.BLOCK_BYTES,
                            what,
                            units.cardinality()));
        }
    }

    /** How many pages are in use. */
    public int inUseCount() {
        return inUse.cardinality();
    }

    /** Bytes of all chunks that were ever taken. */
    public long byteSize() {
        return (long) chunkCount * CHUNK_BYTES;
    }

    /** Numbers, last in, first out. */
    private static final class Stack {
        /** What all pages in it have; 0 if they are of several sizes. */
        private final int pageBytes;

        private long[] items = new long[16];
        private int count;

        Stack(int pageBytes) {
            this.pageBytes = pageBytes;
        }

        void push(long item) {
            if (count == items.length) {
                items = Arrays.copyOf(items, count * 2);
            }
            items[count++] = item;
        }

        long pop() {
            return items[--count];
        }
    }
}
