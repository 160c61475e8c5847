package io.turbidite.core.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.SplittableRandom;

class ByteSearchTest {
    /** Bytes beside those that are wanted are those that a borrow could make look so. */
    private static final byte[] NEAR = {
        '\n', '\n' + 1, '\n' - 1, '"', '"' + 1, '!', '\\', ']', '[', ' ', 0x1F, 0, 1, 'a', 127,
        -128, -1
    };

    @Test
    void what_is_found_is_what_looking_at_each_byte_finds() {
        SplittableRandom random = new SplittableRandom(4);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(40)];
            int nearMax = random.nextInt(1, NEAR.length + 1);
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = random.nextInt(4) == 0 ? NEAR[random.nextInt(nearMax)] : (byte) 'x';
            }
            int from = random.nextInt(bytes.length + 1);
            int to = random.nextInt(from, bytes.length + 1);
            int lineEnd = from;
            while (lineEnd < to && bytes[lineEnd] != '\n') {
                lineEnd++;
            }
            int textEnd = from;
            while (textEnd < to && isPlain(bytes[textEnd])) {
                textEnd++;
            }
            assertThat(ByteSearch.lineEnd(bytes, from, to)).isEqualTo(lineEnd);
            assertThat(ByteSearch.plainTextEnd(bytes, from, to)).isEqualTo(textEnd);
        }
    }

    private static boolean isPlain(byte b) {
        return b < 0 || (b >= ' ' && b != '"' && b != '\\');
    }
}
