package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyBatch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordCursor;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.MemoryLayer;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;

/**
 * Several filters, on a number, a point and a rectangle, under every strategy: scans, fetches and
 * searches of every kind of index give exactly the records inside, for ranges with strict bounds,
 * windows and null, now and at snapshots (design §4 rule 2).
 */
class FilterModelTest {
    private static final int HISTORIES = Tier.count(1, 3, 100);
    private static final int STEPS = Tier.count(100, 200, 400);
    private static final int KEYS = 8;
    private static final List<String> POLICIES =
            List.of("no-merge", "correlated-no-merge", "correlated-tiering", "tiering");

    private static DatasetSpec spec(Maintenance maintenance, MergePolicySpec policy) {
        return DatasetSpec.named("T")
                .field("id", "int64")
                .field("n", "int32?")
                .field("place", "point?")
                .field("area", "rectangle?")
                .field("text", "string?")
                .primaryKey("id")
                .filter("n", "place", "area")
                .maintenance(maintenance)
                .mergePolicy(policy);
    }

    @Test
    void what_is_inside_filters_comes_out_under_every_strategy() {
        long seed = Seeds.of("FilterModelTest");
        int histories = Seeds.isReplay() ? 1 : HISTORIES;
        Map<String, LayerWork> layers = new TreeMap<>();
        for (int i = 0; i < histories; i++) {
            long historySeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i);
            for (Maintenance maintenance : Maintenance.values()) {
                for (String policy : POLICIES) {
                    MergePolicySpec spec = MergePolicySpec.parse(policy);
                    boolean correlated = maintenance == Maintenance.MUTABLE_BITMAP
                            || maintenance == Maintenance.DEFERRED;
                    if (correlated && !spec.isCorrelated()) {
                        continue;
                    }
                    String what = maintenance.label() + " under " + policy;
                    try (Run run = new Run(
                            historySeed, maintenance, spec, POLICIES.indexOf(policy) % 2 == 1)) {
                        run.go();
                        layers.merge(maintenance.label(), run.considered, LayerWork::plus);
                    } catch (Throwable failure) {
                        throw new AssertionError(
                                what + ": " + Seeds.replay("FilterModelTest", historySeed),
                                failure);
                    }
                }
            }
        }
        // a filter that never prunes would pass all of this
        if (!Seeds.isReplay()) {
            layers.forEach((strategy, work) -> {
                assertThat(work.ruledOut()).as(strategy).hasSize(3).allMatch(count -> count > 20);
                assertThat(work.ruledOutCount()).as(strategy).isLessThan(work.layerCount());
            });
        }
    }

    /** Planted: a write that replaces a record widens the filter by the new one alone. */
    @Test
    void a_filter_that_prunes_what_hides_is_found() {
        try (Run run = new Run(1, Maintenance.EAGER, MergePolicySpec.parse("no-merge"), true)) {
            run.put(1, new Row(1, new Point(1, 1), null, "a"));
            run.dataset.flush();
            run.checkMany();
            Row hiding = new Row(9, new Point(9, 9), null, "a");
            MemoryLayer layer = Inside.partitions(run.dataset).getFirst().currentLayer();
            byte[] nine = KeySpec.of(run.dataset.type(), List.of("n"), "test").encode(9);
            layer.widenFilter(0, Slice.of(nine));
            byte[] place = KeySpec.of(run.dataset.type(), List.of("place"), "test")
                    .encode(new Point(9, 9));
            layer.widenFilter(1, Slice.of(place));
            layer.widenFilterByAbsent(2);
            Slice key = Slice.of(run.dataset.primaryKeySpec().encode(1L));
            try (ReadView view = run.dataset.openView()) {
                layer.tree(TreeId.PRIMARY)
                        .put(
                                key,
                                view.timestamp(),
                                false,
                                run.dataset.newRecordWriter().write(hiding.fields(1)));
            }
            run.rows.put(1L, hiding);
            assertThatThrownBy(run::checkMany).isInstanceOf(AssertionError.class);
        }
    }

    /** Planted: a layer is not widened by what came in. */
    @Test
    void verify_finds_a_filter_that_does_not_hold_its_records() {
        try (Run run =
                new Run(1, Maintenance.VALIDATION, MergePolicySpec.parse("no-merge"), false)) {
            run.put(1, new Row(1, new Point(1, 1), null, "a"));
            run.dataset.flush();
            assertThat(run.sim.store.verify().errors()).isEmpty();
            run.put(2, new Row(1, new Point(1, 1), null, "a"));
            Row unseen = new Row(1, new Point(1, 7), null, "a");
            try (ReadView view = run.dataset.openView()) {
                Inside.partitions(run.dataset)
                        .getFirst()
                        .currentLayer()
                        .tree(TreeId.PRIMARY)
                        .put(
                                Slice.of(run.dataset.primaryKeySpec().encode(3L)),
                                view.timestamp(),
                                false,
                                run.dataset.newRecordWriter().write(unseen.fields(3)));
            }
            run.dataset.flush();
            assertThat(run.sim.store.verify().errors())
                    .anySatisfy(error -> assertThat(error).contains("the filter on place"));
        }
    }

    /** A record, but for its key. */
    private record Row(
            @Nullable Integer n,
            @Nullable Point place,
            @Nullable Rectangle area,
            @Nullable String text) {
        Map<String, @Nullable Object> fields(long id) {
            Map<String, @Nullable Object> fields = new HashMap<>();
            fields.put("id", id);
            fields.put("n", n);
            fields.put("place", place);
            fields.put("area", area);
            fields.put("text", text);
            return fields;
        }
    }

    /** What is asked, for the store and for a loop over maps. */
    private record Asked(FilterPredicate filter, Predicate<Row> test) {}

    /** A snapshot, and what it must show. */
    private record Kept(Snapshot snapshot, Map<Long, Row> rows) {}

    /** One history of one store: indexes of each kind, maintained in ways that go together. */
    private static final class Run implements AutoCloseable {
        private final SplittableRandom random;
        private final SimStore sim;
        private final Dataset dataset;
        private final RecordView view;
        private final Map<Long, Row> rows = new TreeMap<>();
        private final List<Kept> kept = new ArrayList<>();
        private LayerWork considered = LayerWork.NONE;

        /**
         * @param readsOld whether there is an eager index, so that writers read the old record and
         *     widen filters by it, whatever the dataset's strategy asks for
         */
        Run(long seed, Maintenance maintenance, MergePolicySpec policy, boolean readsOld) {
            random = new SplittableRandom(seed);
            sim = SimStore.open(
                    new SimDisk(seed, Profile.STRICT), seed, SimStore.options(Durability.SYNC));
            DatasetSpec spec = spec(maintenance, policy);
            for (Maintenance of : Maintenance.values()) {
                boolean byBitmap = maintenance == Maintenance.MUTABLE_BITMAP;
                boolean fits = of != Maintenance.MUTABLE_BITMAP
                        && (readsOld || of != Maintenance.EAGER)
                        && !(byBitmap && of == Maintenance.EAGER)
                        && !(of == Maintenance.DEFERRED && (byBitmap || !policy.isCorrelated()));
                if (fits) {
                    spec.index(index(of).withMaintenance(of));
                }
            }
            dataset = sim.store.createDataset(spec);
            view = new RecordView(dataset.type());
        }

        /** Over many histories each kind meets each strategy. */
        private IndexSpec index(Maintenance of) {
            String name = "by_" + of.name().toLowerCase(java.util.Locale.ROOT);
            return switch (random.nextInt(4)) {
                case 0 -> IndexSpec.btree(name, "n");
                case 1 -> IndexSpec.rtree(name, "place");
                case 2 -> IndexSpec.rtree(name, "area");
                default -> IndexSpec.inverted(name, "text");
            };
        }

        void go() {
            for (int step = 0; step < STEPS; step++) {
                long id = random.nextInt(KEYS);
                switch (random.nextInt(14)) {
                    case 0 -> delete(id);
                    case 1, 2, 3 -> dataset.flush();
                    case 4 -> snapshot();
                    case 5 -> {
                        if (random.nextInt(4) == 0) {
                            dataset.mergeAll();
                        } else {
                            sim.tasks.runUntilIdle();
                        }
                    }
                    case 6 -> checkAll();
                    case 7 -> deleteAndPut(id);
                    default -> put(id, changed(rows.get(id)));
                }
            }
            checkAll();
            assertThat(sim.store.verify().errors()).isEmpty();
        }

        void put(long id, Row row) {
            rows.put(id, row);
            Map<String, @Nullable Object> fields = row.fields(id);
            if (random.nextBoolean()) {
                fields.values().removeIf(java.util.Objects::isNull);
            }
            dataset.upsert(fields);
        }

        private void delete(long id) {
            rows.remove(id);
            dataset.delete(id);
        }

        private void deleteAndPut(long id) {
            Row row = changed(null);
            WriteBatch batch = sim.store.newBatch();
            RecordWriter writer = dataset.newRecordWriter();
            batch.delete(dataset, Slice.of(dataset.primaryKeySpec().encode(id)));
            batch.upsert(dataset, writer.write(row.fields(id)));
            sim.store.write(batch);
            rows.put(id, row);
        }

        private Row changed(@Nullable Row old) {
            return new Row(
                    old != null && random.nextInt(3) == 0 ? old.n : orNull(random.nextInt(6)),
                    old != null && random.nextInt(3) == 0 ? old.place : orNull(place()),
                    old != null && random.nextInt(3) == 0 ? old.area : orNull(area()),
                    old != null && random.nextInt(3) == 0 ? old.text : orNull(text()));
        }

        private <T> @Nullable T orNull(T value) {
            return random.nextInt(5) == 0 ? null : value;
        }

        private double coordinate() {
            return random.nextInt(-3, 4);
        }

        private Point place() {
            return new Point(coordinate(), coordinate());
        }

        private Rectangle area() {
            double x = coordinate();
            double y = coordinate();
            return new Rectangle(x, y, x + random.nextInt(3), y + random.nextInt(3));
        }

        private String text() {
            return "a b c".substring(0, 1 + 2 * random.nextInt(3));
        }

        private void snapshot() {
            if (kept.size() == 2) {
                kept.remove(random.nextInt(2)).snapshot.close();
            }
            kept.add(new Kept(sim.store.openSnapshot(), new TreeMap<>(rows)));
        }

        private void checkAll() {
            try (ReadView now = dataset.openView()) {
                check(now, rows);
            }
            for (Kept one : kept) {
                try (ReadView then = one.snapshot.view(dataset)) {
                    check(then, one.rows);
                }
            }
        }

        void checkMany() {
            for (int i = 0; i < 40; i++) {
                checkAll();
            }
        }

        private void check(ReadView now, Map<Long, Row> expected) {
            Asked asked = asked();
            TreeMap<Long, Row> inside = new TreeMap<>(expected);
            inside.values().removeIf(asked.test.negate());
            try (RecordCursor scan = now.scan(0, KeyRange.all(), asked.filter)) {
                TreeMap<Long, Row> forwards = new TreeMap<>();
                while (scan.next()) {
                    add(scan, asked, forwards);
                }
                assertThat(forwards).as("scan by %s", asked.filter).isEqualTo(inside);
                TreeMap<Long, Row> backwards = new TreeMap<>();
                while (scan.previous()) {
                    add(scan, asked, backwards);
                }
                assertThat(backwards).as("scan back by %s", asked.filter).isEqualTo(inside);
                considered = considered.plus(scan.layers());
            }
            try (RecordStream scan = now.scanUnordered(0, KeyRange.all(), asked.filter)) {
                assertThat(read(scan, asked)).as("scan in no order").isEqualTo(inside);
            }
            KeyBatch keys = new KeyBatch(1 << 16);
            for (long id = 0; id < KEYS; id++) {
                keys.add(Slice.of(dataset.primaryKeySpec().encode(id)));
            }
            keys.sortDistinct();
            fetch(now, keys, asked, FetchOptions.Pruning.NONE, inside);
            for (IndexDescription index : now.indexes()) {
                checkIndex(now, index, asked, inside, expected);
            }
        }

        private void fetch(
                ReadView now,
                KeyBatch keys,
                Asked asked,
                FetchOptions.Pruning pruning,
                Map<Long, Row> inside) {
            FetchOptions options =
                    FetchOptions.defaults().withFilter(asked.filter).withPruning(pruning);
            try (RecordStream records = now.fetch(0, keys, options)) {
                assertThat(read(records, asked))
                        .as("fetch by %s, %s", asked.filter, pruning)
                        .isEqualTo(inside);
            }
        }

        /** Candidates and their records, checked again; and entries alone. */
        private void checkIndex(
                ReadView now,
                IndexDescription index,
                Asked asked,
                Map<Long, Row> inside,
                Map<Long, Row> all) {
            IndexSearch search = search(index);
            String field = index.fields().getFirst();
            TreeMap<Long, Row> expected = new TreeMap<>(inside);
            expected.values().removeIf(row -> !isFound(row, search, field));
            KeyBatch keys = new KeyBatch(1 << 16);
            try (IndexCursor found = now.search(0, index.name(), search, asked.filter)) {
                while (found.next()) {
                    keys.add(found.primaryKey(), found.timestamp(), found.checkedUntil());
                }
                considered = considered.plus(found.layers());
            }
            keys.sortDistinct();
            FetchOptions.Pruning pruning =
                    index.alwaysValid() ? FetchOptions.Pruning.NONE : FetchOptions.Pruning.CHECKED;
            Predicate<Row> both = row -> asked.test.test(row) && isFound(row, search, field);
            fetch(now, keys, new Asked(asked.filter, both), pruning, expected);
            TreeSet<Long> valid = new TreeSet<>();
            try (ValidSearch entries = ValidSearch.open(now, 0, index, search, asked.filter)) {
                while (entries.next()) {
                    valid.add((Long) dataset.primaryKeySpec()
                            .decode(entries.primaryKey(), 0)
                            .getFirst());
                }
            }
            assertThat(valid).as("entries of %s", index).containsAll(expected.keySet());
            assertThat(valid)
                    .as("current entries of %s", index)
                    .allMatch(id -> all.containsKey(id) && isFound(all.get(id), search, field));
        }

        private IndexSearch search(IndexDescription index) {
            return switch (index.kind()) {
                case INVERTED ->
                    new TermSearch(random.nextBoolean() ? List.of("b") : List.of("a", "c"));
                case RTREE ->
                    new IndexSearch.Window(
                            index.fields().getFirst().equals("place")
                                    ? SpatialKind.POINT
                                    : SpatialKind.RECTANGLE,
                            window());
                default -> KeyRange.all();
            };
        }

        private static boolean isFound(@Nullable Row row, IndexSearch search, String field) {
            if (row == null) {
                return false;
            }
            return switch (search) {
                case TermSearch terms ->
                    row.text != null && terms.terms().stream().allMatch(row.text::contains);
                case IndexSearch.Window(var kind, Rectangle window) ->
                    field.equals("place")
                            ? row.place != null
                                    && kind == SpatialKind.POINT
                                    && isIn(row.place, window)
                            : row.area != null && meets(row.area, window);
                default -> true;
            };
        }

        private static boolean isIn(Point place, Rectangle window) {
            return meets(new Rectangle(place.x(), place.y(), place.x(), place.y()), window);
        }

        private static boolean meets(Rectangle area, Rectangle window) {
            return area.minX() <= window.maxX()
                    && window.minX() <= area.maxX()
                    && area.minY() <= window.maxY()
                    && window.minY() <= area.maxY();
        }

        private Rectangle window() {
            return area();
        }

        /** On one field mostly, on two or three sometimes. */
        private Asked asked() {
            List<KeyRange> ranges =
                    new ArrayList<>(List.of(KeyRange.all(), KeyRange.all(), KeyRange.all()));
            List<FilterPredicate.Window> windows = new ArrayList<>();
            Predicate<Row> test = _ -> true;
            int on = 1 << random.nextInt(3);
            if (random.nextInt(3) == 0) {
                on |= random.nextInt(8);
            }
            if ((on & 1) != 0) {
                test = test.and(range(ranges));
            }
            if ((on & 2) != 0) {
                if (random.nextInt(5) == 0) {
                    ranges.set(1, isNull("place"));
                    test = test.and(row -> row.place == null);
                } else {
                    Rectangle window = window();
                    windows.add(new FilterPredicate.Window(1, SpatialKind.POINT, window));
                    test = test.and(row -> row.place != null && isIn(row.place, window));
                }
            }
            if ((on & 4) != 0) {
                for (int i = random.nextInt(2); i >= 0; i--) {
                    Rectangle window = window();
                    windows.add(new FilterPredicate.Window(2, SpatialKind.RECTANGLE, window));
                    test = test.and(row -> row.area != null && meets(row.area, window));
                }
            }
            return new Asked(new FilterPredicate(ranges, windows), test);
        }

        private KeyRange isNull(String field) {
            byte[] marker = KeySpec.of(dataset.type(), List.of(field), "test")
                    .encode(new @Nullable Object[] {null});
            return KeyRange.closed(marker, marker);
        }

        /** Null, open below (with null or without), or bounds that are in it or not. */
        private Predicate<Row> range(List<KeyRange> ranges) {
            KeySpec n = KeySpec.of(dataset.type(), List.of("n"), "test");
            int low = random.nextInt(6);
            int high = low + random.nextInt(3);
            byte[] marker = n.encode(new @Nullable Object[] {null});
            return switch (random.nextInt(6)) {
                case 0 -> {
                    ranges.set(0, isNull("n"));
                    yield row -> row.n == null;
                }
                case 1 -> {
                    ranges.set(0, KeyRange.between(null, false, n.encode(low), true));
                    yield row -> row.n == null || row.n <= low;
                }
                case 2 -> {
                    ranges.set(0, KeyRange.between(marker, false, n.encode(low), false));
                    yield row -> row.n != null && row.n < low;
                }
                case 3 -> {
                    ranges.set(0, KeyRange.between(n.encode(low), false, null, false));
                    yield row -> row.n != null && row.n > low;
                }
                default -> {
                    ranges.set(0, KeyRange.between(n.encode(low), true, n.encode(high), true));
                    yield row -> row.n != null && row.n >= low && row.n <= high;
                }
            };
        }

        private Map<Long, Row> read(RecordStream records, Asked asked) {
            TreeMap<Long, Row> found = new TreeMap<>();
            while (records.next()) {
                add(records, asked, found);
            }
            considered = considered.plus(records.layers());
            return found;
        }

        /** What passes the second look at its record, as in a query. */
        private void add(RecordStream record, Asked asked, Map<Long, Row> to) {
            Map<String, @Nullable Object> fields = view.wrap(record.record()).toMap();
            Row row = new Row(
                    (Integer) fields.get("n"),
                    (Point) fields.get("place"),
                    (Rectangle) fields.get("area"),
                    (String) fields.get("text"));
            if (asked.test.test(row)) {
                Object id = dataset.primaryKeySpec().decode(record.key(), 0).getFirst();
                assertThat(to.put((Long) id, row)).as("once").isNull();
            }
        }

        @Override
        public void close() {
            kept.forEach(one -> one.snapshot.close());
            sim.close();
        }
    }
}
