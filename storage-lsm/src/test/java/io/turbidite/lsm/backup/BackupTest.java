package io.turbidite.lsm.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StoreInUseException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.log.Durability;
import io.turbidite.core.meter.StoreEvent;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.sim.SubDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.StoreOptions;
import io.turbidite.lsm.harness.BackupRound;
import io.turbidite.lsm.harness.Row;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.harness.Workload;
import io.turbidite.lsm.version.StoreFiles;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.List;
import java.util.NavigableMap;

/**
 * R19: a backup that is taken while writers go on equals the oracle at the backup's timestamp; one
 * that is cut short is no store and says so; and the store beside it is what it would have been
 * without.
 */
class BackupTest {
    private static final int ROUNDS = Tier.count(3, 10, 500);

    private final long seed = Seeds.of("BackupTest");

    @Test
    void a_backup_under_load_equals_the_oracle_at_its_timestamp() {
        int linked = 0;
        for (int i = 0; i < ROUNDS; i++) {
            BackupRound round = new BackupRound(Seeds.mix(seed, i));
            round.disturb(() -> {});
            CopyMode mode = i % 2 == 0 ? CopyMode.LINK : CopyMode.COPY;
            BackupReport report = round.backup("backup", mode);
            linked += report.linked();
            round.disk.onOperation(step -> {});
            assertThat(mode == CopyMode.LINK ? report.copied() : report.linked())
                    .isZero();
            assertThat(round.oracle.commitCount())
                    .isGreaterThan(round.commits.floorEntry(report.timestamp()).getValue());
            for (int more = 0; more < 30; more++) {
                round.write();
            }
            round.checkBackup(round.disk.copy(), "backup");
            round.checkBackup(round.disk.crashImage(i), "backup");
            round.workload.check(round.sim.store);
            round.sim.verify();
            round.sim.close();
            assertThat(round.disk.openHandles()).isEmpty();
        }
        assertThat(linked).isPositive();
    }

    @Test
    void a_power_cut_at_any_step_of_a_backup_leaves_a_whole_one_or_one_that_says_it_is_not() {
        int whole = 0;
        int incomplete = 0;
        for (int i = 0; i < ROUNDS; i++) {
            BackupRound round = new BackupRound(Seeds.mix(seed, 1_000 + i));
            List<SimDisk> images = new ArrayList<>();
            List<Integer> acknowledged = new ArrayList<>();
            round.disturb(() -> {
                long cut = Seeds.mix(round.seed, images.size());
                Profile profile =
                        List.of(Profile.values()).get((int) Long.remainderUnsigned(cut, 3));
                images.add(round.disk.crashImage(cut, profile));
                acknowledged.add(round.oracle.commitCount());
            });
            CopyMode mode = i % 2 == 0 ? CopyMode.LINK_OR_COPY : CopyMode.COPY;
            var _ = round.backup("backup", mode);
            round.disk.onOperation(step -> {});
            round.sim.close();
            for (int cut = 0; cut < images.size(); cut++) {
                SimDisk image = images.get(cut);
                try (SimStore store = round.openAt(image, "store")) {
                    assertThat(store.contentHash())
                            .isEqualTo(round.oracle.hashAfter(acknowledged.get(cut)));
                    store.verify();
                }
                List<String> files = image.files();
                if (files.contains("backup/" + StoreFiles.MANIFEST)) {
                    whole++;
                    round.checkBackup(image, "backup");
                    assertThat(image.exists("backup/" + StoreFiles.INCOMPLETE)).isFalse();
                } else if (files.contains("backup/" + StoreFiles.INCOMPLETE)) {
                    incomplete++;
                    assertThatThrownBy(() -> round.openAt(image, "backup"))
                            .isInstanceOf(InvalidRequestException.class)
                            .hasMessageContaining("interrupted");
                    assertThatThrownBy(() -> restore(image, "backup", "restored"))
                            .isInstanceOf(InvalidRequestException.class)
                            .hasMessageContaining("interrupted");
                } else {
                    assertThat(files).noneMatch(name -> name.startsWith("backup/"));
                }
            }
        }
        System.out.printf("BackupTest: %d whole, %d incomplete after a cut%n", whole, incomplete);
        assertThat(whole).isPositive();
        assertThat(incomplete).isPositive();
    }

