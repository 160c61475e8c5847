package io.turbidite.feeds.serve;

import io.turbidite.ops.jdbc.HolderChannel;

import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;

/**
 * The client's end of a long conversation with the process that holds a store. Plain channels are
 * read and written by different threads at a time; streams over them might wait for each other.
 */
final class SocketSession implements HolderChannel {
    /** Bytes of a frame that is sent. */
    private static final int PIECE_BYTES = 32 << 10;

    private final SocketChannel socket;
    private final ByteBuffer received = ByteBuffer.allocate(
                    FrameLayout.LENGTH_BYTES + FrameLayout.LENGTH_MAX)
            .limit(0);

    /** Bytes of the frame that are there to be read. */
    private int frameBytes;

    private final Object sending = new Object();

    private SocketSession(SocketChannel socket) {
        this.socket = socket;
    }

    static SocketSession begin(SocketChannel socket) throws IOException {
        SocketSession session = new SocketSession(socket);
        ByteArrayOutputStream both = new ByteArrayOutputStream();
        both.writeBytes(SocketClient.hello());
        both.writeBytes(frame(FrameLayout.SESSION, new byte[0], 0, 0));
        session.send(both.toByteArray());
        return session;
    }

    private static byte[] frame(int kind, byte[] payload, int offset, int length) {
        return ByteBuffer.allocate(FrameLayout.PAYLOAD_OFFSET + length)
                .putInt(1 + length)
                .put((byte) kind)
                .put(payload, offset, length)
                .array();
    }

    private void send(byte[] frame) throws IOException {
        synchronized (sending) {
            ByteBuffer left = ByteBuffer.wrap(frame);
            while (left.hasRemaining()) {
                socket.write(left);
            }
        }
    }

    @Override
    public OutputStream out() {
        return new OutputStream() {
            @Override
            public void write(int b) throws IOException {
                write(new byte[] {(byte) b}, 0, 1);
            }

            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
                for (int done = 0; done < length; ) {
                    int piece = Math.min(PIECE_BYTES, length - done);
                    send(frame(FrameLayout.IN, bytes, offset + done, piece));
                    done += piece;
                }
            }
        };
    }

    @Override
    public void cancel(int run) throws IOException {
        byte[] payload = ByteBuffer.allocate(Integer.BYTES).putInt(run).array();
        send(frame(FrameLayout.CANCEL, payload, 0, payload.length));
    }

    @Override
    public InputStream in() {
        return new InputStream() {
            @Override
            public int read() throws IOException {
                awaitBytes();
                frameBytes--;
                return received.get() & 0xFF;
            }

            @Override
            public int read(byte[] bytes, int offset, int length) throws IOException {
                if (length == 0) {
                    return 0;
                }
                awaitBytes();
                int count = Math.min(length, frameBytes);
                received.get(bytes, offset, count);
                frameBytes -= count;
                return count;
            }
        };
    }

    /** Reads frames until there are bytes. */
    private void awaitBytes() throws IOException {
        while (frameBytes == 0) {
            await(FrameLayout.PAYLOAD_OFFSET);
            int length = received.getInt();
            if (length < 1 || length > FrameLayout.LENGTH_MAX) {
                throw new IOException("a frame of " + length + " bytes");
            }
            int kind = received.get();
            await(length - 1);
            switch (kind) {
                case FrameLayout.HELLO -> received.position(received.position() + length - 1);
                case FrameLayout.OUT -> frameBytes = length - 1;
                case FrameLayout.REFUSED -> {
                    byte[] why = new byte[length - 1];
                    received.get(why);
                    throw new IOException(new String(why, StandardCharsets.UTF_8));
                }
                case FrameLayout.EXIT -> throw new EOFException("it has let go of the store");
                default -> throw new IOException("a frame of kind " + kind);
            }
        }
    }

    /** Reads until so many bytes are there. */
    private void await(int bytes) throws IOException {
        if (received.remaining() >= bytes) {
            return;
        }
        received.compact();
        try {
            while (received.position() < bytes) {
                if (socket.read(received) < 0) {
                    throw new EOFException(
                            "it has ended, or is of an older version, which serves commands alone");
                }
            }
        } finally {
            received.flip();
        }
    }

    @Override
    public void close() {
        try {
            socket.close();
        } catch (IOException e) {
            // nothing more is sent or read
        }
    }
}
