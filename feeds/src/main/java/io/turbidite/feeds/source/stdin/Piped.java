package io.turbidite.feeds.source.stdin;

import io.turbidite.core.StorageIoException;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.InputStream;
import java.util.Objects;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;

/**
 * Reads a stream ahead by a thread of its own, {@value #CHUNKS} chunks at most: who reads from here
 * does not wait. When they are full the stream is not read, and who writes to it waits.
 *
 * <p>{@link #hasMore} and {@link #hasEnded} are for any thread; all else is <em>confined to one
 * thread at a time</em>.
 */
final class Piped implements AutoCloseable {
    private static final int CHUNKS = 4;
    private static final int CHUNK_BYTES = 64 << 10;

    private final InputStream in;
    private final Runnable arrived;
    private final BlockingQueue<Chunk> free = new ArrayBlockingQueue<>(CHUNKS);
    private final BlockingQueue<Chunk> full = new ArrayBlockingQueue<>(CHUNKS);
    private @Nullable Thread thread;

    /** What is read from now, and how much of it was. */
    private @Nullable Chunk current;

    private int given;

    private volatile boolean hasEnded;
    private volatile @Nullable Throwable failure;
    private volatile boolean closed;

    /** So many bytes of the stream; handed over by a queue. */
    private static final class Chunk {
        final byte[] bytes = new byte[CHUNK_BYTES];
        int byteCount;
    }

    private Piped(InputStream in, Runnable arrived) {
        this.in = in;
        this.arrived = arrived;
        for (int i = 0; i < CHUNKS; i++) {
            free.add(new Chunk());
        }
    }

    /**
     * Begins to read.
     *
     * @param arrived is called when there is more, or the stream has ended; by the thread that
     *     reads
     */
    static Piped start(InputStream in, Runnable arrived) {
        Piped piped = new Piped(in, arrived);
        piped.thread = Thread.ofPlatform().daemon().name("turbidite-stdin").start(piped::readAhead);
        return piped;
    }

    private void readAhead() {
        try {
            while (!closed) {
                Chunk chunk = free.take();
                chunk.byteCount = in.read(chunk.bytes);
                if (chunk.byteCount < 0) {
                    return;
                }
                full.add(chunk);
                arrived.run();
            }
        } catch (IOException | RuntimeException | Error e) {
            failure = e; // the end of what was read is then no end of a record
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // it was closed, and nobody reads on
        } finally {
            hasEnded = true;
            arrived.run();
        }
    }

    /** Whether something can be read. */
    boolean hasMore() {
        return !full.isEmpty();
    }

    /** Whether nothing comes behind what {@link #hasMore} tells from now on. */
    boolean hasEnded() {
        return hasEnded;
    }

    /**
     * When it has ended and all was read: whether that was the stream's end.
     *
     * @throws StorageIoException if it could not be read further
     */
    void checkEnd() {
        Throwable e = failure;
        if (e != null) {
            throw new StorageIoException(
                    StorageIoException.Kind.IO,
                    "read",
                    "standard input",
                    String.valueOf(e.getMessage()),
                    e);
        }
    }

    /** Up to so many bytes; -1 if there are none for now, or none any more. */
    int read(byte[] target, int offset, int byteCount) {
        Chunk chunk = current;
        if (chunk == null) {
            chunk = full.poll();
            if (chunk == null) {
                return -1;
            }
            current = chunk;
            given = 0;
        }
        int count = Math.min(byteCount, chunk.byteCount - given);
        System.arraycopy(chunk.bytes, given, target, offset, count);
        given += count;
        if (given == chunk.byteCount) {
            current = null;
            free.add(chunk);
        }
        return count;
    }

    /** Reads no more. A thread that waits for the stream waits until that gives something. */
    @Override
    public void close() {
        closed = true;
        Objects.requireNonNull(thread).interrupt();
    }
}
