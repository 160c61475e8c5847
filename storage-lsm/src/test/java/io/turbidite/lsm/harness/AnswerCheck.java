package io.turbidite.lsm.harness;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.index.SpatialKeys;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FetchOptions.Pruning;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription.Kind;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.IndexSearch.Around;
import io.turbidite.core.scan.IndexSearch.Nearest;
import io.turbidite.core.scan.IndexSearch.Window;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.RowEntries.Entry;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;

import org.jspecify.annotations.Nullable;

import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * The answers that every strategy must give alike at a view: index-only (valid entries), through
 * the index to the records, and with a filter that lets components be skipped; ranges that the
 * view's timestamp picks.
 */
public final class AnswerCheck {
    /** Between two walks along all entries of an index where not everything is asked. */
    private static final int WHOLE_INTERVAL = 2;

    /** The same for one that has several times as many entries as others. */
    private static final int WHOLE_INVERTED_INTERVAL = 4;

    /** Windows, circles and neighbours. */
    private static final int SPATIAL_COUNT = 3;

    private final Dataset dataset;
    private final ReadView view;
    private final Collection<Row> rows;
    private final SplittableRandom random;
    private final RecordView record;
    private final RowEntries entries;

    private AnswerCheck(Dataset dataset, ReadView view, Collection<Row> rows, RowEntries entries) {
        this.dataset = dataset;
        this.view = view;
        this.rows = rows;
        this.random = new SplittableRandom(view.timestamp());
        this.record = new RecordView(dataset.type());
        this.entries = entries;
    }

    /** Compares what a view answers, asked in every way, with the rows that it should know. */
    public static void run(Dataset dataset, ReadView view, Map<Long, Row> rows) {
        run(dataset, Inside.schema(dataset), view, rows, new RowEntries(), Questions.ALL);
    }

    /** How much is asked. */
    enum Questions {
        /** Everything of each index. */
        ALL,
        /** Of each index one thing or two, by turns. */
        SOME
    }

    /**
     * Compares what a view answers with the rows that it should know.
     *
     * @param schema as it was when the view was opened
     */
    static void run(
            Dataset dataset,
            DatasetSchema schema,
            ReadView view,
            Map<Long, Row> rows,
            RowEntries entries,
            Questions questions) {
        AnswerCheck check = new AnswerCheck(dataset, view, rows.values(), entries);
        FilterPredicate filter = FilterPredicate.none();
        Range created = new Range(null, null);
        if (!dataset.filterFields().isEmpty() && check.random.nextBoolean()) {
            created = check.range();
            filter = created.filter(dataset);
            check.count();
        }
        if (!filter.isNone() || dataset.filterFields().isEmpty()) {
            ScanCheck scans = new ScanCheck(dataset, view, rows.values(), check.random);
            scans.run(filter, created::holds, "created in " + created);
        }
        boolean isAll = questions == Questions.ALL;
        for (IndexSchema index : schema.indexes()) {
            if (index.isReady()) {
                check.ask(index, created, filter, isAll);
            }
        }
    }

    private void ask(IndexSchema index, Range created, FilterPredicate filter, boolean isAll) {
        int interval = index.kind() == Kind.INVERTED ? WHOLE_INVERTED_INTERVAL : WHOLE_INTERVAL;
        if (isAll || random.nextInt(interval) == 0) {
            search(index, created, filter);
        }
        int turn = random.nextInt(SPATIAL_COUNT);
        if (isAll || turn == 0) {
            window(index, created, filter);
        }
        if (isAll || turn == 1) {
            around(index, created, filter);
        }
        if (isAll || turn == 2) {
            nearest(index, created, filter);
        }
        if (index.kind() == Kind.INVERTED) {
            terms(index, created, filter);
        }
        if (index.hasRegion() && !rows.isEmpty()) {
            newest(index);
        }
    }

