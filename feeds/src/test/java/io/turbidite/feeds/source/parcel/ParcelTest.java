package io.turbidite.feeds.source.parcel;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.RecordFramer;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.List;

class ParcelTest {
    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String text(Parcel parcel, int readBytes) {
        RecordFramer.Input input = parcel.input();
        byte[] read = new byte[100];
        int length = 0;
        while (true) {
            int count = input.read(read, length, Math.min(readBytes, read.length - length));
            if (count < 0) {
                return new String(read, 0, length, StandardCharsets.UTF_8);
            }
            length += count;
        }
    }

    @Test
    void the_last_piece_may_be_longer_than_the_text() {
        List<byte[]> pieces = List.of(bytes("one "), bytes("two "), bytes("three"));
        for (int readBytes = 1; readBytes < 20; readBytes++) {
            assertThat(text(Parcel.of(pieces, 10), readBytes)).isEqualTo("one two th");
            assertThat(text(Parcel.of(pieces, 8), readBytes)).isEqualTo("one two ");
            assertThat(text(Parcel.of(pieces), readBytes)).isEqualTo("one two three");
        }
        Parcel parcel = Parcel.of(pieces, 10).from("t", "p", 1);
        assertThat(parcel.byteCount()).isEqualTo(10);
        assertThat(parcel.heldBytes()).isEqualTo(13);
        assertThat(text(Parcel.of(List.of()), 7)).isEmpty();
    }

    @Test
    void a_text_ends_in_its_last_piece() {
        List<byte[]> pieces = List.of(bytes("one "), bytes("two "));
        for (long wrong : new long[] {-1, 0, 3, 9}) {
            assertThatThrownBy(() -> Parcel.of(pieces, wrong))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessage(
                            "a text of %d bytes does not end in the last of its pieces, of 8 bytes"
                                    .formatted(wrong));
        }
    }

    @Test
    void lines_end_where_it_is_said() {
        LineFramer lines = Parcel.ofLines(bytes("a\nb\nold\n"), 4, null, 7).lines();
        lines.end();
        assertThat(lines.next()).isTrue();
        assertThat(lines.frame().line()).isEqualTo(7);
        assertThat(lines.next()).isTrue();
        assertThat(lines.frame().bytes()[lines.frame().start()]).isEqualTo((byte) 'b');
        assertThat(lines.next()).isFalse();
    }
}
