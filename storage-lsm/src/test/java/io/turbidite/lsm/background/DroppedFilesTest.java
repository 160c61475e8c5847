package io.turbidite.lsm.background;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.lsm.version.Version;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.util.List;

/** The files of what is dropped go with the last reader, and no sooner. */
class DroppedFilesTest {
    private final SimDisk disk = new SimDisk(7, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, 7, SimStore.options(Durability.BUFFERED));
    private final Dataset dataset = sim.store.createDataset(Row.spec("T").partitions(1));
    private final Partition partition = Inside.partitions(dataset).getFirst();

    DroppedFilesTest() {
        dataset.upsert(new Row(1, "u", 1, null, "b").toMap());
        dataset.flush();
    }

    @AfterEach
    void close() {
        sim.verify();
        sim.close();
    }

    private List<String> filesOf(Version pinned) {
        return pinned.schema().treeIds().stream()
                .flatMap(tree -> pinned.tree(tree).stream())
                .map(component -> StoreFiles.component(component.state().fileId()))
                .filter(name -> disk.exists(name))
                .toList();
    }

    /** What nobody needs is deleted in the background. */
    private void settle() {
        sim.tasks.runForMicros(100_000);
    }

    @Test
    void an_index_that_is_dropped_is_deleted_when_nobody_reads_it() {
        Version pinned = partition.pin();
        assertThat(filesOf(pinned)).hasSize(3);
        dataset.dropIndex("by_user");
        settle();
        assertThat(filesOf(pinned)).hasSize(3);
        pinned.unpin();
        settle();
        assertThat(filesOf(pinned)).hasSize(2);
    }

    @Test
    void a_dataset_that_is_dropped_is_deleted_when_nobody_reads_it() {
        Version pinned = partition.pin();
        sim.store.dropDataset("T");
        settle();
        assertThat(filesOf(pinned)).hasSize(3);
        pinned.unpin();
        settle();
        assertThat(filesOf(pinned)).isEmpty();
    }
}
