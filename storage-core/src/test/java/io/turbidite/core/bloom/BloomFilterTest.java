package io.turbidite.core.bloom;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.dynatrace.hash4j.hashing.Hashing;

import io.turbidite.core.FormatVersionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;

import org.assertj.core.data.Percentage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.HashSet;
import java.util.HexFormat;
import java.util.Set;
import java.util.SplittableRandom;

class BloomFilterTest {
    private static final long GOLDEN_HASH = -6805142467423480918L;
    private static final String GOLDEN_BYTES =
            "5462424602000600010000000000000004000000000000000000000000000000"
                    + "0000000000000000000000000000000000000000000000000000000000000000"
                    + "0000000040200000004000000000600000000400408000402010400000000000"
                    + "4800000000000000000400082000080000000000000840000800000000002400";

    /** Hashes of the keys 0, 1, 2… as eight bytes: what a sequence gives after the hash. */
    private static long hashOf(long key) {
        return BloomFilter.hash(
                new Slice().set(MemorySegment.ofArray(new long[] {key}), 0, Long.BYTES));
    }

    private static BloomFilter filterOf(int keyCount, double rate) {
        BloomFilter.Builder builder = BloomFilter.builder(keyCount, rate);
        for (long key = 0; key < keyCount; key++) {
            builder.add(hashOf(key));
        }
        return builder.build();
    }

    private static double measuredRate(BloomFilter filter, long firstAbsent, int tests) {
        int passed = 0;
        for (long key = firstAbsent; key < firstAbsent + tests; key++) {
            passed += filter.mayContain(hashOf(key)) ? 1 : 0;
        }
        return (double) passed / tests;
    }

