package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.feeds.web.http.Problem;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.zip.GZIPOutputStream;

/** How much comes out of a body. */
class UnpackingTest {
    private static final int PIECE_BYTES = 1 << 20;

    /** As many bytes of numbers, each once: they pack to some fifth. */
    private static byte[] packed(long byteCount) throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (GZIPOutputStream out = new GZIPOutputStream(packed)) {
            byte[] piece = new byte[PIECE_BYTES];
            for (int at = 0; at < piece.length; at += 8) {
                byte[] number = "%07d\n".formatted(at).getBytes(StandardCharsets.US_ASCII);
                System.arraycopy(number, 0, piece, at, number.length);
            }
            for (long left = byteCount; left > 0; left -= piece.length) {
                out.write(piece, 0, (int) Math.min(left, piece.length));
            }
        }
        return packed.toByteArray();
    }

    private static long unpack(byte[] packed) throws IOException {
        try (InputStream in = Unpacking.of("gzip", new ByteArrayInputStream(packed))) {
            return in.transferTo(OutputStream.nullOutputStream());
        }
    }

    /** Far below what the bound of the ratio is there for. */
    @Test
    void no_more_comes_out_than_may_whatever_went_in() throws IOException {
        byte[] most = packed(Unpacking.BYTES_MAX);
        assertThat(most.length).isGreaterThan((int) (Unpacking.BYTES_MAX / Unpacking.RATIO_MAX));
        assertThat(unpack(most)).isEqualTo(Unpacking.BYTES_MAX);
        byte[] tooMuch = packed(Unpacking.BYTES_MAX + 1);
        assertThatThrownBy(() -> unpack(tooMuch))
                .isInstanceOfSatisfying(
                        Problem.class, problem -> assertThat(problem.code()).isEqualTo(413))
                .hasMessageContaining(
                        "longer than %d bytes when it is unpacked".formatted(Unpacking.BYTES_MAX));
    }
}