    @ParameterizedTest
    @EnumSource(Fault.class)
    void a_failing_disk_call_fails_the_backup_and_nothing_else(Fault fault) {
        int failed = 0;
        for (int call = 1; call < 60; call++) {
            BackupRound round = new BackupRound(Seeds.mix(seed, 2_000 + call % 3));
            SubDisk target = SubDisk.of(round.disk, "backup");
            round.disk.fault(FaultScript.with(fault)
                    .named(name -> name.startsWith("backup"))
                    .call(call));
            try {
                var _ = round.sim.store.backup(target, CopyMode.LINK_OR_COPY);
                round.disk.clearFaults();
                round.checkBackup(round.disk.copy(), "backup");
            } catch (StorageException expected) {
                failed++;
                round.disk.clearFaults();
                assertThat(expected.getMessage()).isNotBlank();
                List<String> left = target.list("");
                assertThat(left.isEmpty()
                                || left.contains(StoreFiles.INCOMPLETE)
                                || left.contains(StoreFiles.MANIFEST))
                        .as("%s", left)
                        .isTrue();
            }
            round.write();
            round.workload.check(round.sim.store);
            round.sim.close();
            assertThat(round.disk.openHandles()).isEmpty();
        }
        assertThat(failed).isPositive();
    }

    @Test
    void a_directory_that_is_not_empty_is_refused_and_left_as_it_is() {
        BackupRound round = new BackupRound(seed);
        SubDisk target = SubDisk.of(round.disk, "backup");
        target.create("precious").close();
        List<String> before = round.disk.files();
        assertThatThrownBy(() -> round.sim.store.backup(target, CopyMode.LINK))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("precious");
        assertThat(round.disk.files()).isEqualTo(before);
        round.sim.close();
    }

    @Test
    void another_file_system_gets_copies_or_an_error_as_one_wishes() {
        BackupRound round = new BackupRound(seed);
        round.sim.store.dataset(Workload.INDEXED).flush();
        SimDisk other = new SimDisk(seed, Profile.STRICT);
        assertThatThrownBy(() -> round.sim.store.backup(other, CopyMode.LINK))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("another file system");
        assertThat(other.list("")).isEmpty();
        BackupReport report = round.sim.store.backup(other, CopyMode.LINK_OR_COPY);
        assertThat(report.linked()).isZero();
        assertThat(report.copied()).isPositive();
        try (SimStore copy = SimStore.open(other.crashImage(1), seed, BackupRound.OPTIONS)) {
            assertThat(copy.contentHash()).isEqualTo(round.hashAt(report.timestamp()));
            copy.verify();
        }
        round.sim.close();
    }

    @Test
    void the_next_backup_takes_a_new_directory_and_both_stay_what_they_are() {
        BackupRound round = new BackupRound(seed);
        BackupReport first = round.backup("backup", CopyMode.LINK);
        for (int i = 0; i < 40; i++) {
            round.write();
        }
        BackupReport second = round.backup("second", CopyMode.LINK);
        assertThat(second.timestamp()).isGreaterThan(first.timestamp());
        // the store goes on and goes away; the backups keep what they share
        round.sim.store.dataset(Workload.INDEXED).mergeAll();
        round.sim.close();
        for (String name : round.disk.files()) {
            if (name.startsWith("store/")) {
                round.disk.delete(name);
            }
        }
        round.checkBackup(round.disk.copy(), "backup");
        round.checkBackup(round.disk.copy(), "second");
    }

