package io.turbidite.ops.cluster;

import io.turbidite.core.time.Clock;

import org.apache.hyracks.api.network.ISocketChannel;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.SocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.SelectionKey;
import java.nio.channels.Selector;
import java.nio.channels.SocketChannel;
import java.security.cert.Certificate;
import java.security.cert.X509Certificate;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.TimeUnit;

import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLEngineResult;
import javax.net.ssl.SSLException;

/**
 * A connection with another member of the cluster, by TLS 1.3; both ends show their certificates.
 * For the engine, which has the handshake made on the common pool, and then reads and writes
 * without waiting.
 *
 * <ol>
 *   <li>The pool has one thread on two processors. A handshake waits inside of {@link
 *       ForkJoinPool#managedBlock}, so that the pool has another thread meanwhile; there is a bound
 *       on how many wait ({@link Members}), and on how long.
 *   <li>Nothing is allocated before the head of a record has come that may be one of TLS, and then
 *       three buffers of a record, 51 KiB; its length is looked at before it is read.
 *   <li>Records are read one at a time, each to its end and no further. What the engine has not
 *       been given is then still in the socket, so that its selector finds it: a byte too many that
 *       was read in the handshake would be looked for by nobody.
 *   <li>Likewise, where a record is longer than the engine's buffer its rest is kept here, and the
 *       engine, which gets a larger buffer, has to be woken again. So the last byte of each write
 *       travels in a record of its own: behind a record that did not fit there is always another.
 * </ol>
 *
 * <p><em>Thread-safe by its monitor</em>, but for {@link #giveUp}.
 */
final class MemberChannel implements ISocketChannel {
    /** From the first look to the end of a handshake; one takes some milliseconds. */
    static final long HANDSHAKE_NANOS = TimeUnit.SECONDS.toNanos(10);

    private static final int HEADER_BYTES = 5;
    private static final int HANDSHAKE_RECORD = 22;

    /** RFC 8446 §5.2. */
    private static final int RECORD_BYTES_MAX = (1 << 14) + 256;

    /** JSSE wants somewhat more than a record has. */
    private static final int BUFFER_BYTES = 17 << 10;

    private static final ByteBuffer NOTHING = ByteBuffer.allocate(0);

    private final Members members;
    private final SocketChannel channel;
    private final boolean isClient;
    private @Nullable SSLEngine engine;

    /** The record under reading. */
    private ByteBuffer netIn = NOTHING;

    /** Records to be sent; between its position and its limit. */
    private ByteBuffer netOut = NOTHING;

    /** What was read and did not fit; between its position and its limit. */
    private ByteBuffer appIn = NOTHING;

    /** The name in the certificate of the other end; null: it has not shown one. */
    private volatile @Nullable String member;

    private volatile @Nullable SocketAddress address;
    private volatile boolean isGivenUp;
    private volatile @Nullable Selector waiting;

    MemberChannel(Members members, SocketChannel channel, boolean isClient) {
        this.members = members;
        this.channel = channel;
        this.isClient = isClient;
    }

    // ---- handshake ------------------------------------------------------------------------------

    @Override
    public boolean requiresHandshake() {
        return true;
    }

    @Override
    public boolean handshake() {
        Waiting handshake = new Waiting();
        if (!isClient) {
            members.connected(this);
        }
        try {
            ForkJoinPool.managedBlock(handshake);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } finally {
            members.ended(this, handshake.isMember);
            if (!handshake.isMember) {
                closeSocket();
            }
        }
        return handshake.isMember;
    }

