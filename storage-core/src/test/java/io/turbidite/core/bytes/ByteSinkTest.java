package io.turbidite.core.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;

class ByteSinkTest {
    @Test
    void a_range_of_any_length_is_put_whole_and_nothing_else_is() {
        byte[] source = new byte[100];
        for (int i = 0; i < source.length; i++) {
            source[i] = (byte) (i + 1);
        }
        for (int length = 0; length <= 80; length++) {
            ByteSink sink = new ByteSink(16, 1 << 10);
            sink.putByte(77).putBytes(MemorySegment.ofArray(source), 3, length).putByte(78);

            byte[] put = sink.asSlice(new Slice()).toByteArray();
            assertThat(put).hasSize(length + 2).startsWith((byte) 77).endsWith((byte) 78);
            assertThat(Arrays.copyOfRange(put, 1, length + 1))
                    .isEqualTo(Arrays.copyOfRange(source, 3, 3 + length));
        }
    }
}
