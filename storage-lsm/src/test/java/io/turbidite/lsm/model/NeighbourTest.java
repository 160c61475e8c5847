package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.LonLat;
import io.turbidite.core.geo.Metric;
import io.turbidite.core.geo.Place;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.IndexSearch.Around;
import io.turbidite.core.scan.IndexSearch.Nearest;
import io.turbidite.core.scan.IndexSearch.SphericWindow;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/** Neighbours, distances and windows on the sphere and at the edges, under all strategies. */
class NeighbourTest {
    private final SplittableRandom random = new SplittableRandom(Seeds.of("NeighbourTest"));

    private static DatasetSpec spec(int partitions) {
        return DatasetSpec.named("T")
                .field("id", "int64")
                .field("spot", "point(lonlat)?")
                .field("place", "point?")
                .field("area", "rectangle?")
                .primaryKey("id")
                .partitions(partitions)
                .index(IndexSpec.rtree("by_spot", "spot"))
                .index(IndexSpec.rtree("by_place", "place"));
    }

    private static Map<String, @Nullable Object> row(
            long id, String field, @Nullable Object value) {
        Map<String, @Nullable Object> row = new HashMap<>();
        row.put("id", id);
        row.put(field, value);
        return row;
    }

    private static SimStore open(SimDisk disk) {
        return SimStore.open(disk, 1, SimStore.options(Durability.SYNC));
    }

    private static IndexDescription description(ReadView view, String index) {
        return view.indexes().stream()
                .filter(there -> there.name().equals(index))
                .findFirst()
                .orElseThrow();
    }

    /** Ids of the valid entries of a partition, in the order in which they come. */
    private static List<Long> found(
            Dataset dataset, ReadView view, int partition, String index, IndexSearch search) {
        List<Long> found = new ArrayList<>();
        try (ValidSearch entries = ValidSearch.open(
                view, partition, description(view, index), search, FilterPredicate.none())) {
            while (entries.next()) {
                found.add(id(dataset, entries.primaryKey()));
            }
        }
        return found;
    }

    private static long id(Dataset dataset, Slice primaryKey) {
        return (Long) dataset.primaryKeySpec().decode(primaryKey, 0).getFirst();
    }

    private Point spot() {
        return new Point(
                random.nextInt(3) == 0 ? random.nextInt(-2, 3) * 90 : random.nextDouble(-180, 180),
                random.nextInt(3) == 0 ? random.nextInt(-2, 3) * 45 : random.nextDouble(-90, 90));
    }

    private static double metres(Point from, Point to) {
        return Metric.SPHERE.distance(
                from.x(), from.y(), new Box().set(to.x(), to.y(), to.x(), to.y()));
    }