    /** The engine does so too, unless it has ended meanwhile. */
    private void closeSocket() {
        try {
            channel.close();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Who is at the other end. */
    String member() {
        String found = member;
        if (found == null) {
            throw new IllegalStateException("nobody has said who is there");
        }
        return found;
    }

    /** No longer waits for who is there. */
    void giveUp() {
        isGivenUp = true;
        Selector selector = waiting;
        if (selector != null) {
            selector.wakeup();
        }
    }

    /** A handshake, with leave to wait. */
    private final class Waiting implements ForkJoinPool.ManagedBlocker {
        private boolean isDone;
        private boolean isMember;

        @Override
        public boolean block() {
            try {
                isMember = shake();
            } catch (IOException e) {
                // whoever is there speaks something else, or has gone
                isMember = false;
            }
            isDone = true;
            return true;
        }

        @Override
        public boolean isReleasable() {
            return isDone;
        }
    }

    private synchronized boolean shake() throws IOException {
        long deadline = Clock.system().monotonicNanos() + HANDSHAKE_NANOS;
        try (Selector selector = Selector.open()) {
            waiting = selector;
            SelectionKey key = channel.register(selector, SelectionKey.OP_READ);
            ByteBuffer first = ByteBuffer.allocate(HEADER_BYTES);
            if (!isClient) {
                readHeader(first, key, deadline);
                members.spoke(this);
            }
            SSLEngine own = members.engine(isClient);
            netIn = ByteBuffer.allocate(BUFFER_BYTES).limit(HEADER_BYTES).put(first.flip());
            netOut = ByteBuffer.allocate(BUFFER_BYTES).limit(0);
            appIn = ByteBuffer.allocate(BUFFER_BYTES).limit(0);
            engine = own;
            own.beginHandshake();
            return shake(own, key, deadline) && isMember(own);
        } finally {
            waiting = null;
        }
    }

    /** Those who say nothing, or speak something else, cost five bytes. */
    private void readHeader(ByteBuffer header, SelectionKey key, long deadline) throws IOException {
        while (header.hasRemaining()) {
            await(key, SelectionKey.OP_READ, deadline);
            if (channel.read(header) < 0) {
                throw new IOException("the connection was closed");
            }
        }
        if (header.get(0) != HANDSHAKE_RECORD) {
            throw new IOException("who is there speaks no TLS");
        }
        checkedLength(header);
    }

    /** The length of a record. */
    private static int checkedLength(ByteBuffer header) throws IOException {
        int length = Short.toUnsignedInt(header.getShort(HEADER_BYTES - 2));
        if (length == 0 || length > RECORD_BYTES_MAX) {
            throw new IOException("a record of %d bytes".formatted(length));
        }
        return length;
    }

    /** Whether both ends are content. */
    private boolean shake(SSLEngine own, SelectionKey key, long deadline) throws IOException {
        while (true) {
            switch (own.getHandshakeStatus()) {
                case NEED_TASK -> runTasks(own);
                case NEED_WRAP -> {
                    SSLEngineResult.Status status = wrap(own, NOTHING);
                    while (!flush()) {
                        await(key, SelectionKey.OP_WRITE, deadline);
                    }
                    if (status == SSLEngineResult.Status.CLOSED) {
                        return false;
                    }
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN -> {
                    while (!readRecord()) {
                        await(key, SelectionKey.OP_READ, deadline);
                    }
                    appIn.clear();
                    SSLEngineResult result = unwrap(own, appIn);
                    appIn.flip();
                    if (result.getStatus() != SSLEngineResult.Status.OK) {
                        return false;
                    }
                }
                case FINISHED, NOT_HANDSHAKING -> {
                    return true;
                }
            }
        }
    }

    private static void runTasks(SSLEngine own) {
        for (Runnable task = own.getDelegatedTask(); task != null; task = own.getDelegatedTask()) {
            task.run();
        }
    }

    /** Until the socket can be read or written, or it is time to give up. */
    private void await(SelectionKey key, int operation, long deadline) throws IOException {
        key.interestOps(operation);
        Selector selector = key.selector();
        while (true) {
            long left = deadline - Clock.system().monotonicNanos();
            if (isGivenUp || left <= 0) {
                throw new IOException("who is there did not say in time");
            }
            if (selector.select(TimeUnit.NANOSECONDS.toMillis(left) + 1) > 0) {
                selector.selectedKeys().clear();
                return;
            }
        }
    }

    private boolean isMember(SSLEngine own) throws SSLException {
        Certificate[] shown = own.getSession().getPeerCertificates();
        if (shown.length == 0 || !(shown[0] instanceof X509Certificate certificate)) {
            return false;
        }
        String name = ClusterIdentity.part(certificate, "CN");
        member = name;
        address = channel.socket().getRemoteSocketAddress();
        return members.admits(this, isClient, ClusterIdentity.part(certificate, "O"), name);
    }

    // ---- reading --------------------------------------------------------------------------------

    /** Reads on in a record, and not beyond it; true: it is there as a whole. */
    private boolean readRecord() throws IOException {
        while (true) {
            if (netIn.hasRemaining()) {
                int count = channel.read(netIn);
                if (count < 0) {
                    throw new IOException("the connection was closed");
                }
                if (netIn.hasRemaining()) {
                    return false;
                }
            }
            if (netIn.position() > HEADER_BYTES) {
                return true;
            }
            netIn.limit(HEADER_BYTES + checkedLength(netIn));
        }
    }

    /** Opens the record that was read. */
    private SSLEngineResult unwrap(SSLEngine own, ByteBuffer target) throws SSLException {
        netIn.flip();
        try {
            return own.unwrap(netIn, target);
        } finally {
            netIn.clear().limit(HEADER_BYTES);
        }
    }

    private SSLEngine engine() throws IOException {
        SSLEngine own = engine;
        if (own == null) {
            throw new IOException("nobody has said who is there");
        }
        return own;
    }

    @Override
    public synchronized int read(ByteBuffer target) throws IOException {
        SSLEngine own = engine();
        int count = hand(target);
        while (target.hasRemaining()) {
            boolean isThere;
            try {
                isThere = readRecord();
            } catch (IOException e) {
                if (count > 0) {
                    return count;
                }
                close();
                return -1;
            }
            if (!isThere) {
                return count;
            }
            appIn.clear();
            SSLEngineResult result = unwrap(own, appIn);
            appIn.flip();
            if (result.getStatus() != SSLEngineResult.Status.OK) {
                close();
                return count > 0 ? count : -1;
            }
            count += hand(target);
            answer(own);
        }
        return count;
    }

    /** Keys are changed now and then; what is to be said to it is said. */
    private void answer(SSLEngine own) throws IOException {
        while (true) {
            switch (own.getHandshakeStatus()) {
                case NEED_TASK -> runTasks(own);
                case NEED_WRAP -> {
                    if (!flush()) {
                        return; // with the next write
                    }
                    wrap(own, NOTHING);
                    flush();
                }
                case NEED_UNWRAP, NEED_UNWRAP_AGAIN, FINISHED, NOT_HANDSHAKING -> {
                    return;
                }
            }
        }
    }

    private int hand(ByteBuffer target) {
        int count = Math.min(target.remaining(), appIn.remaining());
        if (count > 0) {
            target.put(target.position(), appIn, appIn.position(), count);
            target.position(target.position() + count);
            appIn.position(appIn.position() + count);
        }
        return count;
    }

    @Override
    public synchronized boolean isPendingRead() {
        return appIn.hasRemaining();
    }

    // ---- writing --------------------------------------------------------------------------------

    @Override
    public synchronized int write(ByteBuffer source) throws IOException {
        SSLEngine own = engine();
        int before = source.remaining();
        int limit = source.limit();
        while (flush() && source.hasRemaining()) {
            try {
                if (source.remaining() > 1) {
                    // the last byte is a record of its own
                    source.limit(limit - 1);
                }
                if (wrap(own, source) != SSLEngineResult.Status.OK) {
                    throw new IOException("the connection is closed");
                }
            } finally {
                source.limit(limit);
            }
        }
        return before - source.remaining();
    }

    /** Makes a record; what was to be sent has been. */
    private SSLEngineResult.Status wrap(SSLEngine own, ByteBuffer source) throws SSLException {
        netOut.clear();
        try {
            return own.wrap(source, netOut).getStatus();
        } finally {
            netOut.flip();
        }
    }

    /** Whether all that was to be sent is sent. */
    private boolean flush() throws IOException {
        while (netOut.hasRemaining()) {
            if (channel.write(netOut) == 0) {
                return false;
            }
        }
        return true;
    }

    @Override
    public synchronized boolean isPendingWrite() {
        return netOut.hasRemaining();
    }

    @Override
    public synchronized boolean completeWrite() throws IOException {
        return flush();
    }

    // ---- end ------------------------------------------------------------------------------------

    @Override
    public SocketChannel getSocketChannel() {
        return channel;
    }

    /** Says so to the other end, unless it would have to wait. */
    @Override
    public synchronized void close() throws IOException {
        SSLEngine own = engine;
        try {
            if (own != null && channel.isOpen() && !netOut.hasRemaining()) {
                own.closeOutbound();
                wrap(own, NOTHING);
                flush();
            }
        } catch (IOException e) {
            // the other end has gone: nobody is left to be told
            netOut.limit(netOut.position());
        } finally {
            SocketAddress of = address;
            if (isClient && of != null) {
                members.gone(this, of);
            }
            channel.close();
        }
    }
}
