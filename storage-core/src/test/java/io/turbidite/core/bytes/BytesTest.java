package io.turbidite.core.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Comparing and cutting bytes by words is the same as doing it byte by byte. */
class BytesTest {
    private static final int ROUNDS = 50_000;
    private static final int LENGTH_MAX = 40;

    private final SplittableRandom random = new SplittableRandom(Seeds.of("BytesTest"));

    @Test
    void ranges_compare_as_unsigned_bytes_do() {
        for (int round = 0; round < ROUNDS; round++) {
            byte[] a = bytes();
            byte[] b =
                    random.nextBoolean() ? bytes() : Arrays.copyOf(a, random.nextInt(LENGTH_MAX));
            if (b.length > 0 && random.nextBoolean()) {
                b[random.nextInt(b.length)] ^= (byte) (1 << random.nextInt(8));
            }
            int from = random.nextInt(9);
            int to = random.nextInt(9);
            int order = Bytes.compare(at(from, a), from, a.length, at(to, b), to, b.length);
            assertThat(Integer.signum(order))
                    .as("%s and %s", Arrays.toString(a), Arrays.toString(b))
                    .isEqualTo(Integer.signum(Arrays.compareUnsigned(a, b)));
        }
    }

    @Test
    void a_prefix_is_the_first_eight_bytes_padded_with_zeros() {
        for (int round = 0; round < ROUNDS; round++) {
            byte[] bytes = bytes();
            long expected = 0;
            for (int i = 0; i < Long.BYTES; i++) {
                expected = expected << Byte.SIZE | (i < bytes.length ? bytes[i] & 0xFF : 0);
            }
            int from = random.nextInt(9);
            assertThat(Bytes.prefix(at(from, bytes), from, bytes.length))
                    .as(Arrays.toString(bytes))
                    .isEqualTo(expected);
        }
    }

    /** Few different bytes, so that many ranges begin alike; high ones too. */
    private byte[] bytes() {
        byte[] bytes = new byte[random.nextInt(LENGTH_MAX)];
        for (int i = 0; i < bytes.length; i++) {
            bytes[i] = (byte) (random.nextInt(3) * 0x7F);
        }
        return bytes;
    }

    /** A segment that ends with the bytes, so that a read behind them fails. */
    private static MemorySegment at(int from, byte[] bytes) {
        byte[] whole = new byte[from + bytes.length];
        Arrays.fill(whole, 0, from, (byte) 0xAA);
        System.arraycopy(bytes, 0, whole, from, bytes.length);
        return MemorySegment.ofArray(whole);
    }
}
