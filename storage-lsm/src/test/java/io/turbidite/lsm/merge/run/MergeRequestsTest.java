package io.turbidite.lsm.merge.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.partition.Partition;

import org.junit.jupiter.api.Test;

class MergeRequestsTest {
    /** The store would wait for that reader when it is closed, for ever. */
    @Test
    void a_request_that_can_not_be_made_lets_its_version_go() {
        SimStore sim =
                SimStore.open(new SimDisk(1, Profile.STRICT), 1, SimStore.options(Durability.SYNC));
        Dataset dataset = sim.store.createDataset(Row.spec("Visits"));
        dataset.upsert(new Row(1, "user", 1, null, "body").toMap());
        Partition partition = Inside.partitions(dataset).getFirst();
        dataset.flush();
        assertThatThrownBy(() -> MergeRequests.bitmapFiles(partition, version -> {
                    throw new IllegalArgumentException("no tree in " + version.schema());
                }))
                .hasMessageContaining("no tree");
        dataset.upsert(new Row(1, "user", 1, null, "late").toMap());
        dataset.flush();
        assertThat(partition.version().liveCount()).isEqualTo(1);
        sim.close();
    }
}