    @Test
    void a_backup_holds_nothing_that_its_store_loses_in_a_power_cut() {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        NavigableMap<Long, Row> copied;
        try (SimStore sim = unsynced(disk, "store")) {
            Dataset dataset = sim.store.createDataset(Row.blindSpec("T"));
            dataset.upsert(new Row(1, null, 1, null, "").toMap());
            sim.store.backup(SubDisk.of(disk, "backup"), CopyMode.COPY);
            try (SimStore backup = unsynced(disk.crashImage(seed), "backup");
                    SimStore after = unsynced(disk.crashImage(seed), "store")) {
                copied = SimStore.rows(backup.store.dataset("T"));
                assertThat(SimStore.rows(after.store.dataset("T"))).isEqualTo(copied);
            }
        }
        assertThat(copied).hasSize(1);
    }

    private SimStore unsynced(SimDisk on, String directory) {
        StoreOptions options = SimStore.options(Durability.BUFFERED);
        return SimStore.open(on, seed, options, same -> SubDisk.of(same, directory));
    }

    @Test
    void what_is_restored_equals_the_oracle_and_leaves_the_backup_alone() {
        BackupRound round = new BackupRound(seed);
        BackupReport report = round.backup("backup", CopyMode.LINK);
        RestoreReport restored = restore(round.disk, "backup", "restored");
        assertThat(restored.timestamp()).isEqualTo(report.timestamp());
        assertThat(restored.bytes()).isEqualTo(report.bytes());
        round.checkBackup(round.disk.crashImage(3), "restored");
        RestoreReport again = restore(round.disk, "backup", "again");
        assertThat(again).isEqualTo(restored);
        round.sim.close();
    }

    @Test
    void what_is_no_whole_backup_is_not_restored() {
        BackupRound round = new BackupRound(seed);
        assertThatThrownBy(() -> restore(round.disk, "store", "restored"))
                .isInstanceOf(StoreInUseException.class);
        round.sim.close();
        assertThatThrownBy(() -> restore(round.disk, "store", "restored"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("opened as a store");
        assertThatThrownBy(() -> restore(round.disk, "nothing", "restored"))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("no MANIFEST");
        assertThat(SubDisk.of(round.disk, "restored").list("")).isEmpty();
    }

    @Test
    void a_damaged_backup_is_not_restored() {
        BackupRound round = new BackupRound(seed);
        round.sim.store.dataset(Workload.INDEXED).flush();
        var _ = round.backup("backup", CopyMode.COPY);
        round.sim.close();
        for (String name : round.disk.files()) {
            if (name.startsWith("backup/data/") || name.equals("backup/MANIFEST")) {
                SimDisk damaged = round.disk.copy();
                long size = damaged.content(name).length;
                damaged.flipBit(
                        name, Long.remainderUnsigned(Seeds.mix(seed, name.hashCode()), size), 3);
                assertThatThrownBy(() -> restore(damaged, "backup", "restored"))
                        .as(name)
                        .isInstanceOf(CorruptionException.class);
                assertThat(SubDisk.of(damaged, "restored").list("")).isEmpty();
            }
        }
    }

    @Test
    void a_backup_tells_that_it_is_done() {
        BackupRound round = new BackupRound(seed);
        BackupReport report = round.backup("backup", CopyMode.LINK);
        assertThat(round.sim.store.events().recent())
                .filteredOn(StoreEvent.BackedUp.class::isInstance)
                .singleElement()
                .satisfies(event -> {
                    StoreEvent.BackedUp done = (StoreEvent.BackedUp) event;
                    assertThat(done.timestamp()).isEqualTo(report.timestamp());
                    assertThat(done.bytes()).isEqualTo(report.bytes());
                });
        round.sim.close();
    }

    private static RestoreReport restore(SimDisk disk, String from, String to) {
        SimClock clock = new SimClock();
        Disk backup = SubDisk.of(disk, from);
        try (SimTasks tasks = new SimTasks(1, clock)) {
            return Restore.copy(backup, SubDisk.of(disk, to), tasks, clock);
        }
    }
}
