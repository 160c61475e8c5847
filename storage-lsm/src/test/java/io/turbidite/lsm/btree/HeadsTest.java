package io.turbidite.lsm.btree;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Searches in a column of heads find what a walk finds, wherever they start. */
class HeadsTest {
    private static final int LEAD = 24;

    private final SplittableRandom random = new SplittableRandom(Seeds.of("HeadsTest"));

    @Test
    void findsTheFirstHeadAtOrAbove() {
        for (int round = 0; round < 2_000; round++) {
            int count = random.nextInt(round % 10 == 0 ? 2_000 : 30);
            int width = round % 2 == 0 ? Heads.BYTES : 1 + random.nextInt(Heads.BYTES);
            int shift = Long.SIZE - Byte.SIZE * width;
            long[] heads = heads(count, round);
            MemorySegment bytes = bytes(heads, width);
            Heads column = new Heads().wrap(LEAD, width, count);
            for (int i = 0; i < 20; i++) {
                long cut = column.cut(wanted(heads));
                int expected = 0;
                while (expected < count
                        && Long.compareUnsigned(heads[expected] >>> shift, cut) < 0) {
                    expected++;
                }
                assertThat(column.lowerBound(bytes, cut, -1)).isEqualTo(expected);
                assertThat(column.lowerBound(bytes, cut, random.nextInt(count + 1)))
                        .isEqualTo(expected);
                if (expected < count) {
                    assertThat(column.at(bytes, expected)).isEqualTo(heads[expected] >>> shift);
                    int end = expected;
                    while (end < count && heads[end] >>> shift == heads[expected] >>> shift) {
                        end++;
                    }
                    assertThat(column.runEnd(bytes, expected)).isEqualTo(end);
                }
            }
        }
    }

    @Test
    void aCutHeadIsWholeAgainIfOnlyZerosWereCut() {
        MemorySegment bytes = bytes(new long[] {0x1234L << 48}, 2);
        Heads column = new Heads().wrap(LEAD, 2, 1);
        assertThat(column.whole(column.at(bytes, 0))).isEqualTo(0x1234L << 48);
    }

    @Test
    void theHeadOfAKeyIsItsFirstEightBytesBehindThePrefix() {
        for (int round = 0; round < 5_000; round++) {
            byte[] key = new byte[random.nextInt(30)];
            random.nextBytes(key);
            int prefixBytes = random.nextInt(key.length + 1);
            byte[] padded =
                    Arrays.copyOfRange(key, prefixBytes, Math.max(key.length, prefixBytes + 8));
            padded = Arrays.copyOf(padded, 8);
            long expected = MemorySegment.ofArray(padded).get(Bytes.I64_BE, 0);
            assertThat(Heads.of(Slice.of(key), prefixBytes)).isEqualTo(expected);
        }
    }

    private long[] heads(int count, int round) {
        long[] heads = switch (round % 4) {
            case 0 -> random.longs(count).toArray();
            case 1 -> random.longs(count, -3, 3).toArray();
            case 2 -> random.longs(count, 0, 1L + count * 2L).toArray();
            // a few far away from the many: guesses are wrong
            default ->
                random.longs(count)
                        .map(n -> random.nextInt(10) == 0 ? n : n & 0xFFF)
                        .toArray();
        };
        return Arrays.stream(heads)
                .map(n -> n ^ Long.MIN_VALUE)
                .sorted()
                .map(n -> n ^ Long.MIN_VALUE)
                .toArray();
    }

    private long wanted(long[] heads) {
        return switch (random.nextInt(8)) {
            case 0 -> random.nextLong();
            case 1 -> 0;
            case 2 -> -1;
            default ->
                heads.length == 0 ? 0 : heads[random.nextInt(heads.length)] + random.nextInt(3) - 1;
        };
    }

    private static MemorySegment bytes(long[] heads, int width) {
        MemorySegment bytes = Arena.ofAuto().allocate(LEAD + heads.length * 8L + 8, 8);
        bytes.fill((byte) 0xAA);
        for (int i = 0; i < heads.length; i++) {
            for (int j = 0; j < width; j++) {
                long cut = heads[i] >>> (Long.SIZE - Byte.SIZE * width);
                bytes.set(Bytes.U8, LEAD + (long) i * width + j, (byte) (cut >>> (8 * j)));
            }
        }
        return bytes;
    }
}
