package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/**
 * A batch does what its operations would do one after the other, or nothing: every sequence of up
 * to three of them on two keys, over every state that they may meet.
 */
class WriteBatchTest {
    private static final long SEED = 11;

    private enum Kind {
        UPSERT,
        INSERT,
        DELETE
    }

    /**
     * An operation of a sequence; {@code user} is what it writes, and has no meaning for a delete.
     */
    private record Op(Kind kind, long id, String user) {
        @Override
        public String toString() {
            return switch (kind) {
                case UPSERT -> "upsert %d=%s".formatted(id, user);
                case INSERT -> "insert %d=%s".formatted(id, user);
                default -> "delete %d".formatted(id);
            };
        }
    }

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);

    /** The operations on {@code keys} keys, whose records have one of two users. */
    private static List<Op> operations(int keys) {
        List<Op> all = new ArrayList<>();
        for (long id = 1; id <= keys; id++) {
            for (String user : List.of("a", "b")) {
                all.add(new Op(Kind.UPSERT, id, user));
                all.add(new Op(Kind.INSERT, id, user));
            }
            all.add(new Op(Kind.DELETE, id, ""));
        }
        return all;
    }

    /** All sequences of one to {@code most} operations. */
    private static List<List<Op>> sequences(List<Op> operations, int most) {
        List<List<Op>> all = new ArrayList<>();
        List<List<Op>> longest = List.of(List.of());
        for (int length = 1; length <= most; length++) {
            List<List<Op>> longer = new ArrayList<>();
            for (List<Op> sequence : longest) {
                for (Op next : operations) {
                    List<Op> appended = new ArrayList<>(sequence);
                    appended.add(next);
                    longer.add(appended);
                }
            }
            all.addAll(longer);
            longest = longer;
        }
        return all;
    }

    /**
     * What is there afterwards, one operation after the other; null if the whole is to be refused.
     */
    private static @Nullable Map<Long, String> expected(
            Map<Long, String> before, List<Op> sequence, boolean unique) {
        Map<Long, String> state = new TreeMap<>(before);
        for (Op op : sequence) {
            if (op.kind == Kind.DELETE) {
                state.remove(op.id);
            } else if (op.kind == Kind.INSERT && state.containsKey(op.id)) {
                return null;
            } else {
                state.put(op.id, op.user);
            }
        }
        boolean distinct = new HashSet<>(state.values()).size() == state.size();
        return unique && !distinct ? null : state;
    }

    private static Map<Long, String> state(Dataset dataset) {
        Map<Long, String> state = new TreeMap<>();
        SimStore.rows(dataset).forEach((id, row) -> state.put(id, row.user()));
        return state;
    }

    private static Map<String, Object> record(long id, String user) {
        return Map.of("id", id, "user", user, "body", "");
    }

    private static WriteBatch put(WriteBatch batch, Dataset dataset, List<Op> sequence) {
        RecordWriter writer = dataset.newRecordWriter();
        for (Op op : sequence) {
            switch (op.kind) {
                case UPSERT -> batch.upsert(dataset, writer.write(record(op.id, op.user)));
                case INSERT -> batch.insert(dataset, writer.write(record(op.id, op.user)));
                default ->
                    batch.delete(dataset, Slice.of(dataset.primaryKeySpec().encode(op.id)));
            }
        }
        return batch;
    }

    private static void bringTo(Dataset dataset, Map<Long, String> state, int keys) {
        for (long id = 1; id <= keys; id++) {
            dataset.delete(id);
        }
        state.forEach((id, user) -> dataset.upsert(record(id, user)));
    }

    private static void check(
            SimStore sim, Dataset dataset, Map<Long, String> before, List<Op> sequence) {
        boolean unique = !Inside.opened(dataset).uniqueIndexes().isEmpty();
        Map<Long, String> wanted = expected(before, sequence, unique);
        WriteBatch batch = put(sim.store.newBatch(), dataset, sequence);
        boolean refused = false;
        try {
            sim.store.write(batch);
        } catch (DuplicateKeyException taken) {
            refused = true;
        }
        assertThat(refused).as("%s over %s is refused", sequence, before).isEqualTo(wanted == null);
        assertThat(state(dataset))
                .as("%s over %s", sequence, before)
                .isEqualTo(Objects.requireNonNullElse(wanted, before));
    }

    @ParameterizedTest
    @EnumSource(Maintenance.class)
    void a_batch_does_what_its_operations_would_one_after_the_other(Maintenance maintenance) {
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.BUFFERED))) {
            Dataset dataset = sim.store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("user", "string?")
                    .primaryKey("id")
                    .mergePolicy(MergePolicySpec.parse("correlated-prefix"))
                    .maintenance(maintenance)
                    .index(IndexSpec.btree("by_user", "user")));
            for (boolean onDisk : new boolean[] {false, true}) {
                for (Map<Long, String> before : List.of(Map.<Long, String>of(), Map.of(1L, "a"))) {
                    for (List<Op> sequence : sequences(operations(1), 3)) {
                        bringTo(dataset, before, 1);
                        if (onDisk && sequence.size() == 2) {
                            dataset.flush();
                        }
                        check(sim, dataset, before, sequence);
                    }
                }
            }
            dataset.flush();
            sim.verify();
        }
    }

    @Test
    void the_same_with_a_unique_index_over_two_keys() {
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.BUFFERED))) {
            Dataset dataset = sim.store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("user", "string?")
                    .primaryKey("id")
                    .partitions(2)
                    .index(IndexSpec.btree("by_user", "user").asUnique()));
            List<Map<Long, String>> states =
                    List.of(Map.of(), Map.of(1L, "a"), Map.of(1L, "a", 2L, "b"));
            for (Map<Long, String> before : states) {
                for (List<Op> sequence : sequences(operations(2), 3)) {
                    bringTo(dataset, before, 2);
                    check(sim, dataset, before, sequence);
                }
            }
            dataset.flush();
            sim.verify();
        }
    }

    @Test
    void a_batch_that_was_refused_can_be_written_when_nothing_is_in_its_way_any_more() {
        try (SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.BUFFERED))) {
            Dataset dataset = sim.store.createDataset(
                    DatasetSpec.named("T").field("id", "int64").primaryKey("id"));
            for (List<Op> sequence : sequences(operations(1), 3)) {
                if (expected(Map.of(), sequence, false) == null) {
                    continue;
                }
                dataset.upsert(Map.of("id", 9L));
                List<Op> blocked = new ArrayList<>(sequence);
                blocked.add(new Op(Kind.INSERT, 9, "c"));
                WriteBatch batch = put(sim.store.newBatch(), dataset, blocked);
                dataset.delete(1L);
                assertThatThrownBy(() -> sim.store.write(batch))
                        .as("%s", blocked)
                        .isInstanceOf(DuplicateKeyException.class);
                dataset.delete(9L);
                sim.store.write(batch);
                assertThat(dataset.get(9L)).as("%s", blocked).isNotNull();
            }
        }
    }
}
