package io.turbidite.it.golden;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.StorageIoException;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.check.StoredFormat;
import io.turbidite.lsm.version.StoreFiles;
import io.turbidite.ops.Query;
import io.turbidite.ops.QueryResult;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;

/**
 * Upgrades of archived stores on a simulated disk: the power is cut at each step, and the disk gets
 * full at each fill. Whatever was rewritten by then, the records are those of before.
 */
class UpgradeTest {
    private static final long SEED = Seeds.of("UpgradeTest");

    /** One of this many steps is cut at. */
    private static final int STEPS_A_CUT = Tier.count(200, 100, 1);

    private static final List<String> UPGRADED =
            List.of("golden/filters-v3.zip", "golden/tokens-mutable-bitmap-v1.zip");

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void an_upgrade_that_is_cut_anywhere_loses_nothing(int archive) throws IOException {
        SimDisk disk = load(UPGRADED.get(archive));
        int[] cuts = {0, 0};
        Set<String> rows;
        try (Store store = open(disk)) {
            rows = rows(store);
            assertThat(rows).hasSizeGreaterThan(50);
            disk.onOperation(step -> {
                if (cuts[1]++ % STEPS_A_CUT == 0) {
                    cuts[0]++;
                    Profile[] profiles = Profile.values();
                    Profile profile = profiles[cuts[0] % profiles.length];
                    recover(disk.crashImage(Seeds.mix(SEED, step.index()), profile), rows);
                }
            });
            assertThat(store.upgrade().left()).isEmpty();
            disk.onOperation(step -> {});
        }
        SimDisk after = disk.crashImage(SEED, Profile.STRICT);
        try (Store store = open(after)) {
            assertThat(outdated(store)).isEmpty();
        }
        recover(after, rows);
        assertThat(cuts[0]).isPositive();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void a_full_disk_leaves_the_store_good(int archive) throws IOException {
        SimDisk disk = load(UPGRADED.get(archive));
        try (Store store = open(disk)) {
            Set<String> rows = rows(store);
            List<StoredFormat> before = outdated(store);
            disk.capacity(disk.usedBytes() + 1_000);
            assertThatThrownBy(store::upgrade)
                    .isInstanceOfSatisfying(
                            StorageIoException.class,
                            full -> assertThat(full.kind())
                                    .isEqualTo(StorageIoException.Kind.NO_SPACE));
            assertThat(outdated(store)).isNotEmpty().hasSizeLessThanOrEqualTo(before.size());
            assertThat(rows(store)).isEqualTo(rows);
            assertThat(store.verify().errors()).isEmpty();
            disk.capacity(1L << 40);
            assertThat(store.upgrade().left()).isEmpty();
            assertThat(outdated(store)).isEmpty();
            assertThat(rows(store)).isEqualTo(rows);
        }
    }

    private static void recover(SimDisk image, Set<String> rows) {
        try (Store store = open(image)) {
            assertThat(rows(store)).isEqualTo(rows);
            // goes on where it was cut
            assertThat(store.upgrade().left()).isEmpty();
            assertThat(outdated(store)).isEmpty();
            assertThat(rows(store)).isEqualTo(rows);
            assertThat(store.verify().errors()).isEmpty();
        }
    }

    private static List<StoredFormat> outdated(Store store) {
        return store.formats().stream().filter(StoredFormat::isOutdated).toList();
    }

    private static Store open(SimDisk disk) {
        SimClock clock = new SimClock();
        return Store.open(disk, new SimTasks(SEED, clock), clock, GoldenRows.options());
    }

    private static Set<String> rows(Store store) {
        Set<String> rows = new TreeSet<>();
        Dataset dataset = store.dataset("Golden");
        try (QueryResult result = Query.on(dataset).usingScan().run()) {
            result.forEach(row -> rows.add(row.toString()));
        }
        return rows;
    }

    private static SimDisk load(String archive) throws IOException {
        SimDisk disk = new SimDisk(SEED, Profile.STRICT);
        disk.createDirectories(StoreFiles.DATA);
        disk.createDirectories(StoreFiles.LOG);
        disk.syncDirectory("");
        try (InputStream file =
                        Files.newInputStream(Path.of("src/test/resources").resolve(archive));
                ZipInputStream in = new ZipInputStream(file)) {
            for (ZipEntry entry = in.getNextEntry(); entry != null; entry = in.getNextEntry()) {
                disk.put(entry.getName(), in.readAllBytes());
            }
        }
        return disk;
    }
}
