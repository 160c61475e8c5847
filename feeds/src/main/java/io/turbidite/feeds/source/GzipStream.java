package io.turbidite.feeds.source;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.CRC32;
import java.util.zip.DataFormatException;
import java.util.zip.Inflater;
import java.util.zip.ZipException;

/**
 * The content of gzip members that follow one another (RFC 1952). <em>Confined to one thread.</em>
 *
 * <p>The JDK's own stream takes a later member whose header is cut or damaged for the end of the content. This
 * one ends where the last whole member is followed by nothing, or by zeros alone, as tapes and block devices
 * have them; all else is an {@link IOException}, after the content before it was read.
 */
final class GzipStream extends InputStream {
    static final int MAGIC_FIRST = 0x1f;
    static final int MAGIC_SECOND = 0x8b;

    private static final int METHOD_DEFLATE = 8;
    private static final int FLAG_HEADER_CRC = 2;
    private static final int FLAG_EXTRA = 4;
    private static final int FLAG_NAME = 8;
    private static final int FLAG_COMMENT = 16;
    private static final int FLAGS_RESERVED = 0xE0;

    private final InputStream compressed;
    private final byte[] buffer;
    private final Inflater inflater = new Inflater(true);
    private final CRC32 crc = new CRC32();
    private final CRC32 headerCrc = new CRC32();
    private int next;
    private int end;

    /** Bytes of {@code compressed} that are in the buffer or were. */
    private long fetchedBytes;

    private boolean ended;

    /**
     * Reads the first member's header.
     *
     * @param bufferBytes how much is read at once
     * @throws IOException if it isn't one
     */
    static GzipStream open(InputStream compressed, int bufferBytes) throws IOException {
        GzipStream stream = new GzipStream(compressed, bufferBytes);
        try {
            stream.readHeader();
            return stream;
        } catch (IOException e) {
            stream.inflater.end();
            throw e;
        }
    }

    private GzipStream(InputStream compressed, int bufferBytes) {
        this.compressed = compressed;
        this.buffer = new byte[bufferBytes];
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xFF;
    }

    @Override
    public int read(byte[] target, int offset, int byteCount) throws IOException {
        if (byteCount == 0) {
            return 0;
        }
        while (!ended) {
            int count = inflate(target, offset, byteCount);
            if (count > 0) {
                return count;
            }
        }
        return -1;
    }

    /** Where in the compressed bytes the next one to be looked at is. */
    long position() {
        return fetchedBytes - (end - next);
    }

    @Override
    public void close() throws IOException {
        inflater.end();
        compressed.close();
    }

    /** Returns 0 where a member ends. */
    private int inflate(byte[] target, int offset, int byteCount) throws IOException {
        try {
            while (true) {
                int inputBefore = end - next;
                inflater.setInput(buffer, next, inputBefore);
                int count = inflater.inflate(target, offset, byteCount);
                next = end - inflater.getRemaining();
                if (count > 0) {
                    crc.update(target, offset, count);
                    return count;
                }
                if (inflater.finished()) {
                    endMember();
                    return 0;
                }
                if (inflater.needsDictionary()) {
                    throw new ZipException(
                            "a member that wants a dictionary, of which gzip has none");
                }
                if (next == end && !fill()) {
                    throw new EOFException("cut in the middle of a member");
                }
            }
        } catch (DataFormatException e) {
            ZipException damaged = new ZipException("a member that is damaged: " + e.getMessage());
            damaged.initCause(e);
            throw damaged;
        }
    }

    private void endMember() throws IOException {
        long wantedCrc = readInt();
        long wantedBytes = readInt();
        if (wantedCrc != crc.getValue()) {
            throw new ZipException("a member whose checksum is wrong");
        }
        if (wantedBytes != (inflater.getBytesWritten() & 0xFFFF_FFFFL)) {
            throw new ZipException("a member whose length is wrong");
        }
        if (next == end && !fill()) {
            ended = true;
        } else if (buffer[next] == 0) {
            passZeros();
            ended = true;
        } else {
            readHeader();
            inflater.reset();
            crc.reset();
        }
    }

    private void passZeros() throws IOException {
        do {
            for (; next < end; next++) {
                if (buffer[next] != 0) {
                    throw new ZipException("neither a member nor zeros alone behind a member");
                }
            }
        } while (fill());
    }

    private void readHeader() throws IOException {
        headerCrc.reset();
        if (readByte() != MAGIC_FIRST || readByte() != MAGIC_SECOND) {
            throw new ZipException("neither a member nor zeros alone behind a member");
        }
        int method = readByte();
        if (method != METHOD_DEFLATE) {
            throw new ZipException("a member that is compressed by method %d".formatted(method));
        }
        int flags = readByte();
        if ((flags & FLAGS_RESERVED) != 0) {
            throw new ZipException("a member that has flags 0x%02x".formatted(flags));
        }
        pass(6); // time, how hard it was compressed, operating system
        if ((flags & FLAG_EXTRA) != 0) {
            int low = readByte();
            pass(low | readByte() << Byte.SIZE);
        }
        if ((flags & FLAG_NAME) != 0) {
            passText();
        }
        if ((flags & FLAG_COMMENT) != 0) {
            passText();
        }
        if ((flags & FLAG_HEADER_CRC) != 0) {
            long wanted = headerCrc.getValue() & 0xFFFF;
            int low = readByte();
            if ((low | readByte() << Byte.SIZE) != wanted) {
                throw new ZipException("a member whose header's checksum is wrong");
            }
        }
    }

    private void pass(int byteCount) throws IOException {
        for (int i = 0; i < byteCount; i++) {
            var _ = readByte();
        }
    }

    private void passText() throws IOException {
        int b = readByte();
        while (b != 0) {
            b = readByte();
        }
    }

    /** Little-endian, unsigned. */
    private long readInt() throws IOException {
        long value = 0;
        for (int shift = 0; shift < Integer.SIZE; shift += Byte.SIZE) {
            value |= (long) readByte() << shift;
        }
        return value;
    }

    private int readByte() throws IOException {
        if (next == end && !fill()) {
            throw new EOFException("cut in a member's header or trailer");
        }
        int b = buffer[next++] & 0xFF;
        headerCrc.update(b);
        return b;
    }

    private boolean fill() throws IOException {
        int count = compressed.read(buffer, 0, buffer.length);
        next = 0;
        end = Math.max(0, count);
        fetchedBytes += end;
        return count > 0;
    }
}
