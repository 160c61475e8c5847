package io.turbidite.lsm.entry;

import io.turbidite.core.Limits;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

/**
 * A key remembered while a cursor moves on, to tell further versions of one key from the next key.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class KeyCopy {
    private final ByteSink bytes = new ByteSink(64, 64 * Limits.KEY_BYTES_MAX);
    private boolean present;

    /** Remembers nothing. */
    public void forget() {
        present = false;
    }

    public void set(Slice key) {
        bytes.clear().putBytes(key);
        present = true;
    }

    /** Moves {@code slice} to the key that is remembered. */
    public Slice asSlice(Slice slice) {
        assert present;
        return bytes.asSlice(slice);
    }

    /** Whether a key is remembered and {@code key} has the same bytes. */
    public boolean matches(Slice key) {
        return present
                && key.length() == bytes.length()
                && Bytes.compare(
                                bytes.segment(),
                                0,
                                bytes.length(),
                                key.segment(),
                                key.offset(),
                                key.length())
                        == 0;
    }
}
