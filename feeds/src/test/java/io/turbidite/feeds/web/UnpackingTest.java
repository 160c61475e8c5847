package io.turbidite.feeds.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.github.luben.zstd.Zstd;

import io.turbidite.feeds.web.http.Problem;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.atomic.AtomicInteger;
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

    /** The bug: a later member that was cut or damaged in its header counted as the end. */
    @Test
    void what_follows_a_member_is_a_whole_one_or_refused() throws IOException {
        byte[] member = packed(2_000);
        byte[] both = join(member, member, member.length);
        assertThat(unpack(both)).isEqualTo(4_000);
        assertThat(unpack(join(both, member, member.length))).isEqualTo(6_000);
        for (int cut = 1; cut < member.length; cut++) {
            checkRefused(join(member, member, cut), "cut to " + cut);
        }
        for (int at : new int[] {0, 1, 2, 3, member.length - 8, member.length - 1}) {
            byte[] damaged = both.clone();
            damaged[member.length + at] ^= 0x44;
            checkRefused(damaged, "damaged at " + at);
        }
        checkRefused(join(member, new byte[] {7}, 1), "one byte over");
        checkRefused(join(member, "some more text".getBytes(StandardCharsets.UTF_8), 14), "text");
        checkRefused(new byte[0], "nothing at all");
    }

    @ParameterizedTest
    @ValueSource(strings = {"gzip", "zstd"})
    void what_unpacks_is_closed_once_and_gives_nothing_more(String coding) throws IOException {
        AtomicInteger closed = new AtomicInteger();
        byte[] packed = coding.equals("gzip") ? packed(200_000) : Zstd.compress(new byte[200_000]);
        InputStream in = Unpacking.of(coding, new ByteArrayInputStream(packed) {
            @Override
            public void close() {
                closed.incrementAndGet();
            }
        });
        assertThat(in.readNBytes(1_000)).hasSize(1_000);
        in.close();
        in.close();
        assertThat(closed).hasValue(1);
    }

    private static byte[] join(byte[] first, byte[] second, int secondBytes) {
        byte[] joined = Arrays.copyOf(first, first.length + secondBytes);
        System.arraycopy(second, 0, joined, first.length, secondBytes);
        return joined;
    }

    private static void checkRefused(byte[] packed, String what) {
        assertThatThrownBy(() -> unpack(packed))
                .as(what)
                .isInstanceOfSatisfying(
                        Problem.class, problem -> assertThat(problem.code()).isEqualTo(400))
                .hasMessageStartingWith("the body is not gzip: ");
    }
}
