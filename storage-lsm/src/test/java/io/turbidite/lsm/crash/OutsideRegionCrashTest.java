package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.ForwardingDisk;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.HeapIndexKind;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.OutsideKind;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.version.Manifest;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/**
 * Files of regions outside of the store: wherever a power cut, a kill or a failing call comes, the
 * next opening leaves no file there that the manifest does not name, and deletes none that it does.
 */
class OutsideRegionCrashTest {
    private static final int SPACING = Tier.count(5, 1, 1);
    private static final int FAULT_SPACING = Tier.count(3, 1, 1);
    private static final long SEED = Seeds.of("OutsideRegionCrashTest");

    private int cutCount;
    private int leftCount;

    /** An image of a disk is the same directory, at another time. */
    private record Named(Disk disk) implements ForwardingDisk {
        @Override
        public String description() {
            return "the store";
        }
    }

    private static SimStore open(SimDisk disk, HeapIndexKind heap) {
        StoreOptions options =
                SimStore.options(Durability.SYNC).withIndexKinds(new OutsideKind(heap, disk));
        return SimStore.open(disk, SEED, options, Named::new);
    }

    private static SimStore created(SimDisk disk, HeapIndexKind heap) {
        SimStore sim = open(disk, heap);
        disk.createDirectories(OutsideKind.PLACE);
        disk.syncDirectory("");
        return sim;
    }

    /** All that makes regions and drops them. */
    private static void live(SimStore sim) {
        Dataset dataset = sim.store.createDataset(DatasetSpec.named("Visits")
                .field("id", "int64")
                .field("user", "string")
                .primaryKey("id")
                .partitions(2)
                .maintenance(Maintenance.VALIDATION)
                .index(IndexSpec.pm("by_user", "user")));
        for (long id = 0; id < 20; id++) {
            dataset.upsert(Map.of("id", id, "user", "user " + id % 3));
        }
        dataset.flush();
        dataset.createIndex(IndexSpec.pm("again", "user"));
        dataset.rebuildIndex("by_user");
        dataset.dropIndex("again");
        sim.store.dropDataset("Visits");
    }

    @Test
    void no_cut_leaves_a_file_that_nobody_names() {
        HeapIndexKind heap = HeapIndexKind.persistent();
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        SimStore sim = created(disk, heap);
        int[] count = {0};
        disk.onOperation(step -> {
            if (count[0]++ % SPACING == 0) {
                for (Profile profile : Profile.values()) {
                    SimDisk image = disk.crashImage(Seeds.mix(SEED, step.index()), profile);
                    check(image, heap.image(), "%s, %s".formatted(step, profile));
                }
                SimDisk killed = disk.copy();
                killed.processDied();
                check(killed, heap.image(), "%s, killed".formatted(step));
            }
        });
        live(sim);
        disk.onOperation(step -> {});
        assertThat(disk.list(OutsideKind.PLACE)).isEmpty();
        assertThat(disk.list(StoreFiles.REGIONS)).isEmpty();
        sim.close();
        System.out.printf(
                "OutsideRegionCrashTest: %d cuts, %d of them left a file%n", cutCount, leftCount);
        assertThat(leftCount).isPositive();
    }

    private void check(SimDisk image, HeapIndexKind heap, String as) {
        if (!image.exists(OutsideKind.PLACE) || !image.exists(StoreFiles.MANIFEST)) {
            return;
        }
        cutCount++;
        Set<String> named = named(image);
        boolean isLeft = !named.containsAll(image.list(OutsideKind.PLACE));
        leftCount += isLeft ? 1 : 0;
        open(image, heap).close();
        // what the opening built anew, and did not end, is gone with its close
        assertThat(image.list(OutsideKind.PLACE)).as(as).isSubsetOf(named(image));
        assertThat(markers(image)).as(as).isSubsetOf(named(image));
        assertThat(markers(image)).as(as).containsAll(image.list(OutsideKind.PLACE));
        open(image, heap).close();
        assertThat(image.list(OutsideKind.PLACE)).as(as + ", again").isSubsetOf(named(image));
    }

    private static Set<String> named(SimDisk disk) {
        return Manifest.open(disk).state().datasets().stream()
                .flatMap(dataset -> dataset.partitions().stream())
                .flatMap(partition -> partition.regions().stream())
                .map(region -> "%012x.region".formatted(region.regionId()))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static List<String> markers(SimDisk disk) {
        return disk.exists(StoreFiles.REGIONS)
                ? disk.list(StoreFiles.REGIONS).stream()
                        .map(name -> name.replace(".outside", ".region"))
                        .toList()
                : List.of();
    }

    /** The nth call that changes a marker or a file fails, once or from then on. */
    @Test
    void no_failing_call_leaves_a_file_that_nobody_names() {
        for (Fault fault : List.of(Fault.EIO, Fault.ENOSPC)) {
            for (boolean forever : new boolean[] {false, true}) {
                int hitCount = 0;
                for (int call = 1; ; call += FAULT_SPACING) {
                    if (!fail(fault, call, forever)) {
                        break;
                    }
                    hitCount++;
                }
                assertThat(hitCount).isGreaterThan(5);
            }
        }
    }

    private static boolean fail(Fault fault, int call, boolean forever) {
        HeapIndexKind heap = HeapIndexKind.persistent();
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        SimStore sim = created(disk, heap);
        FaultScript script = FaultScript.with(fault)
                .on(
                        OperationKind.CREATE,
                        OperationKind.WRITE,
                        OperationKind.SYNC,
                        OperationKind.RENAME,
                        OperationKind.DELETE,
                        OperationKind.SYNC_DIRECTORY)
                .named(name ->
                        name.startsWith(OutsideKind.PLACE) || name.startsWith(StoreFiles.REGIONS))
                .call(call);
        disk.fault(forever ? script.forever() : script);
        try (sim) {
            live(sim);
        } catch (StorageException refused) {
            assertThat(refused).hasMessageContaining("injected");
        }
        long hitCount = script.hitCount();
        disk.clearFaults();
        String as = "%s at call %d, forever %b".formatted(fault, call, forever);
        open(disk, heap).close();
        assertThat(disk.list(OutsideKind.PLACE)).as(as).isSubsetOf(named(disk));
        assertThat(markers(disk)).as(as).isSubsetOf(named(disk));
        return hitCount > 0;
    }
}
