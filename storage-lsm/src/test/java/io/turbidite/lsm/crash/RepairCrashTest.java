package io.turbidite.lsm.crash;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.log.Durability;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.AnswerCheck;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.TreeMap;

/**
 * A power cut before each durable step of a repair, in all profiles, and a full disk at each write:
 * the store has the bitmap of before or the one of after, no file too many, and the same answers.
 */
class RepairCrashTest {
    private static final StoreOptions OPTIONS = SimStore.options(Durability.SYNC);

    private final long seed = Seeds.of("RepairCrashTest");
    private final SimDisk disk = new SimDisk(seed, Profile.STRICT);
    private final TreeMap<Long, Row> rows = new TreeMap<>();

    private SimStore load() {
        SimStore sim = SimStore.open(disk, seed, OPTIONS);
        Dataset dataset = sim.store.createDataset(Row.everyKindSpec("T")
                .maintenance(Maintenance.VALIDATION)
                .mergePolicy(MergePolicySpec.parse("no-merge")));
        for (int round = 0; round < 4; round++) {
            for (long id = 0; id < 60; id += 1 + round) {
                put(dataset, id, "user" + round);
            }
            dataset.flush();
            if (round == 1) {
                dataset.repair(); // one bitmap is replaced by a larger one later
            }
        }
        return sim;
    }

    private void put(Dataset dataset, long id, String user) {
        Row row = new Row(id, user, 1, null, "body " + user);
        rows.put(id, row);
        dataset.upsert(row.toMap(dataset.type()));
    }

    /** Invalid entries by component, after everything about the store was found right. */
    private List<Long> check(SimDisk image) {
        try (SimStore sim = SimStore.open(image, seed + 1, OPTIONS)) {
            sim.verify();
            Dataset dataset = sim.store.dataset("T");
            try (ReadView view = dataset.openView()) {
                AnswerCheck.run(dataset, view, rows);
            }
            List<ComponentDescription> components = components(sim);
            assertThat(bitmapFiles(image))
                    .isEqualTo(components.stream().filter(one -> one.dead() > 0).count());
            return components.stream().map(ComponentDescription::dead).toList();
        }
    }

    private static long bitmapFiles(SimDisk image) {
        return image.files().stream()
                .filter(name -> name.startsWith(StoreFiles.DATA + "/") && name.endsWith(".dead"))
                .count();
    }

    private static List<ComponentDescription> components(SimStore sim) {
        return sim.store.describe().datasets().getFirst().partitions().stream()
                .flatMap(partition -> partition.indexes().stream())
                .flatMap(index -> index.components().stream())
                .toList();
    }

    @Test
    void a_power_cut_leaves_the_bitmap_of_before_or_of_after() {
        SimStore sim = load();
        List<Long> before =
                components(sim).stream().map(ComponentDescription::dead).toList();
        int[] cuts = new int[2];
        disk.onOperation(step -> {
            for (Profile profile : Profile.values()) {
                List<Long> found = check(disk.crashImage(Seeds.mix(seed, step.index()), profile));
                for (int i = 0; i < found.size(); i++) {
                    assertThat(found.get(i)).isGreaterThanOrEqualTo(before.get(i));
                }
                cuts[found.equals(before) ? 0 : 1]++;
            }
        });
        sim.store.dataset("T").repair();
        disk.onOperation(step -> {});
        List<Long> after =
                components(sim).stream().map(ComponentDescription::dead).toList();
        sim.close();
        assertThat(after).isNotEqualTo(before);
        assertThat(check(disk)).isEqualTo(after);
        assertThat(cuts[0]).isPositive();
        assertThat(cuts[1]).isPositive();
        System.out.printf("RepairCrashTest: %d power cuts%n", cuts[0] + cuts[1]);
    }

    /**
     * The scan of the key trees that the indexes share is lost for all of them, not gone on with.
     */
    @Test
    void a_read_that_fails_in_the_repair_of_several_indexes_marks_nothing_that_lives() {
        load().close();
        int failed = 0;
        boolean done = false;
        for (int call = 1; !done; call++) {
            SimDisk image = disk.crashImage(seed, Profile.STRICT);
            try (SimStore sim = SimStore.open(image, seed, OPTIONS)) {
                FaultScript script = image.fault(
                        FaultScript.with(Fault.EMFILE).on(OperationKind.READ).call(call));
                try {
                    sim.store.dataset("T").repair();
                    done = script.hitCount() == 0;
                } catch (StorageIoException refused) {
                    failed++;
                }
                image.clearFaults();
            }
            check(image);
        }
        assertThat(failed).isPositive();
        System.out.printf("RepairCrashTest: %d reads failed%n", failed);
    }

    @Test
    void a_disk_that_is_full_refuses_the_repair_and_leaves_nothing_behind() {
        SimStore sim = load();
        Dataset dataset = sim.store.dataset("T");
        List<String> files = disk.files();
        int refused = 0;
        boolean done = false;
        for (int call = 1; !done; call++) {
            FaultScript script = disk.fault(FaultScript.with(Fault.ENOSPC)
                    .named(n -> n.endsWith(".dead"))
                    .call(call));
            try {
                dataset.repair("by_user");
                done = script.hitCount() == 0;
            } catch (StorageIoException full) {
                refused++;
                disk.clearFaults();
                sim.verify();
            }
            disk.clearFaults();
        }
        assertThat(refused).isPositive();
        dataset.upsert(rows.firstEntry().getValue().toMap()); // it takes writes
        sim.close();
        assertThat(bitmapFiles(disk))
                .isGreaterThanOrEqualTo(
                        files.stream().filter(n -> n.endsWith(".dead")).count());
        check(disk);
        assertThat(disk.openHandles()).isEmpty();
    }
}
