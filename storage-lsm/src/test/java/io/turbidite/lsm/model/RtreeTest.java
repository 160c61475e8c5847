package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch.Window;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.type.Point;
import io.turbidite.core.type.Rectangle;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/** What windows find at the edges: of the plane, of borders, of updates, of definitions. */
class RtreeTest {
    private static final Rectangle WORLD =
            new Rectangle(-Double.MAX_VALUE, -Double.MAX_VALUE, Double.MAX_VALUE, Double.MAX_VALUE);

    private static DatasetSpec spec() {
        return DatasetSpec.named("T")
                .field("id", "int64")
                .field("place", "point?")
                .field("area", "rectangle?")
                .field("name", "string?")
                .primaryKey("id")
                .partitions(2)
                .index(IndexSpec.rtree("by_place", "place"))
                .index(IndexSpec.rtree("by_area", "area"));
    }

    private static Map<String, @Nullable Object> row(long id, @Nullable Point place) {
        Map<String, @Nullable Object> row = new HashMap<>();
        row.put("id", id);
        row.put("place", place);
        return row;
    }

    private static SimStore open(SimDisk disk) {
        return SimStore.open(disk, 1, SimStore.options(Durability.SYNC));
    }

    private static Set<Long> inside(Dataset dataset, ReadView view, Rectangle window) {
        return inside(dataset, view, "by_place", new Window(SpatialKind.POINT, window));
    }

    private static Set<Long> inside(Dataset dataset, ReadView view, String index, Window window) {
        TreeSet<Long> found = new TreeSet<>();
        for (int p = 0; p < view.partitionCount(); p++) {
            try (ValidSearch entries = ValidSearch.open(
                    view, p, description(view, index), window, FilterPredicate.none())) {
                while (entries.next()) {
                    Object id = dataset.primaryKeySpec()
                            .decode(entries.primaryKey(), 0)
                            .getFirst();
                    assertThat(found.add((Long) id)).isTrue();
                }
            }
        }
        return found;
    }

    private static IndexDescription description(ReadView view, String index) {
        return view.indexes().stream()
                .filter(there -> there.name().equals(index))
                .findFirst()
                .orElseThrow();
    }

    private static Set<Long> inside(Dataset dataset, Rectangle window) {
        try (ReadView view = dataset.openView()) {
            return inside(dataset, view, window);
        }
    }

