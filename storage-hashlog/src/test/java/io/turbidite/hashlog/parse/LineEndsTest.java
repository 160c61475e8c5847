package io.turbidite.hashlog.parse;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.util.List;
import java.util.SplittableRandom;

class LineEndsTest {
    private static final long SEED = Seeds.of("LineEndsTest");
    private static final int BYTES = 700;

    private static List<ScanMode> modes() {
        return Parsed.modes();
    }

    private static long plain(byte[] bytes, int from, int to) {
        for (int i = from; i < to; i++) {
            if (bytes[i] == '\n') {
                return i;
            }
        }
        return to;
    }

    /** Of bytes that are near a newline's in every bit, and with newlines behind the end. */
    @ParameterizedTest
    @MethodSource("modes")
    void each_way_finds_what_a_look_at_each_byte_finds(ScanMode mode) {
        LineEnds ends = mode.newLineEnds();
        SplittableRandom random = new SplittableRandom(SEED);
        byte[] near = {0x0A, 0x0B, 0x08, 0x0E, 0x02, 0x1A, 0x2A, 0x4A, (byte) 0x8A, 0, (byte) 0xFF};
        try (Arena arena = Arena.ofConfined()) {
            for (int round = 0; round < 400; round++) {
                byte[] bytes = new byte[BYTES];
                int rarity = 1 << random.nextInt(1, 10);
                for (int i = 0; i < BYTES; i++) {
                    int chosen = random.nextInt(rarity) == 0 ? 0 : random.nextInt(1, near.length);
                    bytes[i] = near[chosen];
                }
                MemorySegment natively = arena.allocate(BYTES);
                MemorySegment.copy(bytes, 0, natively, ValueLayout.JAVA_BYTE, 0, BYTES);
                MemorySegment ofLongs = MemorySegment.ofArray(new long[BYTES / 8 + 1]);
                MemorySegment.copy(bytes, 0, ofLongs, ValueLayout.JAVA_BYTE, 0, BYTES);
                int from = random.nextInt(BYTES + 1);
                int to = random.nextInt(from, BYTES + 1);
                MemorySegment ofBytes = MemorySegment.ofArray(bytes);
                for (MemorySegment segment :
                        List.of(ofBytes, ofBytes.asReadOnly(), natively, ofLongs)) {
                    assertThat(ends.end(segment, from, to))
                            .as("round %d, %d to %d", round, from, to)
                            .isEqualTo(plain(bytes, from, to));
                }
            }
        }
    }
}
