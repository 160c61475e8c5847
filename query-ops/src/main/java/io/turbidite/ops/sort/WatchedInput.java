package io.turbidite.ops.sort;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.ops.run.StopLooks;

/**
 * Entries on their way into a run, which nobody gets before the last of them is written: each is a
 * look for a stop. <em>Confined to one thread at a time.</em>
 *
 * @param entries closed with it
 * @param looks shared with other inputs of the same runs
 */
record WatchedInput(SortedInput entries, StopLooks looks) implements SortedInput {
    @Override
    public boolean next() {
        looks.look();
        return entries.next();
    }

    @Override
    public Slice key() {
        return entries.key();
    }

    @Override
    public long number() {
        return entries.number();
    }

    @Override
    public Slice payload() {
        return entries.payload();
    }

    @Override
    public int sharedBytes() {
        return entries.sharedBytes();
    }

    @Override
    public void close() {
        entries.close();
    }
}
