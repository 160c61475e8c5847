package io.turbidite.core.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import com.dynatrace.hash4j.hashing.Hashing;

import org.junit.jupiter.api.Test;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.util.Random;

class Xxh3Test {
    /**
     * What the library says of the same bytes in an array, for each length up to past its longest
     * block.
     */
    @Test
    void a_segment_hashes_as_its_bytes_do() {
        byte[] bytes = new byte[2_100];
        new Random(1).nextBytes(bytes);
        try (Arena arena = Arena.ofConfined()) {
            MemorySegment segment = arena.allocate(bytes.length + 3);
            for (int at = 0; at <= 3; at += 3) {
                MemorySegment.copy(bytes, 0, segment, Bytes.U8, at, bytes.length);
                for (int length = 0; length <= bytes.length; length++) {
                    assertThat(Xxh3.hash(segment, at, length))
                            .as("%d bytes at %d", length, at)
                            .isEqualTo(Hashing.xxh3_64().hashBytesToLong(bytes, 0, length))
                            .isEqualTo(Xxh3.hash(bytes, 0, length));
                }
            }
        }
    }
}