    /** The entries of one secondary key, newest first: those of the rows, each once. */
    private void newest(IndexSchema index) {
        List<Row> all = List.copyOf(rows);
        byte[] of =
                entries(index, all.get(random.nextInt(all.size()))).getFirst().key();
        byte[] wanted = Arrays.copyOf(of, index.entryKeys().secondaryBytes(Slice.of(of)));
        Set<Entry> expected = new HashSet<>();
        for (Row row : all) {
            for (Entry entry : entries(index, row)) {
                if (Arrays.mismatch(entry.key(), wanted) == wanted.length) {
                    expected.add(entry);
                }
            }
        }
        Set<Entry> found = new HashSet<>();
        try {
            for (int p = 0; p < view.partitionCount(); p++) {
                newestFirst(index, p, wanted, found);
            }
        } catch (InvalidRequestException gone) {
            assertThat(Inside.schema(dataset).index(index.id()))
                    .as(gone.getMessage())
                    .isNull();
            return;
        }
        assertThat(found).as("%s, newest first", index).isEqualTo(expected);
    }

    private void newestFirst(IndexSchema index, int partition, byte[] wanted, Set<Entry> found) {
        IndexSearch search = IndexSearch.Newest.of(wanted);
        FilterPredicate none = FilterPredicate.none();
        int first = 1 + random.nextInt(20);
        long before = Long.MAX_VALUE;
        byte[] keyBefore = new byte[0];
        try (ValidSearch entries =
                ValidSearch.open(view, partition, index.describe(), search, none, first)) {
            while (entries.next()) {
                byte[] key = entries.primaryKey().toByteArray();
                boolean isInOrder = entries.timestamp() < before
                        || (entries.timestamp() == before
                                && Arrays.compareUnsigned(key, keyBefore) > 0);
                assertThat(isInOrder).as("%s, newest first", index).isTrue();
                before = entries.timestamp();
                keyBefore = key;
                assertThat(found.add(new Entry(entries.secondaryKey().toByteArray(), key)))
                        .as("an entry once")
                        .isTrue();
            }
        }
    }

    /** Values of the filter field, both ends included. */
    private record Range(@Nullable Instant from, @Nullable Instant to) {
        boolean holds(Row row) {
            Instant created = row.created();
            return from == null
                    || (created != null
                            && !created.isBefore(from)
                            && !created.isAfter(Objects.requireNonNull(to)));
        }

        FilterPredicate filter(Dataset dataset) {
            KeySpec spec = KeySpec.of(dataset.type(), List.of("created"), "test");
            return new FilterPredicate(List.of(KeyRange.between(
                    spec.encode(Objects.requireNonNull(from)),
                    true,
                    spec.encode(Objects.requireNonNull(to)),
                    true)));
        }
    }

    private Range range() {
        long from = random.nextInt(1_000_000);
        long span = 1L << random.nextInt(20);
        return new Range(Instant.ofEpochSecond(from), Instant.ofEpochSecond(from + span));
    }

    private void count() {
        view.countRecords(() -> {}).ifPresent(count -> assertThat(count).isEqualTo(rows.size()));
    }

    private void search(IndexSchema index, Range created, FilterPredicate filter) {
        // what is outside the filter may come
        Set<Entry> all = new HashSet<>();
        Set<Entry> expected = new HashSet<>();
        addEntries(index, created, row -> true, all, expected);
        Set<Entry> valid = new HashSet<>();
        Set<Entry> fetched = new HashSet<>();
        try {
            for (int p = 0; p < view.partitionCount(); p++) {
                indexOnly(index, p, KeyRange.all(), filter, valid);
                throughIndex(index, p, filter, fetched);
            }
        } catch (InvalidRequestException gone) {
            assertThat(Inside.schema(dataset).index(index.id()))
                    .as(gone.getMessage())
                    .isNull();
            return;
        }
        assertHolds(all, valid, "%s, index-only", index);
        assertHolds(valid, expected, "%s, index-only", index);
        assertHolds(all, fetched, "%s, records", index);
        assertHolds(fetched, expected, "%s, records", index);
    }

