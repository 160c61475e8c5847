package io.turbidite.lsm.harness;

import io.turbidite.core.bytes.Slice;

import java.util.List;
import java.util.function.ToIntFunction;

/**
 * A cursor that is moved, and a finger over the list of what it must show.
 *
 * @param <T> what it shows
 */
public final class FingerWalk<T> {
    /** What is walked. */
    public interface Cursor<T> {
        boolean next();

        boolean previous();

        void seek(Slice key);

        void seekEnd();

        /** The entry that it stands on. */
        T shown();
    }

    private final Cursor<T> cursor;
    private final List<T> expected;

    /** Of a key: how many entries lie below it. */
    private final ToIntFunction<byte[]> below;

    /** The entry that the cursor stands on, or the one behind its gap. */
    private int finger;

    private boolean onEntry;

    /**
     * A walk of a cursor that stands before its first entry.
     *
     * @param expected all that it shows, in order
     * @param below how many of these lie below a key
     */
    public FingerWalk(Cursor<T> cursor, List<T> expected, ToIntFunction<byte[]> below) {
        this.cursor = cursor;
        this.expected = expected;
        this.below = below;
    }

    public void seek(byte[] key) {
        cursor.seek(Slice.of(key));
        finger = below.applyAsInt(key);
        onEntry = false;
    }

    public void seekEnd() {
        cursor.seekEnd();
        finger = expected.size();
        onEntry = false;
    }

    /** The entry that a move forward leads to. */
    public int following() {
        return finger + (onEntry ? 1 : 0);
    }

    public void next(int steps) {
        for (int i = 0; i < steps; i++) {
            finger += onEntry ? 1 : 0;
            onEntry = finger < expected.size();
            check("next", cursor.next());
        }
    }

    public void previous(int steps) {
        for (int i = 0; i < steps; i++) {
            onEntry = finger > 0;
            finger = Math.max(0, finger - 1);
            check("previous", cursor.previous());
        }
    }

    private void check(String move, boolean found) {
        if (found != onEntry) {
            throw new AssertionError("%s says %b at %d of %d entries"
                    .formatted(move, found, finger, expected.size()));
        }
        checkEntry(move);
    }

    /**
     * What the cursor stands on is still what it was when it came there.
     *
     * @param move what came before, for the message
     */
    public void checkEntry(String move) {
        if (onEntry && !cursor.shown().equals(expected.get(finger))) {
            throw new AssertionError("%s leads to %s, not to %s, at %d of %d"
                    .formatted(
                            move, cursor.shown(), expected.get(finger), finger, expected.size()));
        }
    }
}