    @ParameterizedTest
    @CsvSource({"0.05, 200000", "0.01, 200000", "0.001, 2000000", "0.01, 2000000"})
    void the_false_positive_rate_is_within_a_fifth_of_the_asked_one(double rate, int tests) {
        int keys = 200_000;
        BloomFilter filter = filterOf(keys, rate);
        double measured = measuredRate(filter, keys, tests);
        assertThat(measured).isCloseTo(rate, Percentage.withPercentage(20));
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 2, 7, 100, 10_000, 100_000})
    void never_denies_a_key_that_was_added(int keys) {
        for (double rate : new double[] {0.5, 0.01, 1e-6}) {
            BloomFilter filter = filterOf(keys, rate);
            for (long key = 0; key < keys; key++) {
                assertThat(filter.mayContain(hashOf(key))).isTrue();
            }
            assertThat(filter.keyCount()).isEqualTo(keys);
            assertThat(filter.byteSize()).isEqualTo(BloomFilter.bytesFor(keys, rate));
        }
    }

    @Test
    void an_empty_filter_denies_everything() {
        BloomFilter filter = BloomFilter.builder(0, 0.01).build();
        assertThat(measuredRate(filter, 0, 1_000)).isZero();
    }

    @Test
    void extreme_hashes_stay_inside_the_filter() {
        for (long keys : new long[] {1, 10, 1_000_000}) {
            BloomFilter.Builder builder = BloomFilter.builder(keys, 0.01);
            long[] hashes = {0, -1, Long.MIN_VALUE, Long.MAX_VALUE, 0xFFFFFFFF00000000L, 1};
            for (long hash : hashes) {
                builder.add(hash);
            }
            BloomFilter filter = builder.build();
            for (long hash : hashes) {
                assertThat(filter.mayContain(hash)).isTrue();
            }
        }
    }

    @Test
    void twice_the_keys_miss_the_rate_but_nothing_else() {
        BloomFilter.Builder builder = BloomFilter.builder(10_000, 0.01);
        for (long key = 0; key < 20_000; key++) {
            builder.add(hashOf(key));
        }
        BloomFilter filter = builder.build();
        for (long key = 0; key < 20_000; key++) {
            assertThat(filter.mayContain(hashOf(key))).isTrue();
        }
        assertThat(measuredRate(filter, 20_000, 100_000)).isBetween(0.02, 0.25);
    }

    @Test
    void the_sizing_is_near_what_the_theory_asks_for_a_blocked_filter() {
        // a plain filter needs 9.6 bits a key at 1 % and 14.4 at 0.1 %
        assertThat(BloomSizing.forRate(0.01)).isEqualTo(BloomSizing.forRate(0.01));
        double onePercent = 512 / BloomSizing.forRate(0.01).keysPerBlock();
        double oneInThousand = 512 / BloomSizing.forRate(0.001).keysPerBlock();
        assertThat(onePercent).isBetween(9.6, 11.0);
        assertThat(oneInThousand).isBetween(14.4, 18.5);
        assertThat(BloomSizing.forRate(1e-6).probes()).isLessThanOrEqualTo(16);
    }

    @Test
    void a_rate_out_of_range_is_refused() {
        for (double rate : new double[] {0, -1, 1, 0.51, 1e-7, Double.NaN}) {
            assertThatThrownBy(() -> BloomFilter.builder(10, rate))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("false positive rate");
        }
    }

    @Test
    void the_hash_does_not_depend_on_where_the_bytes_lie() {
        byte[] bytes =
                "a key of some length, longer than 32 bytes".getBytes(StandardCharsets.UTF_8);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment native_ = arena.allocate(100);
            for (int length = 0; length <= bytes.length; length++) {
                long onHeap =
                        BloomFilter.hash(new Slice().set(MemorySegment.ofArray(bytes), 0, length));
                for (int offset = 0; offset < 9; offset++) {
                    MemorySegment.copy(bytes, 0, native_, Bytes.U8, offset, length);
                    assertThat(BloomFilter.hash(new Slice().set(native_, offset, length)))
                            .isEqualTo(onHeap);
                }
            }
        }
    }

    @Test
    void the_hash_is_that_of_the_words_or_else_the_library_s() {
        SplittableRandom random = new SplittableRandom(5);
        for (int i = 0; i < 20_000; i++) {
            byte[] bytes = new byte[i % 40];
            random.nextBytes(bytes);
            long hash = BloomFilter.hash(Slice.of(bytes));
            if (bytes.length <= 16) {
                MemorySegment padded = MemorySegment.ofArray(Arrays.copyOf(bytes, 16));
                long prefix = padded.get(Bytes.I64_BE, 0);
                long second = padded.get(Bytes.I64_BE, 8);
                assertThat(BloomFilter.hash(prefix, second, bytes.length)).isEqualTo(hash);
            } else {
                assertThat(hash).isEqualTo(Hashing.xxh3_64().hashBytesToLong(bytes));
            }
        }
    }

    @Test
    void keys_that_differ_in_trailing_zeros_differ_in_their_hash() {
        Set<Long> hashes = new HashSet<>();
        for (int length = 0; length <= 20; length++) {
            hashes.add(BloomFilter.hash(Slice.of(new byte[length])));
        }
        assertThat(hashes).hasSize(21);
    }

    @Test
    void a_filter_of_another_version_is_refused_with_both() {
        byte[] filter = filterBytes(10);
        filter[BloomFormat.VERSION_OFFSET] = 1;
        MemorySegment segment = MemorySegment.ofArray(toLongs(filter));
        assertThatThrownBy(() -> BloomFilter.over(segment, 0, filter.length, "component", 0))
                .isInstanceOf(FormatVersionException.class)
                .hasMessageContaining("version 1; this release reads version 2");
    }

    /** The hash and the bits are formats on disk: if this fails, old components deny their keys. */
    @Test
    void the_bytes_are_those_of_version_2() {
        assertThat(BloomFilter.hash(Slice.of(new byte[0]))).isEqualTo(0xD0A66A65C7528968L);
        assertThat(BloomFilter.hash(Slice.of("turbidite".getBytes(StandardCharsets.UTF_8))))
                .isEqualTo(GOLDEN_HASH);
        BloomFilter.Builder builder = BloomFilter.builder(20, 0.01);
        for (String key : new String[] {"a", "bc", "def", "turbidite"}) {
            builder.add(BloomFilter.hash(Slice.of(key.getBytes(StandardCharsets.UTF_8))));
        }
        byte[] bytes = builder.segment().toArray(Bytes.U8);
        assertThat(HexFormat.of().formatHex(bytes)).isEqualTo(GOLDEN_BYTES);
    }

    @Test
    void any_damaged_header_is_refused_or_harmless() {
        byte[] sound = filterBytes(1_000);
        SplittableRandom random = new SplittableRandom(3);
        for (int at = 0; at < BloomFormat.HEADER_BYTES; at++) {
            for (int bit = 0; bit < 8; bit++) {
                byte[] damaged = sound.clone();
                damaged[at] ^= (byte) (1 << bit);
                MemorySegment segment = MemorySegment.ofArray(toLongs(damaged));
                try {
                    BloomFilter filter =
                            BloomFilter.over(segment, 0, damaged.length, "component", 4_096);
                    // the probe count and the key count have other sound values; the file's
                    // checksum
                    // is what catches those
                    boolean probes =
                            at >= BloomFormat.PROBES_OFFSET && at < BloomFormat.BLOCK_COUNT_OFFSET;
                    boolean keyCount =
                            at >= BloomFormat.KEY_COUNT_OFFSET && at < BloomFormat.ZERO_OFFSET;
                    boolean unchecked = probes || keyCount;
                    assertThat(unchecked).as("byte %d bit %d", at, bit).isTrue();
                    filter.mayContain(random.nextLong());
                } catch (StorageException e) {
                    assertThat(e).hasMessageContaining("component");
                }
            }
        }
    }

    @Test
    void a_filter_of_the_wrong_length_is_refused() {
        byte[] sound = filterBytes(1_000);
        MemorySegment segment = MemorySegment.ofArray(toLongs(sound));
        for (int length = 0; length < sound.length; length++) {
            int cut = length;
            assertThatThrownBy(() -> BloomFilter.over(segment, 0, cut))
                    .isInstanceOf(StorageException.class);
        }
    }

    @Test
    void is_read_where_it_lies() {
        byte[] sound = filterBytes(1_000);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment file = arena.allocate(sound.length + 200, 64);
            MemorySegment.copy(sound, 0, file, Bytes.U8, 128, sound.length);
            BloomFilter filter = BloomFilter.over(file, 128, sound.length);
            for (long key = 0; key < 1_000; key++) {
                assertThat(filter.mayContain(hashOf(key))).isTrue();
            }
            assertThat(measuredRate(filter, 1_000, 20_000)).isLessThan(0.02);
        }
    }

    private static byte[] filterBytes(int keys) {
        BloomFilter.Builder builder = BloomFilter.builder(keys, 0.01);
        for (long key = 0; key < keys; key++) {
            builder.add(hashOf(key));
        }
        return builder.segment().toArray(Bytes.U8);
    }

    private static long[] toLongs(byte[] bytes) {
        return MemorySegment.ofArray(bytes).toArray(Bytes.I64);
    }
}