    private void addEntries(
            IndexSchema index,
            Range created,
            Predicate<Row> isFound,
            Set<Entry> all,
            Set<Entry> expected) {
        for (Row row : rows) {
            if (isFound.test(row)) {
                List<Entry> entries = entries(index, row);
                all.addAll(entries);
                if (created.holds(row)) {
                    expected.addAll(entries);
                }
            }
        }
    }

    /** What plain comparisons find in a window is what the R-tree finds, valid entries alone. */
    private void window(IndexSchema index, Range created, FilterPredicate filter) {
        if (!(index.entryKeys() instanceof SpatialKeys spatial)) {
            return;
        }
        Window window = new Window(spatial.kind(), bounds());
        spatial(
                index,
                window,
                created,
                filter,
                row -> isInside(row, spatial.kind(), window.bounds()));
    }

    /** The same for the values within a distance. */
    private void around(IndexSchema index, Range created, FilterPredicate filter) {
        if (!(index.entryKeys() instanceof SpatialKeys spatial)) {
            return;
        }
        double x = random.nextInt(-20, 27) * 1.25;
        double y = random.nextInt(-50, 51) * 0.7;
        double radius = random.nextInt(8) == 0 ? 1e9 : 1.25 * (1 + random.nextInt(20));
        Around around = new Around(spatial.kind(), new Circle(Metric.PLANE, x, y, radius));
        spatial(
                index,
                around,
                created,
                filter,
                row -> distance(row, spatial.kind(), x, y) <= radius);
    }

    /** All values, nearest first. */
    private void nearest(IndexSchema index, Range created, FilterPredicate filter) {
        if (!(index.entryKeys() instanceof SpatialKeys spatial)) {
            return;
        }
        double x = random.nextInt(-20, 27) * 1.25;
        double y = random.nextInt(-50, 51) * 0.7;
        Nearest nearest = new Nearest(spatial.kind(), new Place(Metric.PLANE, x, y));
        spatial(
                index,
                nearest,
                created,
                filter,
                row -> distance(row, spatial.kind(), x, y) < Double.POSITIVE_INFINITY);
        try {
            for (int p = 0; p < view.partitionCount(); p++) {
                nearestFirst(index, p, nearest, filter);
            }
        } catch (InvalidRequestException gone) {
            assertThat(Inside.schema(dataset).index(index.id()))
                    .as(gone.getMessage())
                    .isNull();
        }
    }

    private void nearestFirst(
            IndexSchema index, int partition, Nearest nearest, FilterPredicate filter) {
        double before = 0;
        byte[] keyBefore = new byte[0];
        Box box = new Box();
        try (IndexCursor entries = view.search(partition, index.name(), nearest, filter)) {
            while (entries.next()) {
                nearest.kind().decode(entries.secondaryKey(), 0, box);
                double distance = entries.distance();
                assertThat(distance).isEqualTo(nearest.place().distance(box));
                byte[] key = new ByteSink(64, 1 << 20)
                        .putBytes(entries.secondaryKey())
                        .putBytes(entries.primaryKey())
                        .asSlice(new Slice())
                        .toByteArray();
                boolean isInOrder = distance > before
                        || (distance == before && Arrays.compareUnsigned(key, keyBefore) > 0);
                assertThat(isInOrder)
                        .as("%s: %s behind %s", index, distance, before)
                        .isTrue();
                before = distance;
                keyBefore = key;
            }
        }
    }

    /** Infinite if the row has no such value. */
    private static double distance(Row row, SpatialKind kind, double x, double y) {
        Point place = row.place();
        Rectangle area = kind == SpatialKind.RECTANGLE
                ? row.area()
                : place == null ? null : new Rectangle(place.x(), place.y(), place.x(), place.y());
        if (area == null) {
            return Double.POSITIVE_INFINITY;
        }
        double dx = Math.max(0, Math.max(area.minX() - x, x - area.maxX()));
        double dy = Math.max(0, Math.max(area.minY() - y, y - area.maxY()));
        return Math.sqrt(dx * dx + dy * dy);
    }

