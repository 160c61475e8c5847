package io.turbidite.lsm.entry;

import io.turbidite.core.bytes.Slice;
import io.turbidite.lsm.entry.ListCursor.Row;
import io.turbidite.lsm.harness.FingerWalk;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;

/** A random walk of a cursor over entries. */
public final class CursorWalk {
    private final EntryCursor cursor;
    private final EntryBatch batch = new EntryBatch();
    private final Slice batchKey = new Slice();
    private final FingerWalk<Row> walk;
    private final List<Row> rows;
    private final SplittableRandom random;

    private CursorWalk(EntryCursor cursor, List<Row> rows, SplittableRandom random) {
        this.cursor = cursor;
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
                case 3, 4 -> walk.walk.next(steps);
                case 5 -> walk.fillBatches();
                default -> walk.walk.previous(steps);
            }
            left -= steps;
        }
    }

    /** Goes forward by batches and by seeks, and then must seek. */
    private void fillBatches() {
        int at = walk.following();
        for (int i = random.nextInt(8); i >= 0; i--) {
            at += fillBatch(at);
            if (random.nextInt(3) == 0) {
                // mostly near, and forward
                seekNear(Math.max(0, at + random.nextInt(random.nextBoolean() ? 5 : 150) - 2));
                at = walk.following();
            }
        }
        seek();
    }

    private int fillBatch(int from) {
        int countMax = 1 + random.nextInt(EntryBatch.ENTRIES_MAX);
        batch.clear();
        boolean isFilled = cursor.fill(batch, countMax);
        if (isFilled != from < rows.size()
                || isFilled != batch.count() > 0
                || batch.count() > countMax) {
            throw new AssertionError("a batch of %d, most %d, at %d of %d"
                    .formatted(batch.count(), countMax, from, rows.size()));
        }
        for (int i = 0; i < batch.count(); i++) {
            Row row = rows.get(from + i);
            if (!Arrays.equals(batch.key(i, batchKey).toByteArray(), row.key())
                    || batch.timestamp(i) != row.timestamp()
                    || batch.isAntimatter(i) != row.antimatter()) {
                throw new AssertionError("entry %d of a batch is %s at %d, not %s"
                        .formatted(i, batch.key(i, batchKey), batch.timestamp(i), row));
            }
            if (i > 0) {
                checkOrder(i, Arrays.compareUnsigned(rows.get(from + i - 1).key(), row.key()));
            }
        }
        checkSearch();
        return batch.count();
    }

    /** How neighbours in the batch compare. */
    private void checkOrder(int entry, int order) {
        Slice key = batch.key(entry, batchKey);
        if (batch.hasSameKey(entry - 1, entry) != (order == 0)
                || Integer.signum(batch.compareKey(entry - 1, key)) != Integer.signum(order)) {
            throw new AssertionError("order of entries %d and %d".formatted(entry - 1, entry));
        }
    }

    /** A search in the batch finds the first entry of a key, wherever it begins. */
    private void checkSearch() {
        if (batch.count() > 0) {
            int entry = random.nextInt(batch.count());
            int first = entry;
            while (first > 0 && batch.hasSameKey(first - 1, entry)) {
                first--;
            }
            int found = batch.lowerBound(batch.key(entry, batchKey), random.nextInt(batch.count()));
            if (found != first) {
                throw new AssertionError("%d is found at %d".formatted(first, found));
            }
        }
    }

    private void seek() {
        seekNear(rows.isEmpty() ? 0 : random.nextInt(rows.size()));
    }

    private void seekNear(int index) {
        byte[] key = rows.isEmpty()
                ? new byte[3]
                : rows.get(Math.min(index, rows.size() - 1)).key();
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
