package io.turbidite.feeds.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.feeds.flow.Batch.Leftover;
import io.turbidite.feeds.parse.RecordFrame;
import io.turbidite.feeds.source.SourcePosition;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;

class SpillTest {
    private static final String DIRECTORY = "feed-spill/f";

    /** Three batches a segment, about. */
    private static SpillPlace place(SimDisk disk, boolean isAcknowledged, long bytesMax) {
        return new SpillPlace(disk, DIRECTORY, "", isAcknowledged, 7, bytesMax, 1_000, 0);
    }

    private static Spill open(SpillPlace place) {
        return Spill.open(place, (file, how) -> {
            throw new AssertionError(file + " " + how);
        });
    }

    /** Reads all that was left, as {@link #read}, and returns what is told to be lost. */
    private static List<String> lost(SimDisk disk) {
        List<String> lost = new ArrayList<>();
        Batch batch = new Batch();
        try (Spill spill =
                Spill.open(place(disk, true, 1 << 20), (file, how) -> lost.add(file + " " + how))) {
            while (spill.next(batch)) {
                spill.moved(1);
            }
            spill.release(sequence -> true);
            assertThat(spill.hasLeftovers()).isFalse();
        }
        return lost;
    }

    private static List<String> segments(SimDisk disk) {
        return disk.files().stream()
                .filter(name -> name.endsWith(".spill"))
                .sorted()
                .toList();
    }

    private static Batch batch(int number) {
        Batch batch = new Batch();
        batch.begin("p", number == 0 ? null : SourcePosition.of(number));
        RecordFrame frame = RecordFrame.of(
                "{\"id\":%d}".formatted(number).getBytes(StandardCharsets.UTF_8), number, 3);
        batch.add(Slice.of(new byte[] {1, (byte) number, 3}), frame);
        batch.addMore(Slice.of(new byte[] {4}), frame);
        batch.reject(frame, "not good");
        batch.drop(frame, 2, true);
        batch.end(SourcePosition.of(number + 1));
        batch.begunAt(99);
        return batch;
    }

    private static void same(Batch found, int number) {
        Slice slice = new Slice();
        assertThat(found.partition()).isEqualTo("p");
        assertThat(found.follows()).isEqualTo(number == 0 ? null : SourcePosition.of(number));
        assertThat(found.position()).isEqualTo(SourcePosition.of(number + 1));
        assertThat(found.recordCount()).isEqualTo(2);
        assertThat(found.record(0, slice).toByteArray())
                .isEqualTo(new byte[] {1, (byte) number, 3});
        assertThat(found.record(1, slice).toByteArray()).isEqualTo(new byte[] {4});
        assertThat(found.rejections()).hasSize(1);
        assertThat(found.rejection(1, "x").offset()).isEqualTo(number);
        assertThat(found.droppedCount()).isEqualTo(2);
        assertThat(found.letters(slice).toUtf8()).contains("not good");
    }

    private static SimDisk disk() {
        return new SimDisk(1, Profile.STRICT);
    }

    /** A disk with {@code count} batches that were acknowledged, and {@code more} that were not. */
    private static SimDisk left(int count, int more) {
        SimDisk disk = disk();
        Spill spill = open(place(disk, true, 1 << 20));
        for (int i = 0; i < count; i++) {
            assertThat(spill.append(batch(i), false)).isTrue();
        }
        spill.acknowledge();
        for (int i = count; i < count + more; i++) {
            assertThat(spill.append(batch(i), false)).isTrue();
        }
        spill.close();
        return disk;
    }

    /** Reads what was left; each batch must be the next. */
    private static List<Leftover> read(SimDisk disk) {
        List<Leftover> read = new ArrayList<>();
        Batch batch = new Batch();
        try (Spill spill = open(place(disk, true, 1 << 20))) {
            while (spill.next(batch)) {
                same(batch, read.size());
                read.add(batch.leftover());
            }
        }
        return read;
    }

