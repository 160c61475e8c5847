package io.turbidite.lsm.harness;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.index.EntryKeyList;
import io.turbidite.core.index.SpatialKeys;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.CandidateBatch;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.schema.IndexSchema;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.function.BooleanSupplier;

/**
 * An open cursor of a view on a random walk, and a finger over the list of what it must show. It
 * stays open, idle, while the store is written, flushed and merged.
 */
final class ViewWalk implements AutoCloseable {
    /** A record under its encoded primary key, or an index entry (no row). */
    private static final class Shown {
        final byte[] key;
        final @Nullable Row row;

        Shown(byte[] key, @Nullable Row row) {
            this.key = key;
            this.row = row;
        }

        byte[] key() {
            return key;
        }

        @Override
        public boolean equals(Object other) {
            return other instanceof Shown shown
                    && Arrays.equals(key, shown.key)
                    && Objects.equals(row, shown.row);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(key);
        }

        @Override
        public String toString() {
            return Slice.of(key) + " " + row;
        }
    }

    /** What both kinds of cursors can do. */
    private interface Cursor extends FingerWalk.Cursor<Shown>, AutoCloseable {
        @Override
        void close();
    }

    private final Cursor cursor;
    private final FingerWalk<Shown> walk;
    private final BooleanSupplier isDropped;
    private final List<byte[]> keys;
    private final SplittableRandom random;
    private boolean ended;

    private ViewWalk(
            Cursor cursor,
            List<Shown> all,
            List<Shown> inRange,
            BooleanSupplier isDropped,
            SplittableRandom random) {
        this.cursor = cursor;
        this.walk = new FingerWalk<>(cursor, inRange, key -> (int) inRange.stream()
                .filter(shown -> Arrays.compareUnsigned(shown.key, key) < 0)
                .count());
        this.isDropped = isDropped;
        this.keys = all.stream().map(Shown::key).toList();
        this.random = random;
    }

    /** Opens a cursor on a random partition, index and range. */
    static ViewWalk open(
            Dataset dataset, ReadView view, Iterable<Row> rows, SplittableRandom random) {
        int partition = random.nextInt(view.partitionCount());
        List<IndexSchema> indexes = Inside.schema(dataset).indexes().stream()
                .filter(IndexSchema::isReady)
                .toList();
        int tree = random.nextInt(indexes.size() + 1);
        List<Shown> all = new ArrayList<>();
        for (Row row : rows) {
            byte[] primaryKey = dataset.primaryKeySpec().encode(row.id());
            long hash = BloomFilter.hash(Slice.of(primaryKey));
            if (Inside.partition(dataset, hash).number() == partition) {
                if (tree == 0) {
                    all.add(new Shown(primaryKey, row));
                } else {
                    entries(dataset, indexes.get(tree - 1), row)
                            .forEach(entry -> all.add(new Shown(entry, null)));
                }
            }
        }
        all.sort((a, b) -> Arrays.compareUnsigned(a.key, b.key));
        IndexSearch range =
                tree == 0 ? range(all, random) : search(indexes.get(tree - 1), all, random);
        List<Shown> inRange = all.stream()
                .filter(shown -> range.contains(Slice.of(shown.key)))
                .toList();
        Cursor cursor = tree == 0
                ? records(dataset, view.scan(partition, (KeyRange) range, FilterPredicate.none()))
                : entries(view, partition, indexes.get(tree - 1), range);
        IndexSchema index = tree == 0 ? null : indexes.get(tree - 1);
        BooleanSupplier isDropped =
                () -> index != null && Inside.schema(dataset).index(index.id()) == null;
        return new ViewWalk(cursor, all, inRange, isDropped, random);
    }

    private static List<byte[]> entries(Dataset dataset, IndexSchema index, Row row) {
        RecordView record = new RecordView(dataset.type());
        record.wrap(dataset.newRecordWriter().write(row.toMap(dataset.type())));
        Slice primaryKey = Slice.of(dataset.primaryKeySpec().encode(row.id()));
        EntryKeyList keys = new EntryKeyList();
        index.entryKeys().append(record, primaryKey, keys);
        List<byte[]> entries = new ArrayList<>();
        for (int i = 0; i < keys.count(); i++) {
            entries.add(keys.key(i, new Slice()).toByteArray());
        }
        return entries;
    }

