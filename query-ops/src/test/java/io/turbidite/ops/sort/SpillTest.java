package io.turbidite.ops.sort;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.run.Job;
import io.turbidite.ops.run.RowSink;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.Stage;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.SplittableRandom;

class SpillTest {
    private static final int MEMORY_BYTES = 64 << 10;

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final RunOptions spilling =
            RunOptions.defaults().withMemoryBytesMax(MEMORY_BYTES).withSpill(disk, "spill");

    @AfterEach
    void no_file_is_left() {
        disk.clearFaults();
        assertThat(disk.files()).isEmpty();
        assertThat(disk.openHandles()).isEmpty();
    }

    /** Keys in an order that is none, each with a row of its own. */
    private static List<String> keys(int count) {
        SplittableRandom random = new SplittableRandom(7);
        List<String> keys = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            keys.add("key %016x %d".formatted(random.nextLong(), i));
        }
        return keys;
    }

    /** Pushes the keys, each with itself as the row, through one sort. */
    private static List<String> sorted(List<String> keys, RunOptions options, long limit) {
        SortCollector collector = new SortCollector(options, options.memoryBytesMax(), limit);
        RowSink sink = new RowSink();
        OperatorMeter meter = new OperatorMeter();
        SortedSource source =
                new SortedSource(List.of(collector), limit, SortedSource.ALL, meter, sink);
        List<String> rows = new ArrayList<>();
        Slice row = new Slice();
        try (Job job = new Job(
                List.of(Stage.of(new Keys(keys, collector), collector), Stage.of(source, sink)),
                RunOptions.defaults())) {
            boolean more = true;
            while (more) {
                more = job.step();
                while (sink.next(row)) {
                    rows.add(row.toUtf8());
                }
            }
        }
        assertThat(meter.rows()).isEqualTo(rows.size());
        return rows;
    }

    /** The first stage: tuples of key and row. */
    private static final class Keys implements FrameSource {
        private final List<String> keys;
        private final FrameEmitter emitter;
        private int next;

        Keys(List<String> keys, FrameWriter target) {
            this.keys = keys;
            this.emitter = new FrameEmitter(target, 2, Long.MAX_VALUE);
        }

        @Override
        public void open() {
            next = 0;
        }

        @Override
        public boolean step() {
            while (next < keys.size()) {
                Slice key = Slice.of(keys.get(next++).getBytes(StandardCharsets.UTF_8));
                if (emitter.emit(new Slice[] {key, key})) {
                    return true;
                }
            }
            emitter.flush();
            return false;
        }

        @Override
        public void close() {
            next = keys.size();
        }
    }

    @Test
    void what_does_not_fit_is_sorted_through_runs_and_merged_in_passes() {
        List<String> keys = keys(20_000);
        assertThat(sorted(keys, spilling, SortCollector.ALL))
                .isEqualTo(keys.stream().sorted().toList());
    }

    @Test
    void the_first_few_need_no_more_than_memory() {
        List<String> keys = keys(20_000);
        RunOptions inMemory = RunOptions.defaults().withMemoryBytesMax(256 << 10);
        for (int limit : List.of(0, 1, 10, 511, 513, 1_000)) {
            assertThat(sorted(keys, inMemory, limit))
                    .isEqualTo(keys.stream().sorted().limit(limit).toList());
        }
    }

    @Test
    void the_first_many_spill_too() {
        List<String> keys = keys(20_000);
        assertThat(sorted(keys, spilling, 5_000))
                .isEqualTo(keys.stream().sorted().limit(5_000).toList());
    }

    @Test
    void without_a_place_to_spill_it_says_what_to_do() {
        RunOptions inMemory = RunOptions.defaults().withMemoryBytesMax(MEMORY_BYTES);
        assertThatThrownBy(() -> sorted(keys(20_000), inMemory, SortCollector.ALL))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll("65,536 bytes", "memoryBytesMax", "spill");
        assertThatThrownBy(() -> sorted(List.of("x".repeat(100_000)), spilling, SortCollector.ALL))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("100,000 bytes");
    }

    @Test
    void files_of_others_are_left_alone() {
        disk.createDirectories("spill");
        List<String> keys = keys(3_000);
        List<String> taken = new ArrayList<>();
        // the numbers go on from those of the other tests, so take a good many
        for (int i = 1; i < 2_000; i++) {
            disk.put("spill/run-%d.tmp".formatted(i), new byte[] {1});
            taken.add("spill/run-%d.tmp".formatted(i));
        }
        assertThat(sorted(keys, spilling, SortCollector.ALL))
                .isEqualTo(keys.stream().sorted().toList());
        assertThat(disk.files()).containsExactlyInAnyOrderElementsOf(taken);
        taken.forEach(disk::delete);
    }

    @Test
    void every_failure_of_the_disk_fails_the_query_and_leaves_nothing() {
        List<String> keys = keys(4_000);
        for (OperationKind kind : List.of(
                OperationKind.CREATE,
                OperationKind.OPEN,
                OperationKind.WRITE,
                OperationKind.READ,
                OperationKind.CREATE_DIRECTORY)) {
            FaultScript counting =
                    disk.fault(FaultScript.with(Fault.EIO).on(kind).call(0));
            sorted(keys, spilling, SortCollector.ALL);
            disk.clearFaults();
            for (int call = 1; call <= counting.matchCount(); call++) {
                disk.fault(FaultScript.with(Fault.EIO).on(kind).call(call));
                assertThatThrownBy(() -> sorted(keys, spilling, SortCollector.ALL))
                        .as("%s %d", kind, call)
                        .isInstanceOf(StorageIoException.class);
                disk.clearFaults();
                assertThat(disk.files()).isEmpty();
                assertThat(disk.openHandles()).isEmpty();
            }
        }
    }

    @Test
    void a_full_disk_is_an_error_of_its_own() {
        disk.capacity(100_000);
        assertThatThrownBy(() -> sorted(keys(20_000), spilling, SortCollector.ALL))
                .isInstanceOfSatisfying(
                        StorageIoException.class,
                        e -> assertThat(e.kind()).isEqualTo(StorageIoException.Kind.NO_SPACE));
    }

    /** A cut copies rows in another order, in which they may fit worse. */
    @Test
    void rows_of_all_lengths_are_cut_or_spilled() {
        for (int seed = 0; seed < 40; seed++) {
            SplittableRandom random = new SplittableRandom(seed);
            List<String> keys = new ArrayList<>();
            for (int i = 0; i < 200; i++) {
                int length = random.nextInt(4) == 0 ? random.nextInt(10_000) : random.nextInt(100);
                keys.add("%08x".formatted(random.nextInt()) + "x".repeat(length / 2));
            }
            int limit = 2 + random.nextInt(60);
            RunOptions options = spilling.withMemoryBytesMax(2 * MEMORY_BYTES);
            assertThat(sorted(keys, options, limit))
                    .as("seed %d, limit %d", seed, limit)
                    .isEqualTo(keys.stream().sorted().limit(limit).toList());
        }
    }
}