    @Test
    void the_places_of_many_that_were_left_out_are_read_back() {
        SimDisk disk = disk();
        RecordFrame frame = RecordFrame.of("{}".getBytes(StandardCharsets.UTF_8), 4, 3);
        Batch batch = batch(0);
        while (!batch.isFull()) {
            batch.drop(frame, 1, true);
        }
        try (Spill spill = open(place(disk, false, 1 << 20))) {
            assertThat(spill.append(batch, false)).isTrue();
            assertThat(spill.append(batch(0), false)).isTrue();
            Batch read = new Batch();
            assertThat(spill.next(read)).isTrue();
            List<Long> places = new ArrayList<>();
            read.forEachDropped(places::add);
            assertThat(places).hasSize(Batch.DROPPED_MAX).startsWith(0L).endsWith(4L);
            spill.moved(1);
            assertThat(spill.next(read)).isTrue();
            same(read, 0);
            spill.moved(2);
        }
    }

    @Test
    void what_is_appended_is_read_back_in_order_and_goes_when_it_is_delivered() {
        SimDisk disk = disk();
        Spill spill = open(place(disk, false, 1 << 20));
        Batch read = new Batch();
        int at = 0;
        for (int i = 0; i < 100; i++) {
            assertThat(spill.append(batch(i), false)).isTrue();
            if (i % 3 == 0) {
                assertThat(spill.next(read)).isTrue();
                same(read, at);
                spill.moved(at++);
            }
        }
        assertThat(spill.waitingCount()).isEqualTo(2L * (100 - at));
        int filesBefore = disk.files().size();
        int taken = at - 20;
        spill.release(sequence -> sequence < taken);
        assertThat(disk.files().size()).isLessThan(filesBefore);
        while (spill.next(read)) {
            same(read, at);
            spill.moved(at++);
        }
        assertThat(at).isEqualTo(100);
        assertThat(spill.isEmpty()).isTrue();
        spill.release(sequence -> true);
        assertThat(disk.files()).isEmpty();
        assertThat(spill.usedBytes()).isZero();
        spill.close();
        assertThat(disk.openHandleCount()).isZero();
    }

