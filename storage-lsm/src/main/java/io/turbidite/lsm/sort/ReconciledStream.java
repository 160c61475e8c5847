package io.turbidite.lsm.sort;

import io.turbidite.lsm.entry.EntryStream;
import io.turbidite.lsm.entry.ForwardingStream;
import io.turbidite.lsm.entry.KeyCopy;

/**
 * An ordered stream without the duplicates that are not to be shown.
 *
 * <p><em>Confined to one thread.</em> Owns the stream.
 */
final class ReconciledStream implements ForwardingStream {
    private final EntryStream entries;
    private final Duplicates duplicates;
    private final KeyCopy last = new KeyCopy();
    private long lastTimestamp;
    private boolean closed;

    ReconciledStream(EntryStream entries, Duplicates duplicates) {
        this.entries = entries;
        this.duplicates = duplicates;
    }

    @Override
    public EntryStream entries() {
        return entries;
    }

    @Override
    public boolean next() {
        while (entries.next()) {
            if (!last.matches(entries.key())) {
                last.set(entries.key());
                lastTimestamp = entries.timestamp();
                return true;
            }
            boolean same = entries.timestamp() == lastTimestamp;
            lastTimestamp = entries.timestamp();
            switch (duplicates) {
                case Duplicates.Keep _ -> {
                    if (!same) {
                        return true;
                    }
                }
                case Duplicates.Newest _ -> {}
                case Duplicates.Refuse refuse -> {
                    if (!same) {
                        throw refuse.refusal().apply(entries.key());
                    }
                }
            }
        }
        return false;
    }

    @Override
    public void close() {
        if (!closed) {
            closed = true;
            entries.close();
        }
    }
}
