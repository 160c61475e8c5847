package io.turbidite.lsm.indexbuild;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexBuild;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Snapshot;
import io.turbidite.lsm.harness.AnswerCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * An index is refused for a key that is too long only if a record has it that the index must show:
 * the current one, or one of a snapshot of which views may be opened.
 */
class LongKeyBuildTest {
    private static final IndexSpec BY_BODY = IndexSpec.btree("by_body", "body");

    private final SimDisk disk = new SimDisk(7, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, 7, SimStore.options(Durability.BUFFERED));

    @BeforeEach
    void create() {
        sim.store.createDataset(
                Row.spec("T").mergePolicy(MergePolicySpec.parse("correlated-no-merge")));
        put(1, "short");
        put(77, "x".repeat(40_000));
        put(78, "y".repeat(40_000));
    }

    @AfterEach
    void close() {
        sim.verify();
        assertThat(Inside.holdsNothing(sim.store)).isTrue();
        sim.close();
    }

    private Dataset dataset() {
        return sim.store.dataset("T");
    }

    private void put(long id, String body) {
        dataset().upsert(new Row(id, "user", 1, null, body).toMap());
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "MUTABLE_BITMAP")
    void a_key_that_writers_replace_while_the_index_is_built_is_no_obstacle(
            Maintenance maintenance) {
        IndexBuild build = dataset().startIndex(BY_BODY.withMaintenance(maintenance));
        // not among what the build reads: both are newer than it
        put(77, "between");
        put(77, "short");
        dataset().delete(78L);
        build.await();
        assertThat(dataset().indexes()).hasSize(3);
        try (ReadView view = dataset().openView()) {
            AnswerCheck.run(dataset(), view, SimStore.rows(dataset(), view));
        }
    }

    @Test
    void a_view_that_can_not_search_the_index_is_no_obstacle() {
        try (ReadView view = dataset().openView()) {
            put(77, "short");
            dataset().delete(78L);
            dataset().createIndex(BY_BODY);
            assertThat(view.indexes()).hasSize(2);
            assertThat(dataset().indexes()).hasSize(3);
            assertThat(SimStore.rows(dataset(), view)).hasSize(3);
        }
    }

    @Test
    void what_a_snapshot_can_show_is_an_obstacle_while_it_is_open() {
        try (Snapshot _ = sim.store.openSnapshot()) {
            put(77, "short");
            dataset().delete(78L);
            assertThatThrownBy(() -> dataset().createIndex(BY_BODY))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("77");
        }
        try (Snapshot _ = sim.store.openSnapshot()) {
            dataset().createIndex(BY_BODY);
        }
    }

    @Test
    void a_snapshot_of_what_writers_replace_meanwhile_is_an_obstacle() {
        IndexBuild build = dataset().startIndex(BY_BODY);
        try (Snapshot _ = sim.store.openSnapshot()) {
            put(77, "between");
            try (Snapshot _ = sim.store.openSnapshot()) {
                put(77, "short");
                dataset().delete(78L);
                assertThatThrownBy(build::await).isInstanceOf(InvalidRequestException.class);
            }
        }
    }
}
