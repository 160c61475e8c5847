package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.log.Durability;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordRun;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.harness.SimStore;
import io.turbidite.lsm.merge.MergePolicySpec;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;
import java.util.Iterator;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * Runs over keys whose first bytes tell little: they begin alike, are longer than what is compared
 * at once, or one is another with zeros behind it. Against ends of ranges and newer layers.
 */
class RecordRunKeysTest {
    private static final long SEED = Long.getLong("turbidite.seed", 11);
    private static final int COUNT = 1_000;
    private static final int RANGES = 100;

    private final SplittableRandom random = new SplittableRandom(SEED);
    private final TreeMap<byte[], Long> expected = new TreeMap<>(Arrays::compareUnsigned);
    private final RecordRun run = new RecordRun();
    private final Slice bytes = new Slice();
    private String rest = "";
    private long records;
    private long moves;

    /**
     * @param shared characters that all keys begin with
     * @param min length of the shortest keys, in characters
     * @param letters of which the rest is made, Z for zeros; without these keys of one length stay
     *     so when they are encoded
     */
    @ParameterizedTest
    @CsvSource({
        "0,14,24,ZZab",
        "8,14,24,ZZab",
        "8,14,16,ZZab",
        "12,17,24,ZZab",
        "14,14,24,ZZab",
        "16,16,24,ZZab",
        "8,14,14,abcd",
        "8,15,15,Zabcdefgh",
        "11,15,15,0123456789",
        "12,16,16,0123456789",
        "10,14,16,0123456789",
        "16,20,20,0123456789"
    })
    void no_record_is_missed_or_shown_beyond_the_end(int shared, int min, int max, String letters) {
        rest = letters.replace('Z', '\0');
        try (SimStore sim = SimStore.open(
                new SimDisk(SEED, Profile.STRICT),
                SEED,
                SimStore.options(Durability.BUFFERED).withCacheBytes(16 << 20))) {
            Dataset dataset = sim.store.createDataset(DatasetSpec.named("T")
                    .field("id", "string")
                    .field("value", "int64")
                    .primaryKey("id")
                    .mergePolicy(MergePolicySpec.parse("no-merge"))
                    .partitions(1));
            write(dataset, COUNT, shared, min, max);
            int newer = min == max ? COUNT / 100 : COUNT / 2;
            write(dataset, newer, shared, min, max);
            overwrite(dataset, newer);
            dataset.flush();
            try (ReadView view = dataset.openView()) {
                check(view, dataset, null, null);
                for (int i = 0; i < RANGES; i++) {
                    check(view, dataset, random.nextInt(4) == 0 ? bound() : null, bound());
                }
            }
        }
        // with the end of the string sixteen bytes hold a key
        if (min == max && max < 16 && rest.indexOf(0) < 0) {
            assertThat(records).isGreaterThan(8 * moves);
        }
    }

    private void write(Dataset dataset, int count, int shared, int min, int max) {
        for (int i = 0; i < count; i++) {
            String id = id(shared, min + random.nextInt(max - min + 1));
            upsert(dataset, id);
            if (rest.indexOf(0) >= 0 && id.length() < max && random.nextInt(4) == 0) {
                upsert(dataset, id + "\0");
            }
        }
        dataset.flush();
    }

    private void overwrite(Dataset dataset, int count) {
        byte[][] keys = expected.keySet().toArray(new byte[0][]);
        for (int i = 0; i < count; i++) {
            byte[] key = keys[random.nextInt(keys.length)];
            String id = String.valueOf(
                    dataset.primaryKeySpec().decode(Slice.of(key), 0).getFirst());
            if (random.nextInt(3) == 0) {
                dataset.delete(id);
                expected.remove(key);
            } else {
                upsert(dataset, id);
            }
        }
    }

    /** Of few characters, often with many zeros. */
    private String id(int shared, int length) {
        StringBuilder id = new StringBuilder("flight-of-an-albatross".substring(0, shared));
        while (id.length() < length) {
            id.append(rest.charAt(random.nextInt(rest.length())));
        }
        return id.toString();
    }

    private void upsert(Dataset dataset, String id) {
        long value = random.nextLong();
        dataset.upsert(Map.of("id", id, "value", value));
        expected.put(dataset.primaryKeySpec().encode(id), value);
    }

    /** A key that is there, one that begins it, or one that it begins. */
    private byte[] bound() {
        byte[][] keys = expected.keySet().toArray(new byte[0][]);
        byte[] key = keys[random.nextInt(keys.length)];
        return switch (random.nextInt(4)) {
            case 0 -> key;
            case 1 -> Arrays.copyOf(key, random.nextInt(key.length + 1));
            case 2 -> Arrays.copyOf(key, key.length + 1 + random.nextInt(3)); // zeros
            default -> {
                byte[] above = Arrays.copyOf(key, 1 + random.nextInt(key.length));
                above[above.length - 1]++;
                yield above;
            }
        };
    }

    private void check(
            ReadView view, Dataset dataset, byte @Nullable [] low, byte @Nullable [] high) {
        if (low != null && high != null && Arrays.compareUnsigned(low, high) > 0) {
            check(view, dataset, high, low);
            return;
        }
        TreeMap<byte[], Long> shown = new TreeMap<>(Arrays::compareUnsigned);
        shown.putAll(low == null ? expected : expected.tailMap(low, true));
        if (high != null) {
            shown.tailMap(high, true).clear();
        }
        RecordView record = new RecordView(dataset.type());
        Iterator<Map.Entry<byte[], Long>> left = shown.entrySet().iterator();
        try (RecordStream stream = view.scan(0, KeyRange.of(low, high), FilterPredicate.none())) {
            while (stream.nextRun(run)) {
                moves++;
                records += run.count();
                for (int i = 0; i < run.count(); i++) {
                    assertThat(left.hasNext())
                            .as("shown up to %s", Arrays.toString(high))
                            .isTrue();
                    Map.Entry<byte[], Long> next = left.next();
                    record.wrap(run.record(i, bytes));
                    assertThat(dataset.primaryKeySpec().encode(record.get(0)))
                            .isEqualTo(next.getKey());
                    assertThat(record.getLong(1)).isEqualTo(next.getValue());
                }
            }
        }
        assertThat(left.hasNext()).as("missed up to %s", Arrays.toString(high)).isFalse();
    }
}
