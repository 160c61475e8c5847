package io.turbidite.lsm.strategy;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.HeapIndexKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.Test;

/** A region that has failed, in the moment before its index is disabled. */
class FailedRegionTest {
    @Test
    void plans_are_told_that_it_can_not_be_read_and_verify_names_it() {
        HeapIndexKind kind = HeapIndexKind.persistent();
        try (SimStore sim = SimStore.open(
                new SimDisk(1, Profile.STRICT),
                1,
                SimStore.options(Durability.SYNC).withIndexKinds(kind))) {
            Dataset dataset = sim.store.createDataset(Row.blindSpec("Visits")
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.pm("by_user", "user")));
            dataset.upsert(new Row(1, "a", null, null, "body").toMap());
            dataset.flush();
            var _ = Inside.partitions(dataset)
                    .getFirst()
                    .version()
                    .regions()
                    .getFirst()
                    .handle()
                    .fail(new StorageIoException(
                            StorageIoException.Kind.IO, "read", "7.region", "planned", null));
            try (ReadView view = dataset.openView()) {
                assertThat(view.estimateSearch("by_user", KeyRange.all(), FilterPredicate.none()))
                        .isGreaterThanOrEqualTo(ReadView.UNREADABLE);
            }
            assertThat(sim.store.verify().errors())
                    .singleElement()
                    .asString()
                    .contains("index by_user: its region failed: read of 7.region failed: planned");
        }
    }
}
