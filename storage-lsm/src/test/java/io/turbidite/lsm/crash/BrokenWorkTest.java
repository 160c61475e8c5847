package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StoreFailedException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A bug in background work ends its thread; whoever waits for the work, or asks for more, must be
 * told.
 */
@Timeout(60)
class BrokenWorkTest {
    private static final long SEED = Seeds.of("BrokenWorkTest");
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);

    enum Work {
        FLUSH {
            @Override
            void ask(Dataset dataset) {
                dataset.flush();
            }
        },
        MERGE {
            @Override
            void ask(Dataset dataset) {
                dataset.mergeAll();
            }
        },
        REPAIR {
            @Override
            void ask(Dataset dataset) {
                dataset.repair();
            }
        },
        BUILD {
            @Override
            void ask(Dataset dataset) {
                dataset.createIndex(IndexSpec.btree("by_body", "body"));
            }
        };

        abstract void ask(Dataset dataset);
    }

    @ParameterizedTest
    @EnumSource
    void a_bug_ends_waits_and_writes_and_loses_nothing(Work work) {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        try (Store store = open(disk)) {
            Dataset dataset = store.createDataset(Row.spec("T")
                    .maintenance(Maintenance.VALIDATION)
                    .mergePolicy(MergePolicySpec.parse("no-merge")));
            for (String user : new String[] {"anna", "bert"}) {
                dataset.upsert(new Row(1, user, 1, null, user).toMap());
                dataset.flush();
            }
            dataset.upsert(new Row(2, "carl", 1, null, "carl").toMap());
            disk.onOperation(operation -> {
                if (operation.name().startsWith("data")) {
                    throw new IllegalStateException("planted");
                }
            });
            assertFails(() -> work.ask(dataset));
            disk.onOperation(operation -> {});
            assertFails(() -> work.ask(dataset));
            assertFails(() -> dataset.upsert(new Row(3, "dora", 1, null, "dora").toMap()));
            assertThat(SimStore.rows(dataset)).hasSize(2);
        }
        try (Store store = open(disk)) {
            assertThat(SimStore.rows(store.dataset("T"))).hasSize(2);
            store.dataset("T").mergeAll();
            assertThat(store.verify().errors()).isEmpty();
        }
        assertThat(disk.openHandles()).isEmpty();
    }

    private static Store open(SimDisk disk) {
        return Store.open(disk, ThreadTasks.create("test"), Clock.system(), OPTIONS);
    }

    private static void assertFails(Runnable request) {
        assertThatThrownBy(request::run)
                .isInstanceOf(StoreFailedException.class)
                .hasRootCauseMessage("planted");
    }
}