    @ParameterizedTest
    @EnumSource
    void theSphereIsRoundUnderEveryStrategy(Maintenance maintenance) {
        boolean isCorrelated =
                maintenance == Maintenance.DEFERRED || maintenance == Maintenance.MUTABLE_BITMAP;
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Map<Long, Point> model = new TreeMap<>();
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.createDataset(spec(2).maintenance(maintenance)
                    .mergePolicy(MergePolicySpec.parse(
                            isCorrelated ? "correlated-no-merge" : "no-merge")));
            for (int round = 0; round < 6; round++) {
                for (int i = 0; i < 120; i++) {
                    long id = random.nextInt(200);
                    if (random.nextInt(6) == 0) {
                        dataset.delete(id);
                        model.remove(id);
                    } else {
                        Point spot = random.nextInt(8) == 0 ? null : spot();
                        dataset.upsert(row(id, "spot", spot));
                        model.remove(id);
                        if (spot != null) {
                            model.put(id, spot);
                        }
                    }
                }
                if (round % 2 == 0) {
                    dataset.flush();
                }
                if (round == 3) {
                    dataset.mergeAll();
                }
                try (Snapshot snapshot = sim.store.openSnapshot();
                        ReadView view = snapshot.view(dataset)) {
                    dataset.upsert(row(7, "spot", new Point(0, 0)));
                    check(dataset, view, model);
                }
                model.put(7L, new Point(0, 0));
            }
            sim.verify();
        }
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.dataset("T");
            assertThat(dataset.type().toString()).contains("spot: point(lonlat)?");
            try (ReadView view = dataset.openView()) {
                check(dataset, view, model);
            }
            sim.verify();
        }
    }

    private void check(Dataset dataset, ReadView view, Map<Long, Point> model) {
        for (int i = 0; i < 8; i++) {
            Point from = spot();
            double radius = 1 + random.nextDouble() * (i % 2 == 0 ? 2e6 : 2e7);
            TreeSet<Long> near = new TreeSet<>();
            TreeSet<Long> inside = new TreeSet<>();
            Point other = spot();
            double minY = Math.min(from.y(), other.y());
            double maxY = Math.max(from.y(), other.y());
            List<Rectangle> parts = LonLat.windows(from.x(), minY, other.x(), maxY);
            model.forEach((id, spot) -> {
                if (metres(from, spot) <= radius) {
                    near.add(id);
                }
                boolean isBetween = from.x() <= other.x()
                        ? isBetween(spot.x(), from.x(), other.x())
                                || (Math.abs(spot.x()) == 180
                                        && isBetween(-spot.x(), from.x(), other.x()))
                        : spot.x() >= from.x() || spot.x() <= other.x();
                if (isBetween && isBetween(spot.y(), minY, maxY)) {
                    inside.add(id);
                }
            });
            Circle circle = new Circle(Metric.SPHERE, from.x(), from.y(), radius);
            assertThat(all(dataset, view, new Around(SpatialKind.POINT, circle)))
                    .containsExactlyInAnyOrderElementsOf(near);
            assertThat(all(dataset, view, new SphericWindow(parts)))
                    .as("%s", parts)
                    .containsExactlyInAnyOrderElementsOf(inside);
            Nearest nearest =
                    new Nearest(SpatialKind.POINT, new Place(Metric.SPHERE, from.x(), from.y()));
            List<Double> merged = new ArrayList<>();
            for (int p = 0; p < view.partitionCount(); p++) {
                List<Double> distances = found(dataset, view, p, "by_spot", nearest).stream()
                        .map(id -> metres(from, model.getOrDefault(id, from)))
                        .toList();
                assertThat(distances).isSorted();
                merged.addAll(distances);
            }
            merged.sort(Comparator.naturalOrder());
            assertThat(merged)
                    .isEqualTo(model.values().stream()
                            .map(spot -> metres(from, spot))
                            .sorted()
                            .toList());
        }
    }

    private static boolean isBetween(double value, double low, double high) {
        return low <= value && value <= high;
    }

    private static List<Long> all(Dataset dataset, ReadView view, IndexSearch search) {
        List<Long> all = new ArrayList<>();
        for (int p = 0; p < view.partitionCount(); p++) {
            all.addAll(found(dataset, view, p, "by_spot", search));
        }
        return all;
    }

    /** Layers go and come while somebody reads; he goes on behind the last entry he saw. */
    @ParameterizedTest
    @EnumSource
    void aReaderGoesOnInAnotherVersion(Maintenance maintenance) {
        boolean isCorrelated =
                maintenance == Maintenance.DEFERRED || maintenance == Maintenance.MUTABLE_BITMAP;
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.createDataset(spec(1).maintenance(maintenance)
                    .mergePolicy(MergePolicySpec.parse(
                            isCorrelated ? "correlated-no-merge" : "no-merge")));
            for (long id = 0; id < 400; id++) {
                // many as far as others
                dataset.upsert(row(id, "place", new Point(id % 20, id % 7)));
                if (id == 150 || id == 300) {
                    dataset.flush();
                }
            }
            Nearest nearest = new Nearest(SpatialKind.POINT, new Place(Metric.PLANE, 9, 3));
            try (ReadView view = dataset.openView()) {
                List<Long> expected = found(dataset, view, 0, "by_place", nearest);
                assertThat(expected).hasSize(400);
                List<Long> seen = new ArrayList<>();
                try (IndexCursor cursor =
                        view.search(0, "by_place", nearest, FilterPredicate.none())) {
                    double before = 0;
                    while (cursor.next()) {
                        seen.add(id(dataset, cursor.primaryKey()));
                        assertThat(cursor.distance()).isGreaterThanOrEqualTo(before);
                        before = cursor.distance();
                        if (seen.size() % 37 == 0) {
                            dataset.upsert(row(seen.size(), "place", new Point(9, 3)));
                            dataset.flush();
                        }
                        if (seen.size() == 111) {
                            dataset.mergeAll();
                        }
                        if (seen.size() % 23 == 0) {
                            // what a view that idles does: its memory layers go
                            assertThat(cursor.next()).isTrue();
                            seen.add(id(dataset, cursor.primaryKey()));
                        }
                    }
                    assertThatThrownBy(cursor::previous)
                            .isInstanceOf(InvalidRequestException.class);
                }
                assertThat(seen).isEqualTo(expected);
            }
            sim.verify();
        }
    }

    /**
     * @param y where floats are exact boxes are points, and the first of them is enough; else each
     *     box seems to be a bit nearer than its entries
     */
    @ParameterizedTest
    @ValueSource(doubles = {48.5, 48.8})
    void aHundredThousandEqualPointsComeInTheOrderOfTheirKeys(double y) {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        int count = 100_000;
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.createDataset(spec(1));
            RecordWriter writer = dataset.newRecordWriter();
            try (BulkLoader loader = dataset.bulkLoad(count)) {
                for (long id = 0; id < count; id++) {
                    loader.add(writer.write(row(id, "place", new Point(2.5, y))));
                }
                loader.finish();
            }
            Nearest nearest = new Nearest(SpatialKind.POINT, new Place(Metric.PLANE, 2, 48));
            try (ReadView view = dataset.openView()) {
                try (IndexCursor cursor =
                        view.search(0, "by_place", nearest, FilterPredicate.none())) {
                    for (long id = 0; id < 10; id++) {
                        assertThat(cursor.next()).isTrue();
                        assertThat(id(dataset, cursor.primaryKey())).isEqualTo(id);
                    }
                    assertThat(cursor.work().entryCount())
                            .isLessThanOrEqualTo(y == 48.5 ? 100 : count);
                }
                assertThat(found(dataset, view, 0, "by_place", nearest)).hasSize(count);
            }
        }
    }

    @Test
    void whatIsOnNoSphereOrNoPlaneIsRefused() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.createDataset(spec(1));
            for (Point outside : new Point[] {new Point(180.1, 0), new Point(0, -90.1)}) {
                assertThatThrownBy(() -> dataset.upsert(row(1, "spot", outside)))
                        .isInstanceOf(InvalidRequestException.class)
                        .hasMessageContaining("no longitude");
            }
            dataset.upsert(row(1, "spot", new Point(-180, 90)));
            // bytes that no writer of ours made
            RecordWriter writer = dataset.newRecordWriter();
            Map<String, Object> values = Map.of(
                    "spot", new Point(11, 22),
                    "place", new Point(11, 22),
                    "area", new Rectangle(11, 22, 33, 44));
            double[] wrong = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 500};
            for (Map.Entry<String, Object> value : values.entrySet()) {
                for (double coordinate : wrong) {
                    byte[] record = writer.write(row(2, value.getKey(), value.getValue()))
                            .toByteArray();
                    int at = indexOf(record, 22);
                    putDouble(record, at, coordinate);
                    if (value.getKey().equals("place") && coordinate == 500) {
                        continue;
                    }
                    assertThatThrownBy(() -> dataset.upsertRecord(Slice.of(record)))
                            .as("%s of %s", coordinate, value.getKey())
                            .isInstanceOf(InvalidRequestException.class)
                            .hasMessageContaining("field '" + value.getKey() + "'");
                }
            }
            assertThat(dataset.get(2L)).isNull();
            sim.verify();
        }
    }

    private static int indexOf(byte[] record, double value) {
        for (int at = 0; at + 8 <= record.length; at++) {
            if (MemorySegment.ofArray(record).get(Bytes.I64, at)
                    == Double.doubleToRawLongBits(value)) {
                return at;
            }
        }
        throw new AssertionError("not there");
    }

    private static void putDouble(byte[] record, int at, double value) {
        MemorySegment.ofArray(record).set(Bytes.I64, at, Double.doubleToRawLongBits(value));
    }
}
