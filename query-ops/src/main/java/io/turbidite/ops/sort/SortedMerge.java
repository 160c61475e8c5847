package io.turbidite.ops.sort;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.ops.run.Cleanup;

import java.util.Arrays;
import java.util.List;

/**
 * Several sorted inputs read as one, by a binary heap of 8-byte prefixes; of equal keys the one of the
 * earlier input comes first. Closes its inputs. <em>Confined to one thread.</em>
 */
public final class SortedMerge implements SortedInput {
    private final SortedInput[] inputs;
    private final long[] prefixes;
    /** The first {@link #heapCount} elements are a min-heap of indexes of inputs. */
    private final int[] heap;

    private int heapCount = -1;

    private SortedMerge(List<SortedInput> inputs) {
        this.inputs = inputs.toArray(SortedInput[]::new);
        this.prefixes = new long[this.inputs.length];
        this.heap = new int[this.inputs.length];
    }

    /** One input is returned as it is. */
    public static SortedInput of(List<SortedInput> inputs) {
        return inputs.size() == 1 ? inputs.getFirst() : new SortedMerge(inputs);
    }

    @Override
    public boolean next() {
        if (heapCount < 0) {
            start();
        } else if (heapCount > 0) {
            if (!advance(heap[0])) {
                heap[0] = heap[--heapCount];
            }
            siftDown(0);
        }
        return heapCount > 0;
    }

    @Override
    public Slice key() {
        return inputs[heap[0]].key();
    }

    @Override
    public Slice payload() {
        return inputs[heap[0]].payload();
    }

    @Override
    public void close() {
        heapCount = 0;
        new Cleanup().addAll(Arrays.asList(inputs), SortedInput::close).run();
    }

    private void start() {
        heapCount = 0;
        for (int i = 0; i < inputs.length; i++) {
            if (advance(i)) {
                heap[heapCount++] = i;
            }
        }
        for (int at = heapCount / 2 - 1; at >= 0; at--) {
            siftDown(at);
        }
    }

    private boolean advance(int input) {
        if (!inputs[input].next()) {
            return false;
        }
        Slice key = inputs[input].key();
        prefixes[input] = Bytes.prefix(key.segment(), key.offset(), key.length());
        return true;
    }

    private void siftDown(int from) {
        int at = from;
        while (2 * at + 1 < heapCount) {
            int child = 2 * at + 1;
            if (child + 1 < heapCount && before(heap[child + 1], heap[child])) {
                child++;
            }
            if (!before(heap[child], heap[at])) {
                return;
            }
            int swap = heap[at];
            heap[at] = heap[child];
            heap[child] = swap;
            at = child;
        }
    }

    private boolean before(int a, int b) {
        int order = Long.compareUnsigned(prefixes[a], prefixes[b]);
        if (order == 0) {
            order = inputs[a].key().compareBytes(inputs[b].key());
        }
        return order < 0 || (order == 0 && a < b);
    }
}
