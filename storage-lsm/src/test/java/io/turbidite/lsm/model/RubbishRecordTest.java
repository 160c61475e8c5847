package io.turbidite.lsm.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.DuplicateKeyException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.BulkLoader;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.DuplicateKeys;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.WriteBatch;
import io.turbidite.lsm.harness.SimStore;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalTime;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;

/**
 * Bytes that no record writer made, given as records: refused as a bad request, or as good as a
 * record.
 */
class RubbishRecordTest {
    private static final long SEED = Seeds.of("RubbishRecordTest");

    private final SimDisk disk = new SimDisk(SEED, Profile.STRICT);
    private final SimStore sim = SimStore.open(disk, SEED, SimStore.options(Durability.SYNC));

    @AfterEach
    void close() {
        sim.close();
    }

    private static DatasetSpec base(String name) {
        return DatasetSpec.named(name)
                .field("id", "int64")
                .field("user", "string?")
                .field("amount", "decimal?")
                .field("open", "bool?")
                .field("hour", "time?")
                .field("at", "datetime?")
                .primaryKey("id")
                .partitions(1);
    }

    /** One dataset that checks keys of varying width, and one whose keys are all of fixed width. */
    private List<Dataset> datasets() {
        return List.of(
                sim.store.createDataset(base("Varying")
                        .filter("at")
                        .index(IndexSpec.btree("by_user", "user"))
                        .index(IndexSpec.btree("by_amount", "amount"))),
                sim.store.createDataset(
                        base("Fixed").filter("hour").index(IndexSpec.btree("by_open", "open"))),
                sim.store.createDataset(
                        base("Datetime").filter("at").index(IndexSpec.btree("by_at", "at"))));
    }

    private static byte[] sound(Dataset dataset, long id) {
        return dataset.newRecordWriter()
                .write(Map.of(
                        "id",
                        id,
                        "user",
                        "somebody",
                        "amount",
                        new BigDecimal("12.5"),
                        "open",
                        true,
                        "hour",
                        LocalTime.NOON,
                        "at",
                        Instant.EPOCH,
                        "more",
                        "of it"))
                .toByteArray();
    }

    private static Slice slice(byte[] bytes) {
        return new Slice().set(MemorySegment.ofArray(bytes), 0, bytes.length);
    }

    private static byte[] broken(byte[] sound, SplittableRandom random) {
        byte[] bytes = sound.clone();
        switch (random.nextInt(4)) {
            case 0 -> random.nextBytes(bytes);
            case 1 -> bytes = Arrays.copyOf(bytes, random.nextInt(bytes.length));
            case 2 -> bytes = Arrays.copyOf(bytes, bytes.length + 1 + random.nextInt(20));
            default -> {
                for (int flips = 1 + random.nextInt(3); flips > 0; flips--) {
                    bytes[random.nextInt(bytes.length)] ^= (byte) (1 << random.nextInt(8));
                }
            }
        }
        return bytes;
    }

    @Test
    void rubbish_is_refused_as_a_bad_request_and_the_store_goes_on() {
        SplittableRandom random = new SplittableRandom(SEED);
        int refused = 0;
        for (Dataset dataset : datasets()) {
            byte[] sound = sound(dataset, 1);
            for (int i = 0; i < 1_500; i++) {
                byte[] bytes = broken(sound, random);
                String replay =
                        Seeds.replay("RubbishRecordTest", SEED) + " " + Arrays.toString(bytes);
                try {
                    if (random.nextBoolean()) {
                        dataset.upsertRecord(slice(bytes));
                    } else {
                        sim.store.write(sim.store.newBatch().insert(dataset, slice(bytes)));
                    }
                } catch (DuplicateKeyException taken) {
                    assertThat(taken).hasMessageContaining(dataset.name());
                } catch (InvalidRequestException refusal) {
                    refused++;
                } catch (RuntimeException other) {
                    throw new AssertionError(replay, other);
                }
            }
            dataset.upsertRecord(slice(sound));
            assertThat(dataset.get(1L)).containsEntry("user", "somebody");
            dataset.flush();
        }
        assertThat(refused).isGreaterThan(1_000);
    }

    @Test
    void a_refusal_says_what_is_wrong_with_what_and_changes_nothing() {
        Dataset dataset = datasets().getFirst();
        byte[] sound = sound(dataset, 1);
        byte[] flagged = sound.clone();
        flagged[1] = 0x40;
        WriteBatch batch = sim.store.newBatch().upsert(dataset, slice(sound));
        assertThatThrownBy(() -> batch.upsert(dataset, slice(flagged)))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContainingAll("no record of Varying", "flags", "64");
        assertThat(batch.size()).isEqualTo(1);
        try (BulkLoader loader = dataset.bulkLoadUnsorted(DuplicateKeys.REFUSED)) {
            assertThatThrownBy(() -> loader.add(slice(flagged)))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("no record of Varying");
            loader.add(slice(sound));
            loader.finish();
        }
        assertThat(sim.store.verify().errors()).isEmpty();
        assertThat(dataset.get(1L)).containsEntry("user", "somebody");
    }
}
