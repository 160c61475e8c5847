package io.turbidite.feeds.serve;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StoreFailedException;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.OptionalInt;

/**
 * Has the process that holds a store run a command, and passes on what it prints.
 *
 * <p>Plain blocking channels: a client has one connection and nothing else to do, and starting an
 * event loop would take longer than most commands.
 */
public final class SocketClient {
    private SocketClient() {}

    /** A command line, as the client's user gave it. */
    public record Request(String directory, boolean terminal, List<String> arguments) {}

    /**
     * Runs a command in the process that holds the store in a directory.
     *
     * @return its exit code; empty if that process serves nobody
     * @throws StoreFailedException saying why nothing was run or not to its end, or that the
     *     process ended meanwhile, which alone has a cause
     */
    public static OptionalInt run(
            Path directory, Request request, OutputStream out, OutputStream err) {
        try (SocketChannel channel = connect(directory)) {
            if (channel == null) {
                return OptionalInt.empty();
            }
            return OptionalInt.of(converse(channel, request, out, err));
        } catch (IOException e) {
            throw new StoreFailedException(
                    "the process that holds the store in %s ended before it had answered"
                            .formatted(directory),
                    e);
        }
    }

    /** Whether a process listens in {@code directory}. */
    public static boolean isServed(Path directory) {
        try (SocketChannel channel = connect(directory)) {
            return channel != null;
        } catch (IOException nobody) {
            return false;
        }
    }

    /** Connects; null if nobody listens. */
    static @Nullable SocketChannel connect(Path directory) throws IOException {
        if (!Files.exists(directory.resolve(SocketServer.SOCKET))) {
            return null;
        }
        try (SocketPath path = SocketPath.of(directory, SocketServer.SOCKET)) {
            return SocketChannel.open(path.address());
        } catch (IOException nobody) {
            return null; // left behind by a process that was killed
        }
    }

    private static int converse(
            SocketChannel channel, Request request, OutputStream out, OutputStream err)
            throws IOException {
        DataOutputStream to = new DataOutputStream(Channels.newOutputStream(channel));
        DataInputStream from = new DataInputStream(Channels.newInputStream(channel));
        byte[] command = command(request);
        try {
            to.write(hello());
            to.write(command);
            to.flush();
        } catch (IOException closed) {
            return answer(from, out, err, closed); // the reason may lie there to be read
        }
        return answer(from, out, err, null);
    }

    /**
     * Passes on what comes.
     *
     * @param unsent why the command could not be sent, or null
     */
    private static int answer(
            DataInputStream from, OutputStream out, OutputStream err, @Nullable IOException unsent)
            throws IOException {
        try {
            return answer(from, out, err);
        } catch (IOException e) {
            if (unsent != null) {
                e.addSuppressed(unsent);
            }
            throw e;
        }
    }

    private static int answer(DataInputStream from, OutputStream out, OutputStream err)
            throws IOException {
        while (true) {
            int length = from.readInt();
            if (length < 1 || length > FrameLayout.LENGTH_MAX) {
                throw new IOException("a frame of " + length + " bytes");
            }
            int kind = from.readUnsignedByte();
            byte[] payload = new byte[length - 1];
            from.readFully(payload);
            switch (kind) {
                case FrameLayout.HELLO -> {}
                case FrameLayout.OUT -> {
                    out.write(payload);
                    out.flush(); // a command that follows may say no more for hours
                }
                case FrameLayout.ERR -> err.write(payload);
                case FrameLayout.EXIT -> {
                    return exitCode(payload);
                }
                case FrameLayout.REFUSED ->
                    throw new StoreFailedException(
                            new String(payload, StandardCharsets.UTF_8), null);
                default -> throw new IOException("a frame of kind " + kind);
            }
        }
    }

    private static int exitCode(byte[] payload) throws EOFException {
        if (payload.length != Integer.BYTES) {
            throw new EOFException("an exit code of %d bytes".formatted(payload.length));
        }
        int code = 0;
        for (byte b : payload) {
            code = code << Byte.SIZE | (b & 0xFF);
        }
        return code;
    }

    static byte[] hello() throws IOException {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        DataOutputStream data = new DataOutputStream(payload);
        data.writeLong(FrameLayout.MAGIC);
        data.writeShort(FrameLayout.VERSION);
        return frame(FrameLayout.HELLO, payload.toByteArray());
    }

    private static byte[] command(Request request) throws IOException {
        ByteArrayOutputStream payload = new ByteArrayOutputStream();
        DataOutputStream data = new DataOutputStream(payload);
        data.writeByte(request.terminal() ? FrameLayout.FLAG_TERMINAL : 0);
        writeText(data, request.directory());
        for (String argument : request.arguments()) {
            writeText(data, argument);
        }
        if (payload.size() >= FrameLayout.LENGTH_MAX) {
            throw new InvalidRequestException(
                    "the command line has more than %d bytes, which is too long to be run by the process that holds the store"
                            .formatted(FrameLayout.LENGTH_MAX));
        }
        return frame(FrameLayout.RUN, payload.toByteArray());
    }

    private static void writeText(DataOutputStream data, String text) throws IOException {
        byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
        data.writeShort(Math.min(bytes.length, 0xFFFF)); // a longer one is refused as a whole
        data.write(bytes);
    }

    private static byte[] frame(int kind, byte[] payload) throws IOException {
        ByteArrayOutputStream frame = new ByteArrayOutputStream();
        DataOutputStream data = new DataOutputStream(frame);
        data.writeInt(1 + payload.length);
        data.writeByte(kind);
        data.write(payload);
        return frame.toByteArray();
    }
}
