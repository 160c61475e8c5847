package io.turbidite.feeds.web.http;

import io.netty.buffer.Unpooled;

import java.io.IOException;
import java.io.OutputStream;

/** An answer in pieces, which waits for a slow client. <em>Confined to one thread.</em> */
final class AnswerStream extends OutputStream {
    private static final int BUFFER_BYTES = 32 << 10;

    private final Exchange exchange;
    private final byte[] buffer = new byte[BUFFER_BYTES];
    private int used;
    private boolean ended;

    AnswerStream(Exchange exchange) {
        this.exchange = exchange;
    }

    @Override
    public void write(int b) throws IOException {
        if (used == buffer.length) {
            flush();
        }
        buffer[used++] = (byte) b;
    }

    @Override
    public void write(byte[] bytes, int offset, int length) throws IOException {
        int done = 0;
        while (done < length) {
            if (used == buffer.length) {
                flush();
            }
            int count = Math.min(length - done, buffer.length - used);
            System.arraycopy(bytes, offset + done, buffer, used, count);
            used += count;
            done += count;
        }
    }

    @Override
    public void flush() throws IOException {
        if (!exchange.awaitWritable()) {
            exchange.abort();
            throw new IOException("the client takes no more of the answer");
        }
        if (used > 0) {
            exchange.write(Unpooled.copiedBuffer(buffer, 0, used));
            used = 0;
        }
    }

    @Override
    public void close() throws IOException {
        if (!ended) {
            ended = true;
            flush();
            exchange.end();
        }
    }
}
