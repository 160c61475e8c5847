package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.key.KeySpec;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.Reading;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexCursor;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.EnumSource.Mode;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** What blind writes must not do, and what their readers must (design §4 rules 1 to 3). */
class BlindWriteTest {
    private static final long SEED = 11;
    private static final int ROWS = 200;

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));

    private Dataset create(Maintenance maintenance) {
        return sim.store.createDataset(Row.spec("T")
                .maintenance(maintenance)
                .mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
    }

    @AfterEach
    void all_is_right_and_closed() {
        sim.verify();
        sim.close();
    }

    private static Row row(long id, String user, int second) {
        return new Row(id, user, (int) id, Instant.ofEpochSecond(second), "body");
    }

    /** Asks of the buffer cache: pages that were there, and those that were read. */
    private long pagesTouched() {
        return sim.store.meters().instruments().stream()
                .filter(one -> one.name().equals("cache.hits") || one.name().equals("cache.loads"))
                .mapToLong(one -> ((Reading) one).value())
                .sum();
    }

    private long touchedByUpdates(Maintenance maintenance) {
        Dataset dataset = create(maintenance);
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row(i, "a", i).toMap());
        }
        dataset.flush();
        long before = pagesTouched();
        for (int i = 0; i < ROWS; i++) {
            dataset.upsert(row(i, "b", i).toMap());
        }
        for (int i = 0; i < ROWS; i += 2) {
            dataset.delete((long) i);
        }
        return pagesTouched() - before;
    }

    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"VALIDATION", "DELETED_KEY", "DEFERRED"})
    void an_update_touches_no_page_of_the_primary(Maintenance blind) {
        assertThat(touchedByUpdates(blind)).isZero();
    }

    @Test
    void an_eager_update_touches_one_page_at_least() {
        assertThat(touchedByUpdates(Maintenance.EAGER)).isGreaterThanOrEqualTo(ROWS);
    }

    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            mode = Mode.EXCLUDE,
            names = {"EAGER", "MUTABLE_BITMAP"})
    void what_was_superseded_on_disk_is_a_candidate_and_not_valid(Maintenance blind) {
        Dataset dataset = create(blind);
        dataset.upsert(row(1, "a", 1).toMap());
        dataset.upsert(row(2, "a", 2).toMap());
        dataset.flush();
        dataset.upsert(row(1, "b", 3).toMap());
        dataset.delete(2L);
        dataset.flush();
        try (ReadView view = dataset.openView()) {
            if (blind != Maintenance.DELETED_KEY) {
                assertThat(candidates(view)).isEqualTo(3);
            }
            assertThat(valid(view, FilterPredicate.none())).containsExactly("b");
        }
    }

    @Test
    void within_a_memory_component_no_obsolete_entry_is_a_candidate() {
        Dataset dataset = create(Maintenance.VALIDATION);
        dataset.upsert(row(1, "a", 1).toMap());
        dataset.upsert(row(1, "b", 2).toMap());
        dataset.upsert(row(2, "a", 3).toMap());
        dataset.delete(2L);
        try (ReadView view = dataset.openView()) {
            assertThat(candidates(view)).isEqualTo(1);
        }
        dataset.flush();
        try (ReadView view = dataset.openView()) {
            assertThat(candidates(view)).isEqualTo(1);
            assertThat(valid(view, FilterPredicate.none())).containsExactly("b");
        }
    }

    /**
     * Rule 2: the newer component has nothing of the span asked for, and yet hides what is older.
     */
    @ParameterizedTest
    @EnumSource(
            value = Maintenance.class,
            names = {"VALIDATION", "DELETED_KEY", "DEFERRED"})
    void a_component_that_does_not_match_still_hides_older_versions(Maintenance blind) {
        Dataset dataset = create(blind);
        dataset.upsert(row(1, "a", 10).toMap());
        dataset.upsert(row(2, "a", 11).toMap());
        dataset.flush();
        dataset.upsert(row(1, "a", 5_000).toMap());
        dataset.delete(2L);
        dataset.flush();
        byte[] from = KeySpec.of(dataset.type(), List.of("created"), "test")
                .encode(Instant.ofEpochSecond(0));
        byte[] to = KeySpec.of(dataset.type(), List.of("created"), "test")
                .encode(Instant.ofEpochSecond(100));
        FilterPredicate old = new FilterPredicate(List.of(KeyRange.closed(from, to)));
        try (ReadView view = dataset.openView()) {
            long seen = 0;
            try (var cursor = view.scan(0, KeyRange.all(), old)) {
                while (cursor.next()) {
                    seen += cursor.key().length() > 0 ? 1 : 0;
                }
            }
            assertThat(seen).as("the new version of 1 alone, if any").isLessThanOrEqualTo(1);
            assertThat(SimStore.rows(dataset, view).values()).containsExactly(row(1, "a", 5_000));
            assertThat(valid(view, old))
                    .as("no entry of the old component is valid")
                    .isEmpty();
        }
    }

    private static long candidates(ReadView view) {
        long count = 0;
        try (IndexCursor cursor =
                view.search(0, "by_user", KeyRange.all(), FilterPredicate.none())) {
            while (cursor.next()) {
                count++;
            }
        }
        return count;
    }

    private static List<Object> valid(ReadView view, FilterPredicate filter) {
        List<Object> users = new ArrayList<>();
        var spec = KeySpec.of(view.source().type(), List.of("user"), "test");
        try (ValidSearch entries = ValidSearch.open(
                view,
                0,
                view.indexes().stream()
                        .filter(index -> index.name().equals("by_user"))
                        .findFirst()
                        .orElseThrow(),
                KeyRange.all(),
                filter)) {
            while (entries.next()) {
                users.add(String.valueOf(spec.decode(entries.secondaryKey(), 0).getFirst()));
            }
        }
        return users;
    }
}
