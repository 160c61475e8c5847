package io.turbidite.lsm.sort;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sort.SortedInput;
import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.KeyCopy;

/**
 * What was sorted, as entries, without the duplicates that are not to be shown.
 *
 * <p>The number beside a key says timestamp and kind, so that the newest comes first, and of one
 * timestamp matter.
 *
 * <p><em>Confined to one thread.</em> Owns the input.
 */
final class ReconciledStream implements EntryStream, SortedInput {
    private final SortedInput input;
    private final Duplicates duplicates;
    private final KeyCopy last = new KeyCopy();
    private long lastTimestamp;
    private long number;

    ReconciledStream(SortedInput input, Duplicates duplicates) {
        this.input = input;
        this.duplicates = duplicates;
    }

    static long number(long timestamp, boolean antimatter) {
        return (Limits.TIMESTAMP_MAX - timestamp) << 1 | (antimatter ? 1 : 0);
    }

    @Override
    public boolean next() {
        while (input.next()) {
            Slice key = input.key();
            number = input.number();
            long timestamp = timestamp();
            if (!last.matches(key)) {
                last.set(key);
                lastTimestamp = timestamp;
                return true;
            }
            boolean same = timestamp == lastTimestamp;
            lastTimestamp = timestamp;
            switch (duplicates) {
                case Duplicates.Keep _ -> {
                    if (!same) {
                        return true;
                    }
                }
                case Duplicates.Newest _ -> {}
                case Duplicates.Refuse refuse -> {
                    if (!same) {
                        throw refuse.refusal().apply(key);
                    }
                }
            }
        }
        return false;
    }

    @Override
    public Slice key() {
        return input.key();
    }

    @Override
    public long number() {
        return number;
    }

    @Override
    public long timestamp() {
        return Limits.TIMESTAMP_MAX - (number >>> 1);
    }

    @Override
    public boolean isAntimatter() {
        return (number & 1) != 0;
    }

    @Override
    public Slice payload() {
        return input.payload();
    }

    @Override
    public Slice value() {
        return input.payload();
    }

    @Override
    public int sharedBytes() {
        return input.sharedBytes();
    }

    @Override
    public void close() {
        input.close();
    }
}
