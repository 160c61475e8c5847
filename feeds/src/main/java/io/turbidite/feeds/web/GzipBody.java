package io.turbidite.feeds.web;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import io.netty.buffer.UnpooledByteBufAllocator;
import io.netty.handler.codec.compression.DecompressionException;
import io.netty.handler.codec.compression.Decompressor;
import io.netty.handler.codec.compression.JdkZlibDecompressor;
import io.netty.handler.codec.compression.ZlibWrapper;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.util.zip.ZipException;

/**
 * The content of gzip members that follow one another, to the last byte: the JDK's own stream takes
 * a later member whose header is cut or damaged for the end, and what it held would be lost
 * without a word. <em>Confined to one thread.</em>
 */
final class GzipBody extends InputStream {
    private static final int PIECE_BYTES = 64 << 10;
    private static final int READ_BYTES = 16 << 10;

    private final InputStream packed;
    private final Decompressor decompressor;
    private final byte[] piece = new byte[READ_BYTES];

    /** What came out and was not read yet. */
    private ByteBuf content = Unpooled.EMPTY_BUFFER;

    private boolean ended;
    private boolean isClosed;

    GzipBody(InputStream packed) throws IOException {
        this.packed = packed;
        try {
            this.decompressor = JdkZlibDecompressor.builder()
                    .wrapper(ZlibWrapper.GZIP)
                    .maxAllocation(PIECE_BYTES)
                    .decompressConcatenated(true)
                    .build(UnpooledByteBufAllocator.DEFAULT);
        } catch (DecompressionException e) {
            throw new IOException(e);
        }
    }

    @Override
    public int read() throws IOException {
        byte[] one = new byte[1];
        return read(one, 0, 1) < 0 ? -1 : one[0] & 0xff;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) throws IOException {
        try {
            while (length > 0 && !content.isReadable()) {
                if (ended || !advance()) {
                    return -1;
                }
            }
        } catch (DecompressionException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause();
            ZipException damaged = new ZipException(String.valueOf(cause.getMessage()));
            damaged.initCause(e);
            throw damaged;
        }
        int count = Math.min(length, content.readableBytes());
        content.readBytes(bytes, offset, count);
        return count;
    }

    /** Gives it what comes next, or takes what came out; false at the end. */
    private boolean advance() throws IOException {
        switch (decompressor.status()) {
            case NEED_OUTPUT -> {
                ByteBuf next = decompressor.takeOutput();
                content.release();
                content = next;
            }
            case NEED_INPUT -> {
                int count = packed.read(piece);
                if (count < 0) {
                    ended = true;
                    checkComplete();
                    return false;
                }
                decompressor.addInput(UnpooledByteBufAllocator.DEFAULT
                        .heapBuffer(count)
                        .writeBytes(piece, 0, count));
            }
            case COMPLETE -> throw new ZipException("bytes follow what is packed");
        }
        return true;
    }

    private void checkComplete() throws EOFException {
        try {
            decompressor.endOfInput();
        } catch (DecompressionException e) {
            EOFException early = new EOFException();
            early.initCause(e);
            throw early;
        }
    }

    @Override
    public void close() throws IOException {
        if (!isClosed) {
            isClosed = true;
            ended = true;
            content.release();
            content = Unpooled.EMPTY_BUFFER;
            decompressor.close();
            packed.close();
        }
    }
}
