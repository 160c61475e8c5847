package io.turbidite.lsm.btree;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Bytes;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Numbers of any width come out of a column as they were put in, and nothing else is touched. */
class ColumnTest {
    private static final int LEAD = 8;

    private final SplittableRandom random = new SplittableRandom(Seeds.of("ColumnTest"));

    @Test
    void numbersOfEveryWidthComeBack() {
        for (int bits = 0; bits <= Long.SIZE; bits++) {
            if (!Column.isWidth(bits)) {
                continue;
            }
            for (int count : new int[] {1, 2, 7, 8, 9, 100}) {
                check(bits, count);
            }
        }
    }

    private void check(int bits, int count) {
        long[] numbers = new long[count];
        for (int i = 0; i < count; i++) {
            long mask = bits == 0 ? 0 : -1L >>> (Long.SIZE - bits);
            numbers[i] = (i % 3 == 0 ? -1L : random.nextLong()) & mask;
        }
        long bytes = Column.bytes(count, bits);
        MemorySegment segment = Arena.ofAuto().allocate(LEAD + bytes + 8, 8);
        segment.fill((byte) 0x55);
        Column.Writer writer = new Column.Writer();
        writer.begin(LEAD, bits);
        for (long number : numbers) {
            writer.put(segment, number);
        }
        assertThat(writer.end()).isEqualTo(LEAD + bytes);
        assertThat(segment.get(Bytes.I64, 0)).isEqualTo(0x5555555555555555L);
        // what is behind does not matter, and need not be there
        MemorySegment exact = segment.asSlice(0, LEAD + bytes);
        Column column = new Column();
        assertThat(column.wrap(LEAD, bits, count)).isEqualTo(LEAD + bytes);
        for (int i = 0; i < count; i++) {
            assertThat(column.at(exact, i)).isEqualTo(numbers[i]);
        }
        int from = random.nextInt(count);
        long[] target = new long[count];
        column.decode(exact, from, target, 0, count - from, 0, 0);
        for (int i = from; i < count; i++) {
            assertThat(target[i - from]).isEqualTo(numbers[i]);
        }
        int some = random.nextInt(count - from + 1);
        Arrays.fill(target, -7);
        column.decode(exact, from, target, count - some, some, 1_000, 3);
        for (int i = 0; i < count; i++) {
            int entry = from + i - (count - some);
            assertThat(target[i]).isEqualTo(entry < from ? -7 : 1_000 + (numbers[entry] << 3));
        }
    }

    @Test
    void aWidthHoldsItsLargestNumber() {
        assertThat(Column.bits(0)).isZero();
        assertThat(Column.bits(1)).isEqualTo(1);
        assertThat(Column.bits(255)).isEqualTo(8);
        assertThat(Column.bits((1L << 57) - 1)).isEqualTo(57);
        // eight bytes hold no more that begin in the middle of one
        assertThat(Column.bits(1L << 57)).isEqualTo(64);
        assertThat(Column.bits(-1L)).isEqualTo(64);
    }
}