    private void spatial(
            IndexSchema index,
            IndexSearch search,
            Range created,
            FilterPredicate filter,
            Predicate<Row> isFound) {
        Set<Entry> all = new HashSet<>();
        Set<Entry> expected = new HashSet<>();
        addEntries(index, created, isFound, all, expected);
        Set<Entry> valid = new HashSet<>();
        try {
            for (int p = 0; p < view.partitionCount(); p++) {
                indexOnly(index, p, search, filter, valid);
            }
        } catch (InvalidRequestException gone) {
            assertThat(Inside.schema(dataset).index(index.id()))
                    .as(gone.getMessage())
                    .isNull();
            return;
        }
        assertHolds(all, valid, "%s, " + search, index);
        assertHolds(valid, expected, "%s, " + search, index);
        assertThat(view.estimateSearch(index.name(), search, filter)).isNotNegative();
    }

    private Rectangle bounds() {
        double x = random.nextInt(-20, 27) * 1.25;
        double y = random.nextInt(-50, 51) * 0.7;
        double width = random.nextInt(3) * 1.25 * random.nextInt(8);
        double height = random.nextInt(3) * 0.7 * random.nextInt(20);
        return switch (random.nextInt(8)) {
            case 0 -> new Rectangle(-1e9, -1e9, 1e9, 1e9);
            case 1 -> new Rectangle(50, -100, 1e8, 100);
            default -> new Rectangle(x, y, x + width, y + height);
        };
    }

    private static boolean isInside(Row row, SpatialKind kind, Rectangle window) {
        if (kind == SpatialKind.POINT) {
            Point place = row.place();
            return place != null
                    && window.minX() <= place.x()
                    && place.x() <= window.maxX()
                    && window.minY() <= place.y()
                    && place.y() <= window.maxY();
        }
        Rectangle area = row.area();
        return area != null
                && window.minX() <= area.maxX()
                && area.minX() <= window.maxX()
                && window.minY() <= area.maxY()
                && area.minY() <= window.maxY();
    }

    /** By some words or all of them, against texts that are looked through. */
    private void terms(IndexSchema index, Range created, FilterPredicate filter) {
        List<String> terms = Texts.terms(random);
        int least = 1 + random.nextInt((int) terms.stream().distinct().count());
        Set<Long> expected = new TreeSet<>();
        Set<Long> all = new TreeSet<>();
        for (Row row : rows) {
            // what is cut is alike for the index, and told apart by the record
            if (Texts.commonCount(terms, row.body()) >= least) {
                all.add(row.id());
                if (created.holds(row)) {
                    expected.add(row.id());
                }
            }
        }
        Set<Long> valid = new TreeSet<>();
        try {
            for (int p = 0; p < view.partitionCount(); p++) {
                collect(index, p, new TermSearch(terms, least), filter, valid);
            }
        } catch (InvalidRequestException gone) {
            assertThat(Inside.schema(dataset).index(index.id()))
                    .as(gone.getMessage())
                    .isNull();
            return;
        }
        assertThat(all).as("%s by %d of %s", index.name(), least, terms).containsAll(valid);
        assertThat(valid).as("%s by %d of %s", index.name(), least, terms).containsAll(expected);
    }

