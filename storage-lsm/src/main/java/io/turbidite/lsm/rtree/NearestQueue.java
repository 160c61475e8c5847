package io.turbidite.lsm.rtree;

import java.util.Arrays;

/**
 * What a search for neighbours has still to look into: boxes or squares, and entries, nearest
 * first; of those equally far the one whose entries come first in the order of keys.
 *
 * <p>An element is five numbers: how far it is, {@code high} and {@code low} for its place in the
 * order of keys, and two of its owner's. <em>Confined to one thread.</em> Makes no garbage but when
 * it grows.
 */
final class NearestQueue {
    /** Orders elements that the numbers leave equal. */
    @FunctionalInterface
    interface Order {
        int compare(int slot, int other);
    }

    private Order order = Integer::compare;
    private double[] distances = new double[32];
    private long[] highs = new long[32];
    private long[] lows = new long[32];
    private int[] levels = new int[32];
    private int[] extras = new int[32];

    /** Slots that have an element, as a heap; behind them the free ones. */
    private int[] heap = new int[32];

    private int size;

    NearestQueue() {
        Arrays.setAll(heap, i -> i);
    }

    /** Orders what the numbers leave equal; before by the numbers of slots. */
    void setOrder(Order newOrder) {
        order = newOrder;
    }

    void clear() {
        // the heap names each slot once, whatever is in it
        size = 0;
    }

    /** Elements that it has room for. */
    int capacity() {
        return heap.length;
    }

    int size() {
        return size;
    }

    /**
     * @param level above 0 of what comes before entries that begin at the same place
     */
    void add(double distance, long high, long low, int level, int extra) {
        if (size == heap.length) {
            grow();
        }
        int slot = heap[size];
        distances[slot] = distance;
        highs[slot] = high;
        lows[slot] = low;
        levels[slot] = level;
        extras[slot] = extra;
        siftUp(slot);
    }

    private void grow() {
        int before = heap.length;
        int count = 2 * before;
        distances = Arrays.copyOf(distances, count);
        highs = Arrays.copyOf(highs, count);
        lows = Arrays.copyOf(lows, count);
        levels = Arrays.copyOf(levels, count);
        extras = Arrays.copyOf(extras, count);
        heap = Arrays.copyOf(heap, count);
        for (int i = before; i < count; i++) {
            heap[i] = i;
        }
    }

    /** Takes the first element away; its slot keeps its numbers until the next one is added. */
    int remove() {
        int first = heap[0];
        int last = heap[--size];
        int at = 0;
        while (true) {
            int child = 2 * at + 1;
            if (child >= size) {
                break;
            }
            if (child + 1 < size && precedes(heap[child + 1], heap[child])) {
                child++;
            }
            if (!precedes(heap[child], last)) {
                break;
            }
            heap[at] = heap[child];
            at = child;
        }
        heap[at] = last;
        heap[size] = first;
        return first;
    }

    /**
     * Keeps the first half.
     *
     * @return the slot of the last one that is kept
     */
    int halve() {
        int[] kept = new int[size / 2];
        for (int i = 0; i < kept.length; i++) {
            kept[i] = remove();
        }
        keep(kept, kept.length);
        return kept[kept.length - 1];
    }

    /** Moves what has a level to another queue, the lowest level first. */
    void moveLevels(NearestQueue to) {
        int[] kept = new int[size];
        int keptCount = 0;
        for (int i = 0; i < size; i++) {
            int slot = heap[i];
            if (levels[slot] == 0) {
                kept[keptCount++] = slot;
            } else {
                to.add(levels[slot], highs[slot], lows[slot], levels[slot], extras[slot]);
            }
        }
        keep(kept, keptCount);
    }

    private void keep(int[] kept, int keptCount) {
        boolean[] isKept = new boolean[heap.length];
        size = 0;
        for (int i = 0; i < keptCount; i++) {
            isKept[kept[i]] = true;
            siftUp(kept[i]);
        }
        int free = keptCount;
        for (int slot = 0; slot < isKept.length; slot++) {
            if (!isKept[slot]) {
                heap[free++] = slot;
            }
        }
    }

    private void siftUp(int slot) {
        int at = size++;
        while (at > 0 && precedes(slot, heap[(at - 1) >>> 1])) {
            heap[at] = heap[(at - 1) >>> 1];
            at = (at - 1) >>> 1;
        }
        heap[at] = slot;
    }

    /** A slot that has an element, by its number from 0, in no order. */
    int slot(int index) {
        return heap[index];
    }

    private boolean precedes(int a, int b) {
        if (distances[a] != distances[b]) {
            return distances[a] < distances[b];
        }
        int byKey = Long.compareUnsigned(highs[a], highs[b]);
        if (byKey == 0) {
            byKey = Long.compareUnsigned(lows[a], lows[b]);
        }
        if (byKey == 0) {
            byKey = Integer.compare(levels[b], levels[a]);
        }
        return byKey != 0 ? byKey < 0 : order.compare(a, b) < 0;
    }

    double distance(int slot) {
        return distances[slot];
    }

    long high(int slot) {
        return highs[slot];
    }

    long low(int slot) {
        return lows[slot];
    }

    int level(int slot) {
        return levels[slot];
    }

    int extra(int slot) {
        return extras[slot];
    }

    void setExtra(int slot, int extra) {
        extras[slot] = extra;
    }
}
