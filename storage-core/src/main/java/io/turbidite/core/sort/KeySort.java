package io.turbidite.core.sort;

import java.util.function.IntBinaryOperator;

/**
 * Sorts indexes by 8-byte prefixes, falling back on whole keys where prefixes are equal. Keeps its
 * scratch space for the next sort. <em>Confined to one thread at a time.</em>
 */
public final class KeySort {
    private static final int INSERTION_MAX = 24;

    private long[] scratchPrefixes = new long[0];
    private int[] scratchIndexes = new int[0];

    /**
     * Sorts the first {@code count} elements of {@code prefixes} and {@code indexes} together, by
     * prefix and then by {@code compareKeys} of two indexes. A merge sort: its cost does not depend
     * on luck.
     */
    public void sort(long[] prefixes, int[] indexes, int count, IntBinaryOperator compareKeys) {
        for (int low = 0; low < count; low += INSERTION_MAX) {
            insertionSort(
                    prefixes, indexes, low, Math.min(count, low + INSERTION_MAX), compareKeys);
        }
        long[] fromPrefixes = prefixes;
        int[] fromIndexes = indexes;
        if (scratchPrefixes.length < count) {
            scratchPrefixes = new long[prefixes.length];
            scratchIndexes = new int[prefixes.length];
        }
        long[] toPrefixes = scratchPrefixes;
        int[] toIndexes = scratchIndexes;
        boolean inScratch = false;
        for (long width = INSERTION_MAX; width < count; width *= 2) {
            for (long low = 0; low < count; low += 2 * width) {
                int middle = (int) Math.min(count, low + width);
                int high = (int) Math.min(count, low + 2 * width);
                int a = (int) low;
                int b = middle;
                for (int k = (int) low; k < high; k++) {
                    boolean takeLeft = b >= high
                            || (a < middle
                                    && order(fromPrefixes, fromIndexes, a, b, compareKeys) <= 0);
                    int taken = takeLeft ? a++ : b++;
                    toPrefixes[k] = fromPrefixes[taken];
                    toIndexes[k] = fromIndexes[taken];
                }
            }
            long[] swapPrefixes = fromPrefixes;
            fromPrefixes = toPrefixes;
            toPrefixes = swapPrefixes;
            int[] swapIndexes = fromIndexes;
            fromIndexes = toIndexes;
            toIndexes = swapIndexes;
            inScratch = !inScratch;
        }
        if (inScratch) {
            System.arraycopy(fromPrefixes, 0, prefixes, 0, count);
            System.arraycopy(fromIndexes, 0, indexes, 0, count);
        }
    }

    private static void insertionSort(
            long[] prefixes, int[] indexes, int low, int high, IntBinaryOperator compareKeys) {
        for (int i = low + 1; i < high; i++) {
            long prefix = prefixes[i];
            int index = indexes[i];
            int j = i - 1;
            while (j >= low
                    && (prefixes[j] > prefix
                            || (prefixes[j] == prefix
                                    && compareKeys.applyAsInt(indexes[j], index) > 0))) {
                prefixes[j + 1] = prefixes[j];
                indexes[j + 1] = indexes[j];
                j--;
            }
            prefixes[j + 1] = prefix;
            indexes[j + 1] = index;
        }
    }

    private static int order(
            long[] prefixes, int[] indexes, int a, int b, IntBinaryOperator compareKeys) {
        return prefixes[a] != prefixes[b]
                ? Long.compare(prefixes[a], prefixes[b])
                : compareKeys.applyAsInt(indexes[a], indexes[b]);
    }
}
