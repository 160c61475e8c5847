package io.turbidite.feeds.cluster.change;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.ChangeLog.Keeper;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;

/**
 * The file of changes: its archive, each of its bits, power cuts at each step of the disk, and
 * faults.
 */
@LeaksOnPurpose("machines lose their power with files open")
class ChangeLogTest {
    private static final String NAME = "cluster/CHANGES";
    private static final String GOLDEN = "/golden/cluster-log-v1.hex";
    private static final long CLUSTER = 0x0123_4567_89AB_CDEFL;
    private static final Epoch FIRST = new Epoch(1, 0x11);
    private static final Epoch SECOND = new Epoch(2, 0x22);

    private static SimDisk disk() {
        SimDisk disk = new SimDisk(1, Profile.STRICT);
        disk.createDirectories("cluster");
        return disk;
    }

    /** Two epochs, between them half of the changes. */
    private static void fill(ChangeLog log) {
        log.raise(FIRST);
        for (Change change : Changes.all()) {
            if (change.equals(Changes.all().get(4))) {
                log.raise(SECOND);
            }
            log.append(log.next(change));
        }
    }

    private static ChangeLog open(Disk disk) {
        return ChangeLog.open(disk, NAME, CLUSTER, Keeper.CONTROLLER);
    }

    private static List<Change> changes(ChangeLog log) {
        return log.after(0, Integer.MAX_VALUE).stream().map(Entry::change).toList();
    }

    private static byte[] written() {
        SimDisk disk = disk();
        try (ChangeLog log = ChangeLog.create(disk, NAME, CLUSTER)) {
            fill(log);
        }
        return disk.content(NAME);
    }

    private static SimDisk with(byte[] bytes) {
        SimDisk disk = disk();
        disk.put(NAME, bytes);
        return disk;
    }

    private static byte[] golden() throws IOException {
        try (InputStream in =
                Objects.requireNonNull(ChangeLogTest.class.getResourceAsStream(GOLDEN), GOLDEN)) {
            String text = new String(in.readAllBytes(), StandardCharsets.US_ASCII);
            return HexFormat.of().parseHex(text.replaceAll("\\s", ""));
        }
    }

    @Test
    void what_is_written_is_the_archived_file() throws IOException {
        String hex = HexFormat.of().formatHex(written());
        if (Boolean.getBoolean("golden.print")) {
            System.out.println(hex.replaceAll("(.{64})", "$1\n"));
        } else {
            assertThat(hex).isEqualTo(HexFormat.of().formatHex(golden()));
        }
    }

    @Test
    void the_archived_file_is_read_as_it_was_written() throws IOException {
        try (ChangeLog log = open(with(golden()))) {
            assertThat(changes(log)).isEqualTo(Changes.all());
            assertThat(log.epoch()).isEqualTo(SECOND);
            assertThat(log.clusterId()).isEqualTo(CLUSTER);
            ClusterMap map = ClusterMap.EMPTY;
            for (Change change : Changes.all()) {
                map = map.with(change);
            }
            assertThat(log.map()).isEqualTo(map);
        }
    }