    @ParameterizedTest
    @EnumSource
    void pointsMoveGoAndComeBack(Maintenance maintenance) {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        Rectangle here = new Rectangle(0, 0, 1, 1);
        Rectangle there = new Rectangle(5, 5, 6, 6);
        boolean isCorrelated =
                maintenance == Maintenance.DEFERRED || maintenance == Maintenance.MUTABLE_BITMAP;
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.createDataset(spec().maintenance(maintenance)
                    .mergePolicy(MergePolicySpec.parse(
                            isCorrelated ? "correlated-no-merge" : "no-merge")));
            for (int round = 0; round < 3; round++) {
                for (long id = 0; id < 50; id++) {
                    dataset.upsert(row(id, new Point(0.5, 0.5)));
                }
                dataset.flush();
                assertThat(inside(dataset, here)).hasSize(50);
                try (Snapshot before = sim.store.openSnapshot()) {
                    WriteBatch batch = sim.store.newBatch();
                    RecordWriter writer = dataset.newRecordWriter();
                    for (long id = 0; id < 50; id++) {
                        byte[] key = dataset.primaryKeySpec().encode(id);
                        batch.delete(dataset, Slice.of(key));
                        batch.upsert(
                                dataset,
                                writer.write(row(id, id % 3 == 0 ? null : new Point(5.5, 5.5))));
                    }
                    sim.store.write(batch);
                    if (round > 0) {
                        dataset.flush();
                    }
                    assertThat(inside(dataset, here)).isEmpty();
                    assertThat(inside(dataset, there)).hasSize(33);
                    try (ReadView view = before.view(dataset)) {
                        assertThat(inside(dataset, view, here)).hasSize(50);
                        assertThat(inside(dataset, view, there)).isEmpty();
                    }
                }
                if (round == 1) {
                    dataset.mergeAll();
                    assertThat(inside(dataset, there)).hasSize(33);
                }
            }
            sim.verify();
        }
        try (SimStore sim = open(disk)) {
            assertThat(inside(sim.store.dataset("T"), WORLD)).hasSize(33);
            sim.verify();
        }
    }

    @Test
    void bordersBelongToWindowsAndAreasAndTheZerosAreOne() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.createDataset(spec());
            double[] edges = {0.0, -0.0, 512, -512, Double.MIN_VALUE, -1e300, Double.MAX_VALUE};
            for (int i = 0; i < edges.length; i++) {
                Map<String, @Nullable Object> row = row(i, new Point(edges[i], 0));
                double right = Math.min(Double.MAX_VALUE, edges[i] + 1);
                row.put("area", new Rectangle(edges[i], 0, right, 1));
                dataset.upsert(row);
            }
            for (int flushed = 0; flushed < 2; flushed++) {
                assertThat(inside(dataset, WORLD)).hasSize(7);
                assertThat(inside(dataset, new Rectangle(0, 0, 0, 0))).containsExactly(0L, 1L);
                assertThat(inside(dataset, new Rectangle(0, -0.0, Double.MIN_VALUE, 0)))
                        .containsExactly(0L, 1L, 4L);
                assertThat(inside(dataset, new Rectangle(512, 0, 600, 0))).containsExactly(2L);
                assertThat(inside(dataset, new Rectangle(Math.nextUp(512.0), 0, 600, 0)))
                        .isEmpty();
                assertThat(inside(dataset, new Rectangle(1e300, 0, Double.MAX_VALUE, 0)))
                        .containsExactly(6L);
                try (ReadView view = dataset.openView()) {
                    Window meets = new Window(SpatialKind.RECTANGLE, new Rectangle(513, 1, 513, 9));
                    assertThat(inside(dataset, view, "by_area", meets)).containsExactly(2L);
                    Window all = new Window(SpatialKind.RECTANGLE, WORLD);
                    assertThat(inside(dataset, view, "by_area", all)).hasSize(7);
                }
                dataset.flush();
            }
            sim.verify();
        }
    }

    @Test
    void manyEqualPointsAreAllFound() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        int count = 20_000;
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.createDataset(spec());
            RecordWriter writer = dataset.newRecordWriter();
            try (BulkLoader loader = dataset.bulkLoad(count)) {
                for (long id = 0; id < count; id++) {
                    loader.add(writer.write(row(id, new Point(2.5, 48.8))));
                }
                loader.finish();
            }
            assertThat(inside(dataset, new Rectangle(2.5, 48.8, 2.5, 48.8))).hasSize(count);
            assertThat(inside(dataset, new Rectangle(2, 48, 2.4, 49))).isEmpty();
            sim.verify();
        }
    }

    @Test
    void anIndexThatComesLaterHasWhatIsThere() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (SimStore sim = open(disk)) {
            Dataset dataset = sim.store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("place", "point?")
                    .primaryKey("id"));
            for (long id = 0; id < 100; id++) {
                dataset.upsert(row(id, id % 10 == 0 ? null : new Point(id, -id)));
            }
            dataset.flush();
            dataset.upsert(row(7, new Point(1_000, 1_000)));
            dataset.createIndex(IndexSpec.rtree("by_place", "place"));
            assertThat(inside(dataset, WORLD)).hasSize(90);
            assertThat(inside(dataset, new Rectangle(1, -9, 9, -1))).hasSize(8);
            assertThat(inside(dataset, new Rectangle(999, 999, 1_001, 1_001))).containsExactly(7L);
            dataset.disableIndex("by_place");
            dataset.upsert(row(8, new Point(1_000, 1_000)));
            dataset.enableIndex("by_place");
            assertThat(inside(dataset, new Rectangle(999, 999, 1_001, 1_001)))
                    .containsExactly(7L, 8L);
            sim.verify();
        }
    }

    @Test
    void whatHasNoWindowsIsRefused() {
        assertThatThrownBy(() -> IndexSpec.rtree("r", "place").asUnique())
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("index r: only a btree can be unique");
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (SimStore sim = open(disk)) {
            Dataset dataset =
                    sim.store.createDataset(spec().index(IndexSpec.btree("by_name", "name")));
            assertThatThrownBy(() -> dataset.createIndex(IndexSpec.rtree("r", "name")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining(
                            "an rtree is on a point or a rectangle; name is of type string");
            assertThatThrownBy(() -> dataset.createIndex(IndexSpec.rtree("r", "nowhere")))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("nowhere");
            try (ReadView view = dataset.openView()) {
                Window points = new Window(SpatialKind.POINT, WORLD);
                for (String index : new String[] {"by_name", "by_area"}) {
                    assertThatThrownBy(() -> view.search(0, index, points, FilterPredicate.none()))
                            .isInstanceOf(InvalidRequestException.class)
                            .hasMessageContaining("index " + index);
                }
                // in index order, all of it can be read
                view.search(0, "by_place", KeyRange.all(), FilterPredicate.none())
                        .close();
            }
            assertThat(dataset.indexes()).hasSize(3);
        }
    }
}
