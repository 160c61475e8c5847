package io.turbidite.feeds.web;

import com.github.luben.zstd.ZstdIOException;
import com.github.luben.zstd.ZstdInputStreamNoFinalizer;

import io.turbidite.feeds.web.http.Problem;

import org.jspecify.annotations.Nullable;

import java.io.EOFException;
import java.io.FilterInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.Locale;
import java.util.zip.ZipException;

/**
 * Undoes a body's content coding, within bounds of what comes out, by itself and for what went
 * in: a small body may hold a huge one. <em>Confined to one thread.</em>
 */
final class Unpacking extends FilterInputStream {
    /** Of what comes out. */
    static final long BYTES_MAX = BodyBudget.BYTES_MAX;

    /** Bytes that come out for one that goes in; JSON lines have 5 to 20. */
    static final long RATIO_MAX = 100;

    /** The largest window that clients may ask memory for: 8 MiB (RFC 9659). */
    private static final int ZSTD_WINDOW_LOG_MAX = 23;

    /** So much may come out at any ratio. */
    static final long FREE_BYTES = 1 << 20;

    private final String coding;
    private final Counted packed;
    private long byteCount;

    private Unpacking(String coding, InputStream unpacked, Counted packed) {
        super(unpacked);
        this.coding = coding;
        this.packed = packed;
    }

    /** Knows how much went in. */
    private static final class Counted extends FilterInputStream {
        private long byteCount;

        Counted(InputStream in) {
            super(in);
        }

        @Override
        public int read() throws IOException {
            int one = super.read();
            byteCount += one < 0 ? 0 : 1;
            return one;
        }

        @Override
        public int read(byte[] bytes, int offset, int length) throws IOException {
            int count = super.read(bytes, offset, length);
            byteCount += Math.max(0, count);
            return count;
        }
    }

    /**
     * The body as it was before it was packed.
     *
     * @param coding the header Content-Encoding; null: none
     * @throws Problem with 415 if the coding is another one, with 400 if the body is not of it
     */
    static InputStream of(@Nullable String coding, InputStream body) throws IOException {
        String name = coding == null ? "identity" : coding.strip().toLowerCase(Locale.ROOT);
        return switch (name) {
            case "identity" -> body;
            case "gzip" -> {
                Counted packed = new Counted(body);
                yield new Unpacking(name, new GzipBody(packed), packed);
            }
            case "zstd" -> zstd(name, new Counted(body));
            default ->
                throw Problem.of(
                        415,
                        "the server knows the content codings gzip and zstd, not '%s'"
                                .formatted(name));
        };
    }

    private static Unpacking zstd(String name, Counted packed) throws IOException {
        try {
            return new Unpacking(
                    name,
                    new ZstdInputStreamNoFinalizer(packed).setLongMax(ZSTD_WINDOW_LOG_MAX),
                    packed);
        } catch (LinkageError e) {
            throw Problem.of(
                    415, "for the content coding zstd the server lacks the artifact zstd-jni");
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        int count;
        try {
            count = super.read(bytes, offset, length);
        } catch (ZipException | EOFException | ZstdIOException e) {
            throw broken(coding, e);
        }
        byteCount += Math.max(0, count);
        if (byteCount > BYTES_MAX) {
            throw Problem.of(
                            413,
                            "the body is longer than %d bytes when it is unpacked"
                                    .formatted(BYTES_MAX))
                    .advise("send it in several requests");
        }
        if (byteCount > FREE_BYTES && byteCount > RATIO_MAX * packed.byteCount) {
            throw Problem.of(
                    413,
                    "the body is more than %d times as long when it is unpacked"
                            .formatted(RATIO_MAX));
        }
        return count;
    }

    private static Problem broken(String coding, IOException cause) {
        String why = cause instanceof EOFException
                ? "it ends too early" // and the exception says nothing
                : String.valueOf(cause.getMessage());
        return Problem.of(400, "the body is not %s: %s".formatted(coding, why));
    }
}
