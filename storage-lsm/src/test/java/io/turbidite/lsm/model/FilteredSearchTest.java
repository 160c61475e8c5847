package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.CandidateBatch;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * Searches of a secondary index with a filter (design §4 rule 2): a search may pass over the layer
 * that hides an entry, so it says which entries it vouches for; those, and the candidates that
 * prove valid, are the records' current ones, and all inside the filter are among them.
 */
class FilteredSearchTest {
    private static final int HISTORIES = Boolean.getBoolean("long") ? 200 : 2;
    private static final int STEPS = Boolean.getBoolean("long") ? 400 : 160;
    private static final int KEYS = 8;
    private static final int ABSENT = -1;

    private static DatasetSpec spec(Maintenance dataset, MergePolicySpec policy) {
        return DatasetSpec.named("T")
                .field("id", "int64")
                .field("place", "int32?")
                .field("f", "int32?")
                .field("g", "int32?")
                .primaryKey("id")
                .filter("f", "g")
                .maintenance(dataset)
                .mergePolicy(policy);
    }

    /** The shortest history that shows a record twice: its second place, and its last. */
    @Test
    void a_record_is_shown_once_though_what_hides_its_former_place_was_passed_over() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        try (SimStore sim = SimStore.open(disk, 1, SimStore.options(Durability.SYNC))) {
            Dataset dataset = sim.store.createDataset(
                    spec(Maintenance.EAGER, MergePolicySpec.parse("no-merge"))
                            .index(IndexSpec.btree("by_place", "place")));
            int[][] versions = {{1, 10}, {2, 50}, {3, 50}, {4, 10}};
            for (int[] version : versions) {
                dataset.upsert(Map.of("id", 1L, "place", version[0], "f", version[1], "g", 1));
                dataset.flush();
            }
            try (ReadView view = dataset.openView()) {
                IndexDescription index = view.indexes().getFirst();
                assertThat(index.alwaysValid()).isTrue();
                FilterPredicate filter = filter(dataset, 10, 10, 0, 9);
                List<String> certain = new ArrayList<>();
                List<String> doubtful = new ArrayList<>();
                try (IndexCursor found = view.search(0, index.name(), KeyRange.all(), filter)) {
                    while (found.next()) {
                        (found.checkedUntil() == Long.MAX_VALUE ? certain : doubtful)
                                .add(found.secondaryKey().toString());
                    }
                }
                assertThat(certain).as("vouched for").hasSize(1);
                assertThat(doubtful).as("candidates: place 2").hasSize(1);
                try (ValidSearch valid = ValidSearch.open(view, 0, index, KeyRange.all(), filter)) {
                    assertThat(valid.next()).isTrue();
                    assertThat(valid.secondaryKey().toString()).isEqualTo(certain.getFirst());
                    assertThat(valid.next()).isFalse();
                }
            }
        }
    }

    @Test
    void what_searches_with_filters_show_is_current_under_every_strategy() {
        long seed = Seeds.of("FilteredSearchTest");
        int histories = Seeds.isReplay() ? 1 : HISTORIES;
        for (int i = 0; i < histories; i++) {
            long historySeed = Seeds.isReplay() ? seed : Seeds.mix(seed, i);
            for (Maintenance dataset : Maintenance.values()) {
                for (String policy : List.of("no-merge", "correlated-tiering", "tiering")) {
                    MergePolicySpec spec = MergePolicySpec.parse(policy);
                    boolean correlated = dataset == Maintenance.MUTABLE_BITMAP
                            || dataset == Maintenance.DEFERRED;
                    if (correlated && !spec.isCorrelated()) {
                        continue;
                    }
                    try (Run run = new Run(historySeed, dataset, spec)) {
                        run.go();
                    } catch (Throwable failure) {
                        throw new AssertionError(
                                "%s under %s: %s"
                                        .formatted(
                                                dataset.label(),
                                                policy,
                                                Seeds.replay("FilteredSearchTest", historySeed)),
                                failure);
                    }
                }
            }
        }
    }

    private static FilterPredicate filter(
            Dataset dataset, int fLow, int fHigh, int gLow, int gHigh) {
        KeySpec f = KeySpec.of(dataset.type(), List.of("f"), "test");
        KeySpec g = KeySpec.of(dataset.type(), List.of("g"), "test");
        return new FilterPredicate(List.of(
                KeyRange.between(f.encode(fLow), true, f.encode(fHigh), true),
                KeyRange.between(g.encode(gLow), true, g.encode(gHigh), true)));
    }

    /** A version of a record, as the oracle keeps it; {@link #ABSENT} is null. */
    private record Version(int place, int f, int g) {
        boolean isInside(int[] bounds) {
            return f >= bounds[0] && f <= bounds[1] && g >= bounds[2] && g <= bounds[3];
        }
    }

    /** A snapshot, and what it must show. */
    private record Kept(Snapshot snapshot, Map<Long, Version> rows) {}

    /** One history of one store: an index for each strategy that goes with the dataset's. */
    private static final class Run implements AutoCloseable {
        private final SplittableRandom random;
        private final SimStore sim;
        private final Dataset dataset;
        private final Map<Long, Version> rows = new TreeMap<>();
        private final List<Kept> kept = new ArrayList<>();

        Run(long seed, Maintenance maintenance, MergePolicySpec policy) {
            random = new SplittableRandom(seed);
            sim = SimStore.open(
                    new SimDisk(seed, Profile.STRICT), seed, SimStore.options(Durability.SYNC));
            DatasetSpec spec = spec(maintenance, policy);
            for (Maintenance of : Maintenance.values()) {
                boolean byBitmap = maintenance == Maintenance.MUTABLE_BITMAP;
                boolean fits = of != Maintenance.MUTABLE_BITMAP
                        && !(byBitmap && of == Maintenance.EAGER)
                        && !(of == Maintenance.DEFERRED && (byBitmap || !policy.isCorrelated()));
                if (fits) {
                    spec.index(IndexSpec.btree(
                                    "by_" + of.name().toLowerCase(java.util.Locale.ROOT), "place")
                            .withMaintenance(of));
                }
            }
            dataset = sim.store.createDataset(spec);
        }

        void go() {
            for (int step = 0; step < STEPS; step++) {
                long id = random.nextInt(KEYS);
                switch (random.nextInt(12)) {
                    case 0 -> {
                        rows.remove(id);
                        dataset.delete(id);
                    }
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
                    default -> upsert(id);
                }
            }
            checkAll();
            assertThat(sim.store.verify().errors()).isEmpty();
        }

        private void upsert(long id) {
            Version old = rows.get(id);
            Version row = new Version(
                    random.nextInt(3) == 0 && old != null ? old.place : value(6),
                    random.nextInt(3) == 0 && old != null ? old.f : value(5),
                    random.nextInt(3) == 0 && old != null ? old.g : value(3));
            rows.put(id, row);
            Map<String, Object> fields = new HashMap<>(Map.of("id", id));
            fields.put("place", row.place);
            fields.put("f", row.f);
            fields.put("g", row.g);
            fields.values().removeIf(value -> value.equals(ABSENT));
            dataset.upsert(fields);
        }

        private int value(int bound) {
            int drawn = random.nextInt(bound + 1);
            return drawn == bound ? ABSENT : drawn;
        }

        private void snapshot() {
            if (kept.size() == 2) {
                kept.remove(random.nextInt(2)).snapshot.close();
            }
            kept.add(new Kept(sim.store.openSnapshot(), Map.copyOf(rows)));
        }

        private void checkAll() {
            try (ReadView view = dataset.openView()) {
                check(view, rows);
            }
            for (Kept one : kept) {
                try (ReadView view = one.snapshot.view(dataset)) {
                    check(view, one.rows);
                }
            }
        }

        private void check(ReadView view, Map<Long, Version> expected) {
            int fLow = random.nextInt(5);
            int gLow = random.nextInt(3);
            int[] bounds = {
                fLow, fLow + random.nextInt(5 - fLow), gLow, gLow + random.nextInt(3 - gLow)
            };
            FilterPredicate filter = filter(dataset, bounds[0], bounds[1], bounds[2], bounds[3]);
            TreeSet<String> all = new TreeSet<>();
            TreeSet<String> inside = new TreeSet<>();
            expected.forEach((id, row) -> {
                all.add(entry(id, row));
                if (row.isInside(bounds)) {
                    inside.add(entry(id, row));
                }
            });
            for (IndexDescription index : view.indexes()) {
                List<String> forwards = walk(view, index, filter, true);
                List<String> backwards = walk(view, index, filter, false);
                assertThat(forwards).as("%s forwards", index).isSorted();
                assertThat(backwards.reversed()).as("%s backwards", index).isEqualTo(forwards);
                assertThat(forwards).as("%s", index).doesNotHaveDuplicates().containsAll(inside);
                assertThat(all).as("%s shows current entries", index).containsAll(forwards);
                List<String> searched = new ArrayList<>();
                try (ValidSearch valid = ValidSearch.open(view, 0, index, KeyRange.all(), filter)) {
                    while (valid.next()) {
                        searched.add(text(valid.secondaryKey(), valid.primaryKey()));
                    }
                }
                assertThat(searched).as("%s, valid search", index).isEqualTo(forwards);
            }
        }

        /** What the view vouches for, and those candidates that it finds valid. */
        private List<String> walk(
                ReadView view, IndexDescription index, FilterPredicate filter, boolean forwards) {
            List<String> found = new ArrayList<>();
            CandidateBatch batch = new CandidateBatch(1 << 16);
            try (IndexCursor cursor = view.search(0, index.name(), KeyRange.all(), filter)) {
                if (!forwards) {
                    cursor.seekEnd();
                }
                while (forwards ? cursor.next() : cursor.previous()) {
                    batch.clear();
                    batch.add(cursor);
                    view.validate(0, index, KeyRange.all(), batch);
                    if (cursor.checkedUntil() == Long.MAX_VALUE && index.alwaysValid()) {
                        assertThat(batch.isValid(0)).as("%s", index).isTrue();
                    }
                    if (batch.isValid(0)) {
                        found.add(text(cursor.secondaryKey(), cursor.primaryKey()));
                    }
                }
            }
            return found;
        }

        private String entry(long id, Version row) {
            ByteSink sink = new ByteSink(64, 1 << 10);
            KeySpec.of(dataset.type(), List.of("place"), "test")
                    .appendValues(
                            sink,
                            Collections.singletonList(row.place == ABSENT ? null : row.place));
            Slice primary = Slice.of(dataset.primaryKeySpec().encode(id));
            return text(sink.asSlice(new Slice()), primary);
        }

        private static String text(Slice secondary, Slice primary) {
            return java.util.HexFormat.of().formatHex(secondary.toByteArray())
                    + "|"
                    + java.util.HexFormat.of().formatHex(primary.toByteArray());
        }

        @Override
        public void close() {
            kept.forEach(one -> one.snapshot.close());
            sim.close();
        }
    }
}
