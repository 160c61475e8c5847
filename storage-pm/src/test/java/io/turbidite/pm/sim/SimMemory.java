package io.turbidite.pm.sim;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.pm.region.RegionMemory;
import io.turbidite.pm.region.RegionMode;

import org.jspecify.annotations.Nullable;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Memory that remembers which stores may be lost (R5). <em>Confined to one thread.</em>
 *
 * <p>Legal after a crash, for each line of 64 bytes on its own: what is durable, and any prefix of
 * the stores behind it, each of at most 8 bytes. A fence makes durable what was written back before
 * it. In file mode: any subset of the pages of 4 KiB that were stored to since the last force.
 *
 * <p>It counts what a program pays, and finds what a program forgets: {@link #checkSettled} fails
 * if a store is left that nobody writes back, {@link #writeBack} fails if a line is written back
 * twice between two fences, or without a store.
 */
public final class SimMemory implements RegionMemory {
    private static final int PAGE_BYTES = 4_096;

    private final RegionMode mode;
    private final int byteMax;
    private byte[] current;
    private MemorySegment memory;
    private byte[] durable;
    private byte[] forced;
    private final TreeMap<Long, Line> lines = new TreeMap<>();
    private @Nullable Runnable beforeFence;
    private boolean isLenient;
    private long fenceCount;
    private long lineCount;

    private SimMemory(RegionMode mode, byte[] image, int byteMax) {
        this.mode = mode;
        this.byteMax = byteMax;
        this.current = image.clone();
        this.memory = MemorySegment.ofArray(current);
        this.durable = image.clone();
        this.forced = image.clone();
    }

    /** Empty memory that grows to {@code byteMax}. */
    public static SimMemory create(RegionMode mode, int byteMax) {
        return new SimMemory(mode, new byte[0], byteMax);
    }

    /** Memory as a crash left it. */
    public static SimMemory of(RegionMode mode, byte[] image, int byteMax) {
        return new SimMemory(mode, image, byteMax);
    }

    /** Lets lines be written back at will: what is wrong must show in an image. */
    void beLenient() {
        isLenient = true;
    }

    /** Runs before each fence: a place for a crash. */
    public void beforeFence(@Nullable Runnable action) {
        beforeFence = action;
    }

    // ---- what a program does --------------------------------------------------------------------

    @Override
    public String name() {
        return "simulated";
    }

    @Override
    public RegionMode mode() {
        return mode;
    }

    @Override
    public long byteSize() {
        return current.length;
    }

    @Override
    public long getLong(long offset) {
        assert (offset & 7) == 0 : offset;
        return memory.get(Bytes.I64, offset);
    }

    @Override
    public void putLong(long offset, long value) {
        assert (offset & 7) == 0 : offset;
        memory.set(Bytes.I64, offset, value);
        stored(offset, 8);
    }

    @Override
    public boolean compareAndSwap(long offset, long expected, long value) {
        if (getLong(offset) != expected) {
            return false;
        }
        putLong(offset, value);
        return true;
    }

    @Override
    public void getBytes(long offset, MemorySegment target, long targetOffset, int byteCount) {
        MemorySegment.copy(memory, offset, target, targetOffset, byteCount);
    }

    @Override
    public void putBytes(long offset, MemorySegment source, long sourceOffset, int byteCount) {
        assert (offset & 7) == 0 : offset;
        for (int done = 0; done < byteCount; done += 8) {
            int step = Math.min(8, byteCount - done);
            MemorySegment.copy(source, sourceOffset + done, memory, offset + done, step);
            stored(offset + done, step);
        }
    }

    private void stored(long offset, int byteCount) {
        Line line = lines.computeIfAbsent(offset / LINE_BYTES, number -> new Line());
        line.stores.add(new Store(
                offset, Arrays.copyOfRange(current, (int) offset, (int) offset + byteCount)));
    }

    @Override
    public void writeBack(long offset, long byteCount) {
        long last = (offset + byteCount - 1) / LINE_BYTES;
        for (long number = offset / LINE_BYTES; number <= last; number++) {
            Line line = lines.get(number);
            if (isLenient) {
                if (line != null) {
                    line.writtenBack = line.stores.size();
                }
                continue;
            }
            if (line == null || line.writtenBack == line.stores.size()) {
                throw new AssertionError("the line at %d is written back without a store"
                        .formatted(number * LINE_BYTES));
            }
            if (line.writtenBack > 0) {
                throw new AssertionError(
                        "the line at %d is written back twice".formatted(number * LINE_BYTES));
            }
            line.writtenBack = line.stores.size();
            lineCount++;
        }
    }

    @Override
    public void fence() {
        Runnable action = beforeFence;
        if (action != null) {
            action.run();
        }
        fenceCount++;
        lines.values().removeIf(line -> {
            for (int i = 0; i < line.writtenBack; i++) {
                line.stores.get(i).applyTo(durable);
            }
            line.stores.subList(0, line.writtenBack).clear();
            line.writtenBack = 0;
            return line.stores.isEmpty();
        });
    }

    @Override
    public void force() {
        for (Line line : lines.values()) {
            line.stores.forEach(store -> store.applyTo(durable));
        }
        lines.clear();
        forced = current.clone();
    }

    @Override
    public boolean grow(long byteCount) {
        if (byteCount > byteMax) {
            return false;
        }
        int grown = Math.max(current.length, (int) (byteCount + 65_535) & -65_536);
        current = Arrays.copyOf(current, grown);
        memory = MemorySegment.ofArray(current);
        durable = Arrays.copyOf(durable, grown);
        forced = Arrays.copyOf(forced, grown);
        return true;
    }

    @Override
    public void close() {
        // holds nothing
    }

    // ---- what a test asks -----------------------------------------------------------------------

    /** Fences so far. */
    public long fenceCount() {
        return fenceCount;
    }

    /** Lines written back so far. */
    public long lineCount() {
        return lineCount;
    }

    /** What is there as long as the power is. */
    public byte[] contents() {
        return current.clone();
    }

    /** Fails if anything that was stored may be lost. */
    public void checkSettled() {
        if (!lines.isEmpty()) {
            throw new AssertionError("nobody made durable what was stored to the lines at %s"
                    .formatted(lines.keySet().stream().map(n -> n * LINE_BYTES).toList()));
        }
    }

    /**
     * Shows images that a power cut may leave now: all of them if they are at most {@code max},
     * else so many that are drawn, the two ends among them.
     *
     * @return how many were shown
     */
    public int eachImage(int max, SplittableRandom random, Consumer<byte[]> reader) {
        return mode == RegionMode.FILE
                ? eachPageImage(max, random, reader)
                : eachLineImage(max, random, reader);
    }

    private int eachLineImage(int max, SplittableRandom random, Consumer<byte[]> reader) {
        List<Line> open = List.copyOf(lines.values());
        long product = 1;
        for (Line line : open) {
            product = Math.min(product * (line.stores.size() + 1), max + 1L);
        }
        int[] prefix = new int[open.size()];
        if (product <= max) {
            for (int shown = 0; shown < product; shown++) {
                reader.accept(image(open, prefix));
                for (int i = 0; i < prefix.length; i++) {
                    if (++prefix[i] <= open.get(i).stores.size()) {
                        break;
                    }
                    prefix[i] = 0;
                }
            }
            return (int) product;
        }
        reader.accept(durable.clone());
        reader.accept(current.clone());
        for (int i = 2; i < max; i++) {
            for (int j = 0; j < prefix.length; j++) {
                int stores = open.get(j).stores.size();
                // the ends are likelier to show what is wrong
                int drawn = random.nextInt(4);
                prefix[j] = drawn == 0 ? 0 : drawn == 1 ? stores : random.nextInt(stores + 1);
            }
            reader.accept(image(open, prefix));
        }
        return max;
    }

    private byte[] image(List<Line> open, int[] prefix) {
        byte[] image = durable.clone();
        for (int i = 0; i < prefix.length; i++) {
            for (int j = 0; j < prefix[i]; j++) {
                open.get(i).stores.get(j).applyTo(image);
            }
        }
        return image;
    }

    private int eachPageImage(int max, SplittableRandom random, Consumer<byte[]> reader) {
        List<Integer> changed = new ArrayList<>();
        for (int page = 0; page < current.length; page += PAGE_BYTES) {
            if (!Arrays.equals(current, page, page + PAGE_BYTES, forced, page, page + PAGE_BYTES)) {
                changed.add(page);
            }
        }
        boolean all = changed.size() < 31 && 1 << changed.size() <= max;
        int count = all ? 1 << changed.size() : max;
        for (int shown = 0; shown < count; shown++) {
            byte[] image = forced.clone();
            for (int i = 0; i < changed.size(); i++) {
                if (all ? (shown >>> i & 1) == 1 : random.nextBoolean()) {
                    int page = changed.get(i);
                    System.arraycopy(current, page, image, page, PAGE_BYTES);
                }
            }
            reader.accept(image);
        }
        return count;
    }

    private static final class Line {
        final List<Store> stores = new ArrayList<>();
        int writtenBack;
    }

    private static final class Store {
        final long offset;
        final byte[] bytes;

        Store(long offset, byte[] bytes) {
            this.offset = offset;
            this.bytes = bytes;
        }

        void applyTo(byte[] image) {
            System.arraycopy(bytes, 0, image, (int) offset, bytes.length);
        }
    }
}