    /** The bug: a second sync passed where the system had dropped what the first was for. */
    @Test
    void behind_a_failed_sync_nothing_is_acknowledged() {
        for (int call = 1;
                call <= 3;
                call++) { // of the segment, of the mark's file, and of the mark
            SimDisk disk = disk();
            Spill spill = open(place(disk, true, 1 << 20));
            assertThat(spill.append(batch(0), false)).isTrue();
            disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.SYNC).call(call));
            assertThatThrownBy(spill::acknowledge).isInstanceOf(StorageIoException.class);
            assertThatThrownBy(spill::acknowledge)
                    .isInstanceOf(StorageIoException.class)
                    .hasMessageContaining("a sync of it has failed before");
            assertThatThrownBy(() -> spill.append(batch(1), false))
                    .isInstanceOf(StorageIoException.class);
            spill.close();
        }
    }

    /** The bug: with the full segment closed, and no space for the next, nothing was noted. */
    @Test
    void what_a_full_segment_has_is_acknowledged_without_a_next_one() {
        SimDisk disk = disk();
        Spill spill = open(place(disk, true, 1 << 20));
        assertThat(spill.append(batch(0), false)).isTrue();
        disk.fault(FaultScript.with(Fault.ENOSPC)
                .on(OperationKind.CREATE)
                .named(name -> name.endsWith(".spill"))
                .forever());
        int count = 1;
        while (spill.append(batch(count), false)) {
            count++;
        }
        spill.acknowledge();
        assertThat(count).isGreaterThan(1);
        SimDisk cut = disk.crashImage(3);
        assertThat(read(cut)).hasSize(count).containsOnly(Leftover.ACKNOWLEDGED);
        spill.close();
    }

    /** The bug: the names of what nobody was told of were called missing. */
    @Test
    void a_name_that_a_power_cut_took_behind_the_mark_ends_the_spill() {
        SimDisk disk = left(4, 16);
        List<String> segments = disk.files().stream()
                .filter(name -> name.endsWith(".spill"))
                .sorted()
                .toList();
        assertThat(segments.size()).isGreaterThan(3);
        disk.delete(segments.get(2));
        List<Leftover> read = read(disk);
        assertThat(read).hasSizeBetween(4, 12);
        assertThat(read.subList(0, 4)).containsOnly(Leftover.ACKNOWLEDGED);
    }

    /** The bug: the mark was put into a segment that was gone, which the next opening missed. */
    @Test
    void a_full_segment_that_was_delivered_before_it_was_marked_is_not_missed() {
        SimDisk disk = disk();
        Spill spill = open(place(disk, true, 1 << 20));
        int count = 0;
        while (disk.files().size() < 2) { // one that is full, and one batch of the next
            assertThat(spill.append(batch(count++), false)).isTrue();
        }
        Batch batch = new Batch();
        for (int i = 0; spill.next(batch); i++) {
            same(batch, i);
            spill.moved(i);
        }
        spill.release(sequence -> true);
        assertThat(disk.files()).noneMatch(name -> name.endsWith(".spill"));
        spill.acknowledge();
        SimDisk cut = disk.crashImage(1);
        assertThat(read(cut)).isEmpty();
        spill.close();
    }

    @Test
    void no_more_bytes_than_the_bound_are_on_the_disk() {
        SimDisk disk = disk();
        try (Spill spill = open(place(disk, false, 4_000))) {
            int count = 0;
            while (spill.append(batch(count), false)) {
                count++;
                assertThat(disk.files().stream()
                                .mapToInt(name -> disk.content(name).length)
                                .sum())
                        .isLessThanOrEqualTo(4_000);
            }
            assertThat(count).isGreaterThan(5);
            assertThat(spill.append(batch(count), true)).isTrue();
        }
        assertThat(disk.files()).isEmpty();
    }

    @Test
    void a_disk_that_is_to_have_space_left_takes_no_segment() {
        SimDisk disk = disk();
        disk.capacity(100_000);
        SpillPlace narrow = new SpillPlace(disk, DIRECTORY, "", false, 7, 1 << 20, 1_000, 99_500);
        try (Spill spill = open(narrow)) {
            assertThat(spill.append(batch(0), false)).isFalse();
        }
        assertThat(disk.files()).isEmpty();
    }

    @Test
    void what_was_acknowledged_is_told_from_what_was_not_and_the_latter_may_be_torn() {
        SimDisk disk = left(5, 2);
        assertThat(read(disk))
                .containsOnly(Leftover.ACKNOWLEDGED, Leftover.UNTOLD)
                .hasSize(7)
                .endsWith(Leftover.UNTOLD, Leftover.UNTOLD)
                .filteredOn(Leftover.ACKNOWLEDGED::equals)
                .hasSize(5);
        String last = disk.files().stream()
                .filter(name -> name.endsWith(".spill"))
                .max(String::compareTo)
                .orElseThrow();
        byte[] whole = disk.content(last);
        disk.put(last, Arrays.copyOf(whole, whole.length - 1));
        assertThat(read(disk)).hasSize(6);
    }

    /** Each byte of each file: the damage is named, or all that was acknowledged is read. */
    @Test
    void no_flipped_byte_and_no_cut_loses_what_was_acknowledged() {
        SimDisk good = left(5, 0);
        int[] told = new int[2];
        for (String name : List.copyOf(good.files())) {
            byte[] whole = good.content(name);
            for (int i = 0; i < 2 * whole.length; i++) {
                byte[] damaged =
                        i < whole.length ? whole.clone() : Arrays.copyOf(whole, i - whole.length);
                if (i < whole.length) {
                    damaged[i] ^= 0x5A;
                }
                SimDisk disk = left(5, 0);
                disk.put(name, damaged);
                try {
                    assertThat(read(disk)).as("%s %d", name, i).hasSize(5);
                    told[0]++;
                    assertThat(name).endsWith(SpillFormat.MARK);
                } catch (CorruptionException e) {
                    told[1]++;
                    assertThat(e.getMessage()).contains(name.substring(0, name.length() - 1));
                } catch (FormatVersionException e) {
                    assertThat(e.getMessage()).contains(name);
                }
            }
        }
        assertThat(told).doesNotContain(0);
    }

    @Test
    void damage_is_passed_over_only_when_somebody_says_so() {
        SimDisk disk = left(12, 0);
        String first = disk.files().stream()
                .filter(name -> name.endsWith(".spill"))
                .min(String::compareTo)
                .orElseThrow();
        disk.flipBit(first, 100, 3);
        assertThatThrownBy(() -> read(disk))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining(first)
                .hasMessageContaining(first.replace(".spill", ".skip"))
                .hasMessageContaining("acknowledged");
        disk.rename(first, first.replace(".spill", ".skip"));
        Batch batch = new Batch();
        List<String> lost = new ArrayList<>();
        try (Spill spill =
                Spill.open(place(disk, true, 1 << 20), (file, how) -> lost.add(file + " " + how))) {
            assertThat(spill.next(batch)).isTrue();
            assertThat(batch.follows()).isGreaterThan(SourcePosition.of(1));
        }
        assertThat(lost)
                .containsExactly(
                        first.replace(".spill", ".skip") + " is passed over, as its name says");
        disk.delete(first.replace(".spill", ".skip"));
        String second = disk.files().stream()
                .filter(name -> name.endsWith(".spill"))
                .skip(1)
                .findFirst()
                .orElseThrow();
        disk.delete(second);
        assertThatThrownBy(() -> open(place(disk, true, 1 << 20)))
                .isInstanceOf(CorruptionException.class)
                .hasMessageContaining(second + " is missing");
    }

    /** The bug: what its only segment had was gone without a word. */
    @Test
    void a_last_segment_that_is_missing_is_told_from_one_that_was_delivered() {
        for (int count : new int[] {1, 5, 12}) {
            SimDisk disk = left(count, 0);
            disk.files().stream()
                    .filter(name -> name.endsWith(".spill"))
                    .toList()
                    .forEach(disk::delete);
            assertThatThrownBy(() -> open(place(disk, true, 1 << 20)))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining(".spill is missing")
                    .hasMessageContaining("acknowledged");
        }
        SimDisk disk = left(5, 0);
        Spill spill = open(place(disk, true, 1 << 20));
        Batch batch = new Batch();
        while (spill.next(batch)) {
            spill.moved(1);
        }
        spill.release(sequence -> true);
        assertThat(disk.files())
                .containsExactlyInAnyOrder(DIRECTORY + "/MARK", DIRECTORY + ".open");
        SimDisk later = disk.crashImage(1);
        spill.close();
        assertThat(read(later)).isEmpty();
    }

    /** The bugs: the last one was passed over, and the oldest were missed, without a word. */
    @Test
    void what_somebody_goes_on_without_is_told_whichever_file_it_is() {
        List<String> whole = segments(left(12, 0));
        assertThat(whole.size()).isGreaterThan(2);
        for (String segment : whole) {
            SimDisk disk = left(12, 0);
            String skip = segment.replace(".spill", ".skip");
            disk.delete(segment);
            assertThatThrownBy(() -> open(place(disk, true, 1 << 20)))
                    .isInstanceOf(CorruptionException.class)
                    .hasMessageContaining(segment + " is missing");
            disk.put(skip, new byte[0]);
            assertThat(lost(disk)).containsExactly(skip + " is passed over, as its name says");
            assertThat(disk.files()).isEmpty();
        }
        SimDisk disk = left(12, 0);
        disk.delete(whole.get(0));
        disk.delete(whole.get(1));
        for (String segment : whole.subList(0, 2)) {
            assertThatThrownBy(() -> open(place(disk, true, 1 << 20)))
                    .hasMessageContaining(segment + " is missing");
            disk.put(segment.replace(".spill", ".skip"), new byte[0]);
        }
        assertThat(lost(disk)).hasSize(2);
    }

    @Test
    void the_oldest_that_is_delivered_is_not_missed_wherever_the_power_fails() {
        SimDisk disk = left(12, 0);
        List<SimDisk> cuts = new ArrayList<>();
        Batch batch = new Batch();
        Spill spill = open(place(disk, true, 1 << 20));
        for (int i = 0; spill.next(batch); i++) {
            spill.moved(i);
        }
        disk.onOperation(operation -> cuts.add(disk.crashImage(cuts.size())));
        for (int to = 0; to < 12; to++) {
            int taken = to;
            spill.release(sequence -> sequence <= taken);
        }
        spill.close();
        disk.onOperation(operation -> {});
        assertThat(cuts.size()).isGreaterThan(12);
        for (SimDisk cut : cuts) {
            assertThat(lost(cut)).isEmpty();
        }
    }

    @Test
    void a_directory_that_somebody_has_deleted_is_told_once() {
        SimDisk disk = left(2, 0);
        disk.files().stream()
                .filter(name -> name.startsWith(DIRECTORY + "/"))
                .toList()
                .forEach(disk::delete);
        disk.delete(DIRECTORY);
        assertThat(SpillPlace.isLeft(disk, "f")).isTrue();
        assertThat(lost(disk)).containsExactly(DIRECTORY + " was deleted");
        assertThat(lost(disk)).isEmpty();
        assertThat(SpillPlace.isLeft(disk, "f")).isFalse();
    }

    @Test
    void no_power_cut_looks_like_a_directory_that_somebody_has_deleted() {
        SimDisk disk = disk();
        List<SimDisk> cuts = new ArrayList<>();
        disk.onOperation(operation -> cuts.add(disk.crashImage(cuts.size())));
        try (Spill spill = open(place(disk, true, 1 << 20))) {
            assertThat(spill.append(batch(0), false)).isTrue();
            spill.acknowledge();
            assertThat(spill.next(new Batch())).isTrue();
            spill.moved(1);
            spill.release(sequence -> true);
        }
        disk.onOperation(operation -> {});
        assertThat(disk.files()).isEmpty();
        assertThat(cuts.size()).isGreaterThan(10);
        for (SimDisk cut : cuts) {
            assertThat(lost(cut)).isEmpty();
        }
    }

    /** A segment whose deletion a power cut took back is delivered already. */
    @Test
    void what_is_left_of_a_delivered_segment_may_be_torn() {
        SimDisk disk = left(2, 0);
        String segment = DIRECTORY + "/000000000001.spill";
        byte[] whole = disk.content(segment);
        Spill spill = open(place(disk, true, 1 << 20));
        Batch batch = new Batch();
        while (spill.next(batch)) {
            spill.moved(1);
        }
        spill.release(sequence -> true);
        SimDisk later = disk.crashImage(1);
        spill.close();
        later.put(segment, Arrays.copyOf(whole, whole.length - 1));
        assertThat(read(later)).containsExactly(Leftover.UNTOLD);
    }

    @Test
    void the_spill_of_another_feed_of_the_name_is_not_delivered() {
        SimDisk disk = left(2, 0);
        SpillPlace other = new SpillPlace(disk, DIRECTORY, "", true, 8, 1 << 20, 1_000, 0);
        try (Spill spill = open(other)) {
            assertThatThrownBy(() -> spill.next(new Batch()))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("another feed of this name");
        }
    }

    /** They share the directory that queries spill to. */
    @Test
    void feeds_whose_names_begin_alike_keep_their_files_apart() {
        SimDisk disk = disk();
        List<String> feeds = List.of("a", "a-", "a-b", "a-000000000001", "feed-a", "A");
        List<Spill> open = new ArrayList<>();
        for (String feed : feeds) {
            open.add(open(SpillPlace.swept(disk, "spill", feed, 1 << 20)));
        }
        for (int i = 0; i < feeds.size(); i++) {
            assertThat(open.get(i).append(batch(i), false)).isTrue();
        }
        assertThat(segments(disk)).hasSize(feeds.size());
        for (int i = 0; i < feeds.size(); i++) {
            Batch batch = new Batch();
            assertThat(open.get(i).next(batch)).isTrue();
            same(batch, i);
            assertThat(open.get(i).next(batch)).isFalse();
            open.get(i).close();
            // one that begins anew throws its own files away, and no other's
            open(SpillPlace.swept(disk, "spill", feeds.get(i), 1 << 20)).close();
            assertThat(segments(disk)).hasSize(feeds.size() - i - 1);
        }
        List<String> kept = feeds.stream()
                .map(feed -> SpillPlace.kept(disk, feed, "records", 1 << 20).directory())
                .toList();
        assertThat(kept).doesNotHaveDuplicates();
        assertThat(kept).noneMatch(name -> name.endsWith(SpillFormat.BESIDE_SUFFIX));
    }

    @Test
    void a_directory_that_nobody_may_write_to_is_named(@TempDir Path home) throws IOException {
        Path directory = Files.createDirectory(home.resolve(SpillPlace.DIRECTORY));
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("r-xr-xr-x"));
        assumeThat(Files.isWritable(directory)).as("root may").isFalse();
        Disk disk = RealDisk.open(home);
        try (Spill spill = open(SpillPlace.kept(disk, "f", "records", 1 << 20))) {
            assertThatThrownBy(() -> spill.append(batch(0), false))
                    .isInstanceOf(StorageIoException.class)
                    .hasMessageContaining(SpillPlace.DIRECTORY + "/f");
        }
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    void what_was_not_acknowledged_is_thrown_away_at_the_next_opening() {
        SimDisk disk = disk();
        Spill spill = open(place(disk, false, 1 << 20));
        assertThat(spill.append(batch(0), false)).isTrue();
        assertThat(disk.files()).hasSize(1);
        try (Spill next = open(place(disk, false, 1 << 20))) {
            assertThat(next.isEmpty()).isTrue();
            assertThat(disk.files()).isEmpty();
        }
        assertThatThrownBy(spill::close).isInstanceOf(StorageException.class);
    }

    @Test
    void the_bytes_are_those_of_version_1() {
        SimDisk disk = left(1, 0);
        byte[] segment = disk.content(DIRECTORY + "/000000000001.spill");
        byte[] mark = disk.content(DIRECTORY + "/MARK");
        assertThat(HexFormat.of().formatHex(segment, 64, segment.length)).isEqualTo(GOLDEN);
        assertThat(HexFormat.of().formatHex(mark, 512, mark.length).replaceAll("(00){200,}", ".."))
                .isEqualTo(GOLDEN_MARK);
        assertThat(SpillFormat.FRAME_HEADER_BYTES).isEqualTo(24);
        assertThat(SpillFormat.SLOT_BYTES).isEqualTo(32);
    }

    private static final String GOLDEN =
            "b62abe19f600000001000000000000000000000000000000000100000070ffff"
                    + "ffff080000000000000000000001630000000000000002000000000000000100"
                    + "0000000000000000000001000000000000000000000003000000000000000800"
                    + "00006e6f7420676f6f6402000000000000000300000004000000000000000000"
                    + "0000080000000800000000000000000000000000000000000000030000000000"
                    + "0000030000000000000000000400000001000304080000007b226964223a307d"
                    + "4a0000007b22736f75726365223a2270222c226c696e65223a332c226f666673"
                    + "6574223a302c22726561736f6e223a226e6f7420676f6f64222c22726177223a"
                    + "227b5c2269645c223a307d227d0a";
    private static final String GOLDEN_MARK =
            "..8764b7c800000000010000000000000001000000000000004e01000000000000";
}
