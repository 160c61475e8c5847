package io.turbidite.feeds.avro;

import com.github.luben.zstd.ZstdInputStream;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.feeds.parse.MalformedFrameException;

import org.apache.commons.compress.compressors.bzip2.BZip2CompressorInputStream;
import org.tukaani.xz.XZInputStream;
import org.xerial.snappy.Snappy;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.zip.CRC32;
import java.util.zip.Inflater;
import java.util.zip.InflaterInputStream;

/**
 * Unpacks the blocks of one file. What a block unpacks to is bounded by {@value
 * ObjectFileCutter#BLOCK_BYTES_MAX} bytes while it is unpacked. <em>Confined to one thread.</em>
 */
final class BlockCodec {
    /** What xz may need for its dictionary: levels up to 9 have 64 MiB. */
    private static final int XZ_KIB_MAX = 100 << 10;

    private static final int INITIAL_BYTES = 64 << 10;

    /** Opens a block's content. */
    @FunctionalInterface
    private interface Opener {
        InputStream open(InputStream packed) throws IOException;
    }

    private enum Name {
        NULL("null", ""),
        DEFLATE("deflate", ""),
        SNAPPY("snappy", "org.xerial.snappy:snappy-java"),
        ZSTANDARD("zstandard", "com.github.luben:zstd-jni"),
        BZIP2("bzip2", "org.apache.commons:commons-compress"),
        XZ("xz", "org.tukaani:xz");

        private final String word;
        private final String library;

        Name(String word, String library) {
            this.word = word;
            this.library = library;
        }
    }

    /** By itself: who verifies it looks for the library's class, which may be missing. */
    private static final class Xz {
        static InputStream open(InputStream packed) throws IOException {
            return new XZInputStream(packed, XZ_KIB_MAX);
        }
    }

    private final Name name;
    private byte[] unpacked = new byte[0];
    private int length;

    private BlockCodec(Name name) {
        this.name = name;
    }

    /**
     * The codec that a file's header names.
     *
     * @throws InvalidRequestException if there is none of that name
     */
    static BlockCodec of(String word) {
        for (Name name : Name.values()) {
            if (name.word.equals(word)) {
                return new BlockCodec(name);
            }
        }
        throw new InvalidRequestException("its codec '%s' is none of %s"
                .formatted(
                        word.length() > 40 ? word.substring(0, 40) + "…" : word,
                        String.join(
                                ", ",
                                Arrays.stream(Name.values())
                                        .map(one -> one.word)
                                        .toList())));
    }

    /** Whether a block's bytes are its content. */
    boolean isPlain() {
        return name == Name.NULL;
    }

    /**
     * Unpacks a block, into {@link #bytes}.
     *
     * @throws MalformedFrameException if it is damaged, or becomes too long
     * @throws InvalidRequestException naming the library that is missing
     */
    void unpack(byte[] packed, int from, int byteCount) {
        try {
            switch (name) {
                case NULL -> throw new IllegalStateException("the block is not packed");
                case DEFLATE -> inflate(packed, from, byteCount);
                case SNAPPY -> unpackSnappy(packed, from, byteCount);
                case ZSTANDARD -> unpack(packed, from, byteCount, ZstdInputStream::new);
                case BZIP2 -> unpack(packed, from, byteCount, BZip2CompressorInputStream::new);
                case XZ -> unpack(packed, from, byteCount, Xz::open);
            }
        } catch (LinkageError e) {
            // or one of it, or of what it needs, that is too old
            throw new InvalidRequestException(
                    "its codec %s needs the library %s: %s"
                            .formatted(name.word, name.library, e.getMessage()),
                    e);
        } catch (IOException | RuntimeException e) {
            if (e instanceof MalformedFrameException told) {
                throw told;
            }
            // of damaged content libraries throw what they like
            throw new MalformedFrameException(
                    "it can't be unpacked by %s: %s".formatted(name.word, e.getMessage()));
        }
    }

    private void inflate(byte[] packed, int from, int byteCount) throws IOException {
        Inflater inflater = new Inflater(true);
        try {
            unpack(packed, from, byteCount, in -> new InflaterInputStream(in, inflater));
        } finally {
            inflater.end();
        }
    }

    private void unpack(byte[] packed, int from, int byteCount, Opener opener) throws IOException {
        length = 0;
        try (InputStream in = opener.open(new ByteArrayInputStream(packed, from, byteCount))) {
            while (true) {
                if (length == unpacked.length) {
                    grow();
                }
                int count = in.read(unpacked, length, unpacked.length - length);
                if (count < 0) {
                    return;
                }
                length += count;
            }
        }
    }

    private void grow() {
        if (length == ObjectFileCutter.BLOCK_BYTES_MAX + 1) {
            throw tooLong();
        }
        // one byte more than may be: else the end of a block that has as many is not seen
        long more = Math.max(INITIAL_BYTES, 2L * length);
        unpacked = Arrays.copyOf(
                unpacked, (int) Math.min(more, ObjectFileCutter.BLOCK_BYTES_MAX + 1L));
    }

    private static MalformedFrameException tooLong() {
        return new MalformedFrameException("unpacked it is longer than the limit of %d bytes"
                .formatted(ObjectFileCutter.BLOCK_BYTES_MAX));
    }

    /** A block is what it says to become, its content, and a checksum of what it becomes. */
    private void unpackSnappy(byte[] packed, int from, int byteCount) throws IOException {
        int packedBytes = byteCount - Integer.BYTES;
        if (packedBytes < 1) {
            throw new MalformedFrameException("a block of snappy has a length and a checksum");
        }
        int stated = Snappy.uncompressedLength(packed, from, packedBytes);
        if (stated < 0 || stated > ObjectFileCutter.BLOCK_BYTES_MAX) {
            throw tooLong();
        }
        if (unpacked.length < stated) {
            unpacked = new byte[stated];
        }
        length = Snappy.uncompress(packed, from, packedBytes, unpacked, 0);
        CRC32 crc = new CRC32();
        crc.update(unpacked, 0, length);
        if ((int) crc.getValue() != ByteBuffer.wrap(packed).getInt(from + packedBytes)) {
            throw new MalformedFrameException("its checksum is wrong");
        }
    }

    /** Begins with the block that was unpacked last. */
    byte[] bytes() {
        return unpacked;
    }

    /** How many bytes that has. */
    int length() {
        return length;
    }

    /** Lets go of the block; of its array if that is a huge one. */
    void clear() {
        length = 0;
        if (unpacked.length > ObjectFileCutter.BYTES_KEPT_MAX) {
            unpacked = new byte[0];
        }
    }
}