    /** Also backwards, and from the first again. */
    private void collect(
            IndexSchema index,
            int partition,
            TermSearch search,
            FilterPredicate filter,
            Set<Long> found) {
        byte[] last = {};
        try (ValidSearch entries =
                ValidSearch.open(view, partition, index.describe(), search, filter)) {
            while (entries.next()) {
                byte[] key = entries.primaryKey().toByteArray();
                assertThat(Arrays.compareUnsigned(last, key))
                        .as("in order, once")
                        .isNegative();
                last = key;
                found.add((Long) Objects.requireNonNull(
                        dataset.primaryKeySpec().decode(Slice.of(key), 0).getFirst()));
            }
        }
        List<Slice> candidates = new ArrayList<>();
        try (IndexCursor cursor = view.search(partition, index.name(), search, filter)) {
            while (cursor.next()) {
                candidates.add(Slice.of(cursor.primaryKey().toByteArray()));
            }
            for (Slice candidate : candidates.reversed()) {
                assertThat(cursor.previous()).isTrue();
                assertThat(cursor.primaryKey().contentEquals(candidate)).isTrue();
            }
            assertThat(cursor.previous()).isFalse();
            for (Slice candidate : candidates) {
                assertThat(cursor.next()).isTrue();
                assertThat(cursor.primaryKey().contentEquals(candidate)).isTrue();
            }
            if (!candidates.isEmpty()) {
                int at = random.nextInt(candidates.size());
                byte[] term = cursor.secondaryKey().toByteArray();
                ByteSink key = new ByteSink(64, 1 << 20);
                cursor.seek(key.putBytes(term).putBytes(candidates.get(at)).asSlice(new Slice()));
                boolean isFirst = !cursor.previous();
                assertThat(isFirst).isEqualTo(at == 0);
                cursor.seek(key.asSlice(new Slice()));
                assertThat(cursor.next()).isTrue();
                assertThat(cursor.primaryKey().contentEquals(candidates.get(at)))
                        .isTrue();
                cursor.seekEnd();
                assertThat(cursor.next()).isFalse();
                assertThat(cursor.previous()).isTrue();
                assertThat(cursor.primaryKey().contentEquals(candidates.getLast()))
                        .isTrue();
            }
        }
    }

    /** Not by AssertJ, which compares each with each. */
    private static void assertHolds(
            Set<Entry> all, Set<Entry> some, String what, IndexSchema index) {
        if (!all.containsAll(some)) {
            Set<Entry> missing = new TreeSet<>(some);
            missing.removeAll(all);
            throw new AssertionError(what.formatted(index.name()) + ": without " + missing);
        }
    }

    private void indexOnly(
            IndexSchema index,
            int partition,
            IndexSearch search,
            FilterPredicate filter,
            Set<Entry> found) {
        try (ValidSearch entries =
                ValidSearch.open(view, partition, index.describe(), search, filter)) {
            while (entries.next()) {
                boolean isNew = found.add(new Entry(
                        entries.secondaryKey().toByteArray(),
                        entries.primaryKey().toByteArray()));
                assertThat(isNew).as("an entry once").isTrue();
            }
        }
    }

    /** Direct validation: the record has the entry's secondary key. */
    private void throughIndex(
            IndexSchema index, int partition, FilterPredicate filter, Set<Entry> found) {
        KeyBatch keys = new KeyBatch(1 << 20);
        List<Entry> candidates = new ArrayList<>();
        try (var entries = view.search(partition, index.name(), KeyRange.all(), filter)) {
            while (entries.next()) {
                keys.add(entries.primaryKey(), entries.timestamp(), entries.checkedUntil());
                candidates.add(new Entry(
                        entries.secondaryKey().toByteArray(),
                        entries.primaryKey().toByteArray()));
            }
        }
        keys.sortDistinct();
        Set<Entry> current = new HashSet<>();
        // as queries do: where an index has an entry for each version, timestamps tell where to
        // look
        FetchOptions options = FetchOptions.defaults()
                .withPruning(index.describe().alwaysValid() ? Pruning.NONE : Pruning.CHECKED);
        try (RecordStream records = view.fetch(partition, keys, options)) {
            while (records.next()) {
                current.addAll(entries(index, row(records.record())));
            }
        }
        for (Entry candidate : candidates) {
            if (current.contains(candidate)) {
                found.add(candidate);
            }
        }
        if (index.describe().alwaysValid() && filter.isNone()) {
            assertThat(current)
                    .as("%s has no obsolete entry", index.name())
                    .hasSize(candidates.size());
        }
    }

    private Row row(Slice encoded) {
        return Row.of(record.wrap(encoded).toMap());
    }

    private List<Entry> entries(IndexSchema index, Row row) {
        return entries.of(dataset, index.entryKeys(), row);
    }
}
