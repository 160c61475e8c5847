package io.turbidite.core.bytes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.lang.foreign.MemorySegment;
import java.util.Arrays;
import java.util.HexFormat;

class VarintsTest {
    @ParameterizedTest
    @ValueSource(ints = {0, 1, 127, 128, 300, 16_383, 16_384, 1 << 21, 1 << 28, Integer.MAX_VALUE})
    void are_read_as_they_were_written_and_as_a_sink_writes_them(int value) {
        byte[] bytes = new byte[Varints.BYTES_MAX];
        MemorySegment segment = MemorySegment.ofArray(bytes);
        long end = Varints.put(segment, 0, value);
        assertEquals(Varints.bytes(value), end);
        assertEquals(value, Varints.get(segment, 0, end));
        assertEquals(Varints.NONE, Varints.get(segment, 0, end - 1));
        Slice sunk = new ByteSink(16, 16).putVarint(value).asSlice(new Slice());
        assertArrayEquals(sunk.toByteArray(), Arrays.copyOf(bytes, Math.toIntExact(end)));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "80", "8000", "ff00", "ffffffff08", "ffffffffff01", "8080808080"})
    void are_refused_where_nothing_would_have_written_them(String hex) {
        byte[] bytes = HexFormat.of().parseHex(hex);
        assertEquals(Varints.NONE, Varints.get(MemorySegment.ofArray(bytes), 0, bytes.length));
    }

    @Test
    void the_largest_takes_five_bytes() {
        assertEquals(Varints.BYTES_MAX, Varints.bytes(Integer.MAX_VALUE));
        assertEquals(1, Varints.bytes(0));
    }
}
