package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.bloom.BloomFilter;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.cache.BufferCache;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.core.sim.Tier;
import io.turbidite.lsm.component.Entries.Entry;
import io.turbidite.lsm.sample.ComponentSample;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/** The sample of a primary's component: which entries are in it, and what damage does to it. */
class ComponentSampleTest {
    private static final ComponentHeader PRIMARY = new ComponentHeader(0x5EED_0001L, 17, 2, 1, 0);
    private static final String GOLDEN = "component-v6-sample.hex";

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final BufferCache cache = Components.cache(8 << 20);

    @AfterEach
    void close() {
        cache.close();
    }

    private void write(ComponentOptions options, Entries entries) {
        try (ComponentWriter writer =
                ComponentWriter.create(disk, Components.NAME, PRIMARY, options, entries.size())) {
            for (Entry entry : entries.sorted) {
                writer.add(
                        entry.keySlice(),
                        entry.timestamp(),
                        entry.antimatter(),
                        Slice.of(entry.value()));
            }
            writer.finish(entries.id(), Components.filter(), 1_000, 2_000);
        }
    }

    private DiskComponent open() {
        return DiskComponent.open(disk, Components.NAME, PRIMARY, cache);
    }

    private static ComponentOptions options() {
        return ComponentOptions.primary().withPageBytes(4_096);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Every tenth key is deleted, and every seventh has an older version below. */
    private static Entries entries(int count, int valueBytes) {
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            byte[] key = bytes("key%07d".formatted(i));
            boolean deleted = i % 10 == 0;
            byte[] value = bytes(("v" + i + "-").repeat(valueBytes).substring(0, valueBytes));
            entries.add(new Entry(key, 1_000_000 + i, deleted, deleted ? new byte[0] : value));
            if (i % 7 == 0) {
                entries.add(new Entry(key, i, false, bytes("older")));
            }
        }
        return Entries.of(entries);
    }

    /** By the hash under which a sample knows a key. */
    private static Map<Long, Entry> newestByHash(Entries entries) {
        Map<Long, Entry> newest = new HashMap<>();
        for (Entry entry : entries.sorted) {
            newest.putIfAbsent(BloomFilter.hash(entry.keySlice()) * 0x9E37_79B9_7F4A_7C15L, entry);
        }
        return newest;
    }

    private static void isOf(ComponentSample sample, Entries entries) {
        Map<Long, Entry> newest = newestByHash(entries);
        long wanted = newest.keySet().stream()
                .filter(hash -> Long.compareUnsigned(hash, sample.bound()) <= 0)
                .count();
        assertThat(sample.count()).isEqualTo((int) wanted);
        for (int i = 0; i < sample.count(); i++) {
            Entry entry = Objects.requireNonNull(newest.get(sample.mixedHash(i)));
            assertThat(sample.isAntimatter(i)).isEqualTo(entry.antimatter());
            if (!entry.antimatter()) {
                assertThat(sample.isRecord(i)).isTrue();
                assertThat(sample.value(i, new Slice()).toByteArray()).isEqualTo(entry.value());
            }
        }
    }

    @Test
    void it_has_the_newest_version_of_each_key_below_its_bound_and_no_other() {
        Entries entries = entries(30_000, 300);
        write(options(), entries);
        try (DiskComponent component = open()) {
            ComponentSample sample = Objects.requireNonNull(component.sample());
            isOf(sample, entries);
            assertThat(component.space().sample())
                    .as("of %d bytes", component.bytes())
                    .isBetween(component.bytes() / 240, component.bytes() / 205);
            assertThat(Components.verify(component)).isEmpty();
            ComponentSample narrow = sample.narrowed(sample.bound() >>> 2);
            isOf(narrow, entries);
            assertThat(narrow.count()).isBetween(1, sample.count() / 2);
        }
    }

    @Test
    void neither_size_nor_length_of_records_makes_it_larger_than_its_share() {
        SplittableRandom random = new SplittableRandom(Seeds.of("ComponentSampleTest"));
        for (int round = 0; round < Tier.count(12, 30, 200); round++) {
            Entries entries =
                    entries(1 + random.nextInt(4_000), 1 + random.nextInt(6_000 / (1 + round)));
            write(options(), entries);
            try (DiskComponent component = open()) {
                ComponentSample sample = component.sample();
                if (sample != null) {
                    isOf(sample, entries);
                }
                assertThat(component.space().sample())
                        .isLessThanOrEqualTo(component.bytes() / 212 + 256 + 64);
                assertThat(Components.verify(component)).isEmpty();
            }
            disk.delete(Components.NAME);
        }
    }