    /** Of an R-tree, a window from one entry to another mostly. */
    private static IndexSearch search(IndexSchema index, List<Shown> all, SplittableRandom random) {
        boolean isSpatial = index.entryKeys() instanceof SpatialKeys;
        if (!isSpatial || all.isEmpty() || random.nextInt(4) == 0) {
            return range(all, random);
        }
        SpatialKind kind = ((SpatialKeys) index.entryKeys()).kind();
        Box bounds = new Box();
        double reach = 0;
        Box one = new Box();
        for (int i = 0; i < 2; i++) {
            kind.decode(Slice.of(all.get(random.nextInt(all.size())).key), 0, one);
            reach = bounds.isEmpty() ? 0 : Metric.PLANE.distance(bounds.minX(), bounds.minY(), one);
            bounds.add(one);
        }
        if (reach > 0 && all.size() % 2 == 0) {
            return new IndexSearch.Around(
                    kind, new Circle(Metric.PLANE, bounds.minX(), bounds.minY(), reach));
        }
        return new IndexSearch.Window(
                kind, new Rectangle(bounds.minX(), bounds.minY(), bounds.maxX(), bounds.maxY()));
    }

    private static KeyRange range(List<Shown> all, SplittableRandom random) {
        if (all.isEmpty() || random.nextInt(3) == 0) {
            return KeyRange.all();
        }
        byte[] a = all.get(random.nextInt(all.size())).key;
        byte[] b = all.get(random.nextInt(all.size())).key;
        boolean inOrder = Arrays.compareUnsigned(a, b) <= 0;
        return switch (random.nextInt(5)) {
            case 0 -> KeyRange.startingWith(Arrays.copyOf(a, 1 + random.nextInt(a.length)));
            case 1 -> KeyRange.between(a, random.nextBoolean(), null, false);
            case 2 -> KeyRange.between(null, false, b, random.nextBoolean());
            default ->
                KeyRange.between(
                        inOrder ? a : b,
                        random.nextBoolean(),
                        inOrder ? b : a,
                        random.nextBoolean());
        };
    }

    /**
     * Moves the cursor at random and compares; one whose index was dropped may fail, and say so.
     */
    void go(int moves) {
        if (ended) {
            return;
        }
        try {
            walk(moves);
        } catch (InvalidRequestException gone) {
            if (!isDropped.getAsBoolean()) {
                throw gone;
            }
            ended = true;
        }
    }

    private void walk(int moves) {
        int left = moves;
        while (left > 0) {
            int steps = 1 + random.nextInt(random.nextInt(5) == 0 ? 40 : 4);
            switch (random.nextInt(8)) {
                case 0, 1 -> seek();
                case 2 -> walk.seekEnd();
                case 3, 4 -> walk.next(steps);
                default -> walk.previous(steps);
            }
            left -= steps;
        }
    }

    private void seek() {
        byte[] key = keys.isEmpty() ? new byte[2] : keys.get(random.nextInt(keys.size()));
        if (random.nextBoolean()) {
            key = Arrays.copyOf(key, random.nextInt(key.length + 2));
        }
        walk.seek(key);
    }

    /** After others had their turns. */
    void checkStillThere() {
        if (!ended) {
            walk.checkEntry("being idle");
        }
    }

    @Override
    public void close() {
        cursor.close();
    }

    private static Cursor records(Dataset dataset, RecordCursor records) {
        RecordView record = new RecordView(dataset.type());
        return new Cursor() {
            @Override
            public boolean next() {
                return records.next();
            }

            @Override
            public boolean previous() {
                return records.previous();
            }

            @Override
            public void seek(Slice key) {
                records.seek(key);
            }

            @Override
            public void seekEnd() {
                records.seekEnd();
            }

            @Override
            public Shown shown() {
                Row row = Row.of(record.wrap(records.record()).toMap());
                return new Shown(records.key().toByteArray(), row);
            }

            @Override
            public void close() {
                records.close();
            }
        };
    }

    private static Cursor entries(
            ReadView view, int partition, IndexSchema index, IndexSearch range) {
        IndexCursor entries = view.search(partition, index.name(), range, FilterPredicate.none());
        CandidateBatch candidate = new CandidateBatch(1 << 16);
        boolean alwaysValid = index.describe().alwaysValid();
        return new Cursor() {
            private boolean isValid() {
                if (alwaysValid) {
                    return true;
                }
                candidate.clear();
                candidate.add(entries);
                view.validate(partition, candidate);
                return candidate.isValid(0);
            }

            @Override
            public boolean next() {
                boolean found = entries.next();
                while (found && !isValid()) {
                    found = entries.next();
                }
                return found;
            }

            @Override
            public boolean previous() {
                boolean found = entries.previous();
                while (found && !isValid()) {
                    found = entries.previous();
                }
                return found;
            }

            @Override
            public void seek(Slice key) {
                entries.seek(key);
            }

            @Override
            public void seekEnd() {
                entries.seekEnd();
            }

            @Override
            public Shown shown() {
                byte[] secondary = entries.secondaryKey().toByteArray();
                byte[] primary = entries.primaryKey().toByteArray();
                byte[] joined = Arrays.copyOf(secondary, secondary.length + primary.length);
                System.arraycopy(primary, 0, joined, secondary.length, primary.length);
                return new Shown(joined, null);
            }

            @Override
            public void close() {
                entries.close();
            }
        };
    }
}