    @Test
    void each_bit_of_the_archived_file_counts() throws IOException {
        byte[] file = golden();
        int markAt = file.length - ChangeFrame.HEADER_BYTES;
        for (int at = 0; at < file.length; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] damaged = file.clone();
                damaged[at] ^= (byte) (1 << bit);
                SimDisk disk = with(damaged);
                if (at >= markAt) {
                    // it says what the frames say
                    try (ChangeLog log = open(disk)) {
                        assertThat(changes(log)).isEqualTo(Changes.all());
                    }
                } else {
                    assertThatThrownBy(() -> open(disk))
                            .as("bit %d of byte %d", bit, at)
                            .isInstanceOfAny(CorruptionException.class)
                            .hasMessageContainingAll(NAME, "at offset", "--recover");
                }
            }
        }
    }

    @Test
    void a_file_that_ends_too_early_has_what_is_whole() throws IOException {
        byte[] file = golden();
        int entries = 0;
        for (int length = FileHeader.BYTES; length <= file.length; length++) {
            try (ChangeLog log = open(with(Arrays.copyOf(file, length)))) {
                List<Change> changes = changes(log);
                assertThat(changes).isEqualTo(Changes.all().subList(0, changes.size()));
                assertThat(changes.size()).isBetween(entries, entries + 1);
                entries = changes.size();
            }
        }
        assertThat(entries).isEqualTo(Changes.all().size());
        assertThatThrownBy(() -> open(with(Arrays.copyOf(file, FileHeader.BYTES - 1))))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining(NAME);
    }

    @Test
    void a_node_is_told_to_get_its_copy_anew() {
        byte[] file = written();
        file[FileHeader.BYTES + 40] ^= 1;
        assertThatThrownBy(() -> ChangeLog.open(with(file), NAME, CLUSTER, Keeper.NODE))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContainingAll(NAME, "at offset 96", "delete the file");
    }

    @Test
    void a_frame_that_was_moved_or_is_of_another_cluster_or_an_older_file_is_none() {
        byte[] file = written();
        byte[] moved = new byte[file.length - 32];
        System.arraycopy(file, 0, moved, 0, FileHeader.BYTES);
        System.arraycopy(file, FileHeader.BYTES + 32, moved, FileHeader.BYTES, moved.length - 64);
        try (ChangeLog log = open(with(moved))) {
            assertThat(log.number()).isZero();
        }
        byte[] foreign = file.clone();
        new FileHeader(ChangeFrame.FORMAT, ChangeFrame.VERSION, 0, 7, 0)
                .write(MemorySegment.ofArray(foreign), 0);
        try (ChangeLog log = ChangeLog.open(with(foreign), NAME, 7, Keeper.NODE)) {
            assertThat(log.number()).isZero();
        }
        byte[] older = file.clone();
        new FileHeader(ChangeFrame.FORMAT, ChangeFrame.VERSION, 0, CLUSTER, 3)
                .write(MemorySegment.ofArray(older), 0);
        try (ChangeLog log = open(with(older))) {
            assertThat(log.number()).isZero();
        }
    }

    @Test
    void another_cluster_another_release_and_no_file_are_told() {
        SimDisk disk = with(written());
        assertThatThrownBy(() -> ChangeLog.open(disk, NAME, 7, Keeper.NODE))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("cluster/CHANGES is of cluster 0123456789abcdef, and this one is"
                        + " 0000000000000007");
        byte[] newer = written();
        new FileHeader(ChangeFrame.FORMAT, ChangeFrame.VERSION + 1, 0, CLUSTER, 0)
                .write(MemorySegment.ofArray(newer), 0);
        assertThatThrownBy(() -> open(with(newer))).isInstanceOf(FormatVersionException.class);
        assertThatThrownBy(() -> open(disk()))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("there is no log of changes in cluster/CHANGES");
        assertThatThrownBy(() -> ChangeLog.create(disk, NAME, CLUSTER))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("already");
    }

    @Test
    void changes_that_do_not_follow_and_epochs_that_are_not_later_are_refused() {
        try (ChangeLog log = ChangeLog.create(disk(), NAME, CLUSTER)) {
            fill(log);
            Entry other = Entry.after(log.number(), log.chain() + 1, new NodeAdded("n9"));
            assertThatThrownBy(() -> log.append(other))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage("change 9 does not follow on change 8: it is of another log");
            Entry later = Entry.after(log.number() + 1, log.chain(), new NodeAdded("n9"));
            assertThatThrownBy(() -> log.append(later)).isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> log.next(new NodeAdded("n1")))
                    .isInstanceOf(InvalidRequestException.class);
            assertThatThrownBy(() -> log.raise(SECOND))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("is not later");
            assertThat(changes(log)).isEqualTo(Changes.all());
        }
    }

    @Test
    void a_log_is_replaced_whole() {
        SimDisk disk = disk();
        List<Entry> entries;
        try (ChangeLog log = ChangeLog.create(disk, NAME, CLUSTER)) {
            fill(log);
            entries = log.after(0, 5);
        }
        try (ChangeLog log = ChangeLog.replace(disk, NAME, CLUSTER, entries, new Epoch(9, 1))) {
            assertThat(log.number()).isEqualTo(5);
        }
        try (ChangeLog log = open(disk)) {
            assertThat(log.after(0, 9)).isEqualTo(entries);
            assertThat(log.epoch()).isEqualTo(new Epoch(9, 1));
            assertThat(log.after(3, 1)).containsExactly(entries.get(3));
        }
    }

    /** What was appended is there; what was not is not; the one in between is there or not. */
    private static void powerCuts(long seed, boolean careless) {
        SimDisk disk = new SimDisk(seed, Profile.STRICT);
        disk.createDirectories("cluster");
        disk.syncDirectory("");
        List<SimDisk> images = new ArrayList<>();
        List<Integer> doneAt = new ArrayList<>();
        int[] done = {-1};
        disk.onOperation(step -> {
            for (Profile profile : Profile.values()) {
                images.add(disk.crashImage(step.index(), profile));
                doneAt.add(done[0]);
            }
        });
        Disk used = careless ? new CarelessDisk(disk) : disk;
        ChangeLog log = ChangeLog.create(used, NAME, CLUSTER);
        for (Change change : Changes.all()) {
            done[0]++;
            if (done[0] % 3 == 1) {
                log.close();
                log = open(used);
            }
            log.append(log.next(change));
        }
        log.close();
        assertThat(images).hasSizeGreaterThan(60);
        for (int i = 0; i < images.size(); i++) {
            check(images.get(i), doneAt.get(i), Seeds.mix(seed, i));
        }
    }

    /** Opens an image, and again after a power cut while it was opened, and appends. */
    private static void check(SimDisk image, int done, long seed) {
        if (done < 0 && !image.exists(NAME)) {
            return;
        }
        List<SimDisk> again = new ArrayList<>();
        image.onOperation(
                step -> again.add(image.crashImage(seed + step.index(), Profile.ADVERSARIAL)));
        int found;
        try (ChangeLog log = open(image)) {
            found = (int) log.number();
            assertThat(found).isBetween(Math.max(done, 0), done + 1);
            assertThat(changes(log)).isEqualTo(Changes.all().subList(0, found));
        }
        again.add(image.crashImage(seed));
        for (int i = 0; i < again.size(); i++) {
            try (ChangeLog log = open(again.get(i))) {
                assertThat(log.number()).isBetween((long) Math.max(done, 0), (long) found);
                // what was opened has been told to others perhaps
                assertThat(i < again.size() - 1 || log.number() == found).isTrue();
                for (Change change :
                        Changes.all().subList((int) log.number(), Changes.all().size())) {
                    log.append(log.next(change));
                }
            }
            try (ChangeLog log = open(again.get(i))) {
                assertThat(changes(log)).isEqualTo(Changes.all());
            }
        }
    }

    @Test
    void a_power_cut_at_any_step_leaves_what_was_appended() {
        long seed = Seeds.of("ChangeLogTest");
        for (int i = 0; i < Tier.count(2, 10, 200); i++) {
            powerCuts(Seeds.mix(seed, i), false);
        }
    }

    @Test
    void what_was_read_after_a_kill_survives_a_power_cut() {
        boolean killed = true;
        for (int step = 0; killed; step++) {
            SimDisk disk = disk();
            disk.syncDirectory("");
            ChangeLog.create(disk, NAME, CLUSTER).close();
            killed = killedAt(disk, step);
            long read;
            try (ChangeLog log = open(disk)) {
                read = log.number();
            }
            try (ChangeLog log = open(disk.crashImage(step))) {
                assertThat(log.number()).as("step %d", step).isEqualTo(read);
            }
        }
    }

    private static boolean killedAt(SimDisk disk, int step) {
        int[] left = {step};
        disk.onOperation(operation -> {
            if (left[0]-- == 0) {
                throw new Killed();
            }
        });
        try (ChangeLog log = open(disk)) {
            for (Change change : Changes.all()) {
                log.append(log.next(change));
            }
            return false;
        } catch (Killed e) {
            return true;
        } finally {
            disk.onOperation(operation -> {});
            disk.processDied();
        }
    }

    private static final class Killed extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    @Test
    void a_log_that_is_not_synced_is_found_out() {
        assertThatThrownBy(() -> {
                    for (int i = 0; i < 20; i++) {
                        powerCuts(i, true);
                    }
                })
                .isInstanceOfAny(AssertionError.class, StorageException.class);
    }

    @Test
    void a_log_that_has_failed_takes_no_more() {
        for (OperationKind kind : List.of(OperationKind.WRITE, OperationKind.SYNC)) {
            SimDisk disk = disk();
            ChangeLog log = ChangeLog.create(disk, NAME, CLUSTER);
            log.append(log.next(new NodeAdded("n1")));
            disk.fault(FaultScript.with(Fault.EIO).on(kind));
            assertThatThrownBy(() -> log.append(log.next(new NodeAdded("n2"))))
                    .isInstanceOf(StorageIoException.class);
            assertThat(log.number()).isEqualTo(1);
            assertThatThrownBy(() -> log.append(log.next(new NodeAdded("n2"))))
                    .isInstanceOf(StoreFailedException.class)
                    .hasMessageContaining("open it again");
            log.close();
            try (ChangeLog again = open(disk)) {
                assertThat(again.number()).isBetween(1L, 2L);
                again.append(again.next(new NodeAdded("n3")));
            }
        }
    }
}
