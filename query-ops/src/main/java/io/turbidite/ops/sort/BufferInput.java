package io.turbidite.ops.sort;

import io.turbidite.core.bytes.Slice;

/** A sorted buffer as an input; closes it. <em>Confined to one thread.</em> */
public final class BufferInput implements SortedInput {
    private final SortBuffer buffer;
    private final int[] order;
    private final int count;
    private final Slice key = new Slice();
    private final Slice payload = new Slice();
    private int next;

    private BufferInput(SortBuffer buffer, int countMax) {
        this.buffer = buffer;
        this.order = buffer.sort();
        this.count = Math.min(buffer.count(), countMax);
    }

    /** Sorts the buffer and reads at most {@code countMax} entries of it. */
    public static BufferInput of(SortBuffer buffer, int countMax) {
        return new BufferInput(buffer, countMax);
    }

    @Override
    public boolean next() {
        if (next == count) {
            return false;
        }
        buffer.key(order[next], key);
        buffer.payload(order[next], payload);
        next++;
        return true;
    }

    @Override
    public Slice key() {
        return key;
    }

    @Override
    public Slice payload() {
        return payload;
    }

    @Override
    public void close() {
        next = count;
        buffer.close();
    }
}
