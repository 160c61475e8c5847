package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.ListCursor.Row;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A random walk of a cursor, and of a finger over the list of what it must show. */
public final class CursorWalk {
    private final EntryCursor cursor;
    private final List<Row> rows;
    private final SplittableRandom random;

    /** The entry that the cursor stands on, or the one behind its gap. */
    private int finger;

    private boolean onEntry;

    private CursorWalk(EntryCursor cursor, List<Row> rows, SplittableRandom random) {
        this.cursor = cursor;
        this.rows = rows;
        this.random = random;
    }

    /**
     * Walks a cursor that stands before its first entry.
     *
     * @param rows all that it shows, in order
     */
    public static void run(EntryCursor cursor, List<Row> rows, SplittableRandom random, int moves) {
        CursorWalk walk = new CursorWalk(cursor, rows, random);
        int left = moves;
        while (left > 0) {
            int steps = 1 + random.nextInt(random.nextInt(4) == 0 ? 200 : 6);
            switch (random.nextInt(10)) {
                case 0, 1 -> walk.seek();
                case 2 -> walk.seekEnd();
                case 3, 4, 5 -> walk.next(steps);
                default -> walk.previous(steps);
            }
            left -= steps;
        }
    }

    private void seek() {
        byte[] key = rows.isEmpty()
                ? new byte[3]
                : rows.get(random.nextInt(rows.size())).key();
        switch (random.nextInt(5)) {
            case 0 -> key = Arrays.copyOf(key, key.length + 1);
            case 1 -> key = Arrays.copyOf(key, key.length / 2);
            case 2 -> {
                key = key.clone();
                if (key.length > 0) {
                    key[random.nextInt(key.length)] += (byte) (random.nextBoolean() ? 1 : -1);
                }
            }
            default -> {}
        }
        cursor.seek(Slice.of(key));
        finger = lowerBound(key);
        onEntry = false;
    }

    private int lowerBound(byte[] key) {
        int low = 0;
        int high = rows.size();
        while (low < high) {
            int middle = (low + high) >>> 1;
            if (Arrays.compareUnsigned(rows.get(middle).key(), key) < 0) {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        return low;
    }

    private void seekEnd() {
        cursor.seekEnd();
        finger = rows.size();
        onEntry = false;
    }

    private void next(int steps) {
        for (int i = 0; i < steps; i++) {
            finger += onEntry ? 1 : 0;
            onEntry = finger < rows.size();
            check("next", cursor.next());
        }
    }

    private void previous(int steps) {
        for (int i = 0; i < steps; i++) {
            onEntry = finger > 0;
            finger = Math.max(0, finger - 1);
            check("previous", cursor.previous());
        }
    }

    private void check(String move, boolean found) {
        if (found != onEntry) {
            throw new AssertionError(
                    "%s says %b at %d of %d entries".formatted(move, found, finger, rows.size()));
        }
        if (found && !Row.of(cursor).equals(rows.get(finger))) {
            throw new AssertionError("%s leads to %s, not to %s, at %d of %d"
                    .formatted(move, Row.of(cursor), rows.get(finger), finger, rows.size()));
        }
    }
}
