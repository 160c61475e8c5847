package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.ListCursor.Row;
import io.turbidite.lsm.harness.FingerWalk;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A random walk of a cursor over entries. */
public final class CursorWalk {
    private final FingerWalk<Row> walk;
    private final List<Row> rows;
    private final SplittableRandom random;

    private CursorWalk(EntryCursor cursor, List<Row> rows, SplittableRandom random) {
        this.walk = new FingerWalk<>(new Entries(cursor), rows, key -> lowerBound(rows, key));
        this.rows = rows;
        this.random = random;
    }

    private record Entries(EntryCursor cursor) implements FingerWalk.Cursor<Row> {
        @Override
        public boolean next() {
            return cursor.next();
        }

        @Override
        public boolean previous() {
            return cursor.previous();
        }

        @Override
        public void seek(Slice key) {
            cursor.seek(key);
        }

        @Override
        public void seekEnd() {
            cursor.seekEnd();
        }

        @Override
        public Row shown() {
            return Row.of(cursor);
        }
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
                case 2 -> walk.walk.seekEnd();
                case 3, 4, 5 -> walk.walk.next(steps);
                default -> walk.walk.previous(steps);
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
        walk.seek(key);
    }

    private static int lowerBound(List<Row> rows, byte[] key) {
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
}
