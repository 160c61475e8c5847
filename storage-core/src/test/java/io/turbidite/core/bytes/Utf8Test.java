package io.turbidite.core.bytes;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.Seeds;

import org.junit.jupiter.api.Test;

import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.SplittableRandom;

/** Our UTF-8 is that of the JDK's strict decoder, byte for byte. */
class Utf8Test {
    private static final long SEED = Seeds.of("Utf8Test");
    private static final String REPLAY = Seeds.replay("Utf8Test", SEED);

    private static boolean decodes(byte[] bytes) {
        try {
            var decoded = StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes));
            return decoded.limit() <= bytes.length;
        } catch (CharacterCodingException malformed) {
            return false;
        }
    }

    @Test
    void everyPairAndManyLongerSequencesAreJudgedLikeTheStrictDecoder() {
        for (int pair = 0; pair < 1 << 16; pair++) {
            assertJudgedAlike(new byte[] {(byte) (pair >> 8), (byte) pair});
        }
        // bytes at the borders of the ranges that the standard allows after each lead
        byte[] borders = {
            0x00,
            0x7F,
            (byte) 0x80,
            (byte) 0x8F,
            (byte) 0x90,
            (byte) 0x9F,
            (byte) 0xA0,
            (byte) 0xBF,
            (byte) 0xC0,
            (byte) 0xC1,
            (byte) 0xC2,
            (byte) 0xDF,
            (byte) 0xE0,
            (byte) 0xE1,
            (byte) 0xED,
            (byte) 0xEE,
            (byte) 0xEF,
            (byte) 0xF0,
            (byte) 0xF1,
            (byte) 0xF4,
            (byte) 0xF5,
            (byte) 0xFF
        };
        SplittableRandom random = new SplittableRandom(SEED);
        for (int i = 0; i < 200_000; i++) {
            byte[] bytes = new byte[random.nextInt(3, 80)];
            Arrays.fill(bytes, (byte) 'a');
            int at = random.nextInt(bytes.length);
            for (int end = Math.min(bytes.length, at + 4); at < end; at++) {
                bytes[at] = borders[random.nextInt(borders.length)];
            }
            assertJudgedAlike(bytes);
        }
    }

    private static void assertJudgedAlike(byte[] bytes) {
        if (Utf8.isValid(Slice.of(bytes)) != decodes(bytes)) {
            throw new AssertionError(REPLAY + ": " + Slice.of(bytes));
        }
    }

    @Test
    void theFirstBadByteIsNamed() {
        Slice text = Slice.of(new byte[] {'a', (byte) 0xC3, (byte) 0xA4, (byte) 0xC3});
        assertThat(Utf8.firstInvalid(text.segment(), text.offset(), text.length()))
                .isEqualTo(3);
    }

    @Test
    void aBadByteIsFoundWhereverItStandsAndNoneBesideTheText() {
        int offset = 3;
        for (int length = 0; length <= 40; length++) {
            byte[] bytes = new byte[offset + length + 9];
            Arrays.fill(bytes, (byte) 0xFF);
            Arrays.fill(bytes, offset, offset + length, (byte) 'a');
            MemorySegment around = MemorySegment.ofArray(bytes);
            assertThat(Utf8.firstInvalid(around, offset, length)).isEqualTo(-1);
            for (int at = 0; at < length; at++) {
                bytes[offset + at] = (byte) 0xFF;
                assertThat(Utf8.firstInvalid(around, offset, length)).isEqualTo(at);
                bytes[offset + at] = 'a';
            }
        }
    }

    @Test
    void charactersGoInAsTheJdkEncodesThem() {
        ByteSink sink = new ByteSink(16, 1 << 20);
        for (int point = 0; point <= Character.MAX_CODE_POINT; point++) {
            if (point < 0xD800 || point > 0xDFFF) {
                String text = "ab" + Character.toString(point) + "c";
                int byteCount = Utf8.append(sink.clear(), text);
                byte[] expected = text.getBytes(StandardCharsets.UTF_8);
                if (byteCount != expected.length
                        || !Arrays.equals(sink.asSlice(new Slice()).toByteArray(), expected)) {
                    throw new AssertionError("U+%X".formatted(point));
                }
            }
        }
    }

    @Test
    void aLoneSurrogateIsRefused() {
        ByteSink sink = new ByteSink(16, 1 << 20);
        for (String text : new String[] {"\uD800", "a\uDC00b", "\uD83D\uD83D\uDE00", "é\uD83D"}) {
            assertThatThrownBy(() -> Utf8.append(sink, text))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("lone surrogate");
        }
    }

    @Test
    void exactlyAsMuchRoomAsNeededIsEnough() {
        String text = "ä".repeat(10);
        assertThat(Utf8.append(new ByteSink(16, 20), text)).isEqualTo(20);
    }
}