    @Test
    void a_record_that_is_too_long_is_counted_and_not_kept() {
        List<Entry> all = new ArrayList<>();
        for (int i = 0; i < 3_000; i++) {
            all.add(new Entry(
                    bytes("key%07d".formatted(i)),
                    1_000 + i,
                    false,
                    new byte[i % 2 == 0 ? 5_000 : 50]));
        }
        write(options(), Entries.of(all));
        try (DiskComponent component = open()) {
            ComponentSample sample = Objects.requireNonNull(component.sample());
            int kept = 0;
            for (int i = 0; i < sample.count(); i++) {
                assertThat(sample.isAntimatter(i)).isFalse();
                if (sample.isRecord(i)) {
                    assertThat(sample.value(i, new Slice()).length()).isEqualTo(50);
                    kept++;
                }
            }
            assertThat(sample.count()).isGreaterThan(200);
            assertThat((double) kept / sample.count()).isBetween(0.4, 0.6);
        }
    }

    @Test
    void the_archived_file_is_read_and_still_written() throws IOException {
        Entries entries = entries(300, 20);
        write(options(), entries);
        String written = HexFormat.of().formatHex(disk.content(Components.NAME));
        if (Boolean.getBoolean("golden.print")) {
            System.out.println(GOLDEN + "\n" + written);
            return;
        }
        assertThat(written).isEqualTo(ComponentFormatTest.golden(GOLDEN));
        try (DiskComponent component = open()) {
            ComponentSample sample = Objects.requireNonNull(component.sample());
            assertThat(sample.count()).isGreaterThan(3);
            isOf(sample, entries);
        }
    }

    @Test
    void each_damaged_bit_is_found_and_costs_no_record() {
        Entries entries = entries(300, 20);
        write(options(), entries);
        byte[] sound = disk.content(Components.NAME);
        int from;
        int bytes;
        try (DiskComponent component = open()) {
            from = (int) component.meta().sections().sample().fileOffset();
            bytes = (int) component.meta().sections().sample().bytes();
        }
        assertThat(bytes).isGreaterThan(100);
        for (int bit = 0; bit < 8 * bytes; bit++) {
            byte[] damaged = sound.clone();
            damaged[from + bit / 8] ^= (byte) (1 << bit % 8);
            disk.delete(Components.NAME);
            disk.put(Components.NAME, damaged);
            List<CorruptionException> told = new ArrayList<>();
            try (DiskComponent component = open().reportingTo(told::add)) {
                assertThat(Components.verify(component))
                        .singleElement()
                        .asString()
                        .contains("sample");
                assertThat(told).as("verification tells for itself").isEmpty();
                assertThatThrownBy(component::sample).isInstanceOf(CorruptionException.class);
                assertThat(told).hasSize(1);
                assertThat(component.isOpen()).isTrue();
                if (bit % 64 == 0) {
                    try (var cursor = component.cursor()) {
                        int count = 0;
                        while (cursor.next()) {
                            count++;
                        }
                        assertThat(count).isEqualTo(entries.size());
                    }
                }
            }
        }
    }

    /** Forged samples with right checksums: an error or a sample, and nothing else. */
    @Test
    void what_no_writer_would_write_is_refused() {
        write(options(), entries(300, 20));
        byte[] payload;
        try (DiskComponent component = open()) {
            var section = component.meta().sections().sample();
            payload = Arrays.copyOfRange(
                    disk.content(Components.NAME),
                    (int) section.fileOffset() + Block.HEADER_BYTES,
                    (int) (section.fileOffset() + section.bytes()));
        }
        assertThat(problem(payload)).isNull();
        assertThat(problem(new byte[0])).contains("0 bytes");
        assertThat(problem(Arrays.copyOf(payload, payload.length - 1))).isNotNull();
        assertThat(problem(Arrays.copyOf(payload, payload.length + 1))).isNotNull();
        for (int at = 0; at < 16; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] forged = payload.clone();
                forged[at] ^= (byte) (1 << bit);
                // a higher bound promises more than there is; nobody can see that
                if (!isRaised(payload, forged)) {
                    assertThat(problem(forged)).as("bit %d of byte %d", bit, at).isNotNull();
                }
            }
        }
        SplittableRandom random = new SplittableRandom(Seeds.of("ComponentSampleTest.forged"));
        for (int i = 0; i < Tier.count(20_000, 100_000, 1_000_000); i++) {
            byte[] forged = payload.clone();
            for (int n = 1 + random.nextInt(4); n > 0; n--) {
                forged[random.nextInt(forged.length)] = (byte) random.nextInt(256);
            }
            if (problem(forged) == null) {
                ComponentSample sample = ComponentSample.of(MemorySegment.ofArray(forged));
                for (int entry = 0; entry < sample.count(); entry++) {
                    assertThat(sample.value(entry, new Slice()).toByteArray()).isNotNull();
                }
            }
        }
    }

    private static boolean isRaised(byte[] payload, byte[] forged) {
        long before = ByteBuffer.wrap(payload).order(ByteOrder.LITTLE_ENDIAN).getLong();
        long after = ByteBuffer.wrap(forged).order(ByteOrder.LITTLE_ENDIAN).getLong();
        return Long.compareUnsigned(after, before) > 0;
    }

    private static @Nullable String problem(byte[] payload) {
        return ComponentSample.problem(MemorySegment.ofArray(payload));
    }
}
