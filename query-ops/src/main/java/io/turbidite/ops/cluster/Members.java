package io.turbidite.ops.cluster;

import org.apache.hyracks.api.network.INetworkSecurityConfig;
import org.apache.hyracks.api.network.INetworkSecurityManager;
import org.apache.hyracks.api.network.ISocketChannel;
import org.apache.hyracks.api.network.ISocketChannelFactory;
import org.apache.hyracks.ipc.api.IIPCHandle;
import org.jspecify.annotations.Nullable;

import java.lang.reflect.Method;
import java.net.Socket;
import java.net.SocketAddress;
import java.nio.channels.SocketChannel;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicLong;

import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/**
 * The sockets of one process of a cluster, for the engine: each is a {@link MemberChannel}. Knows
 * who may speak on which port, and who was found behind which address. <em>Thread-safe.</em>
 */
final class Members implements INetworkSecurityManager, ISocketChannelFactory, AutoCloseable {
    /**
     * Connections of which nothing was heard yet, and as many that have begun to speak, at most:
     * each keeps a thread of the common pool, which has 256 for those who wait. The one that came
     * first is given up for one more, so that those who say nothing keep nobody out.
     */
    static final int PENDING_MAX = 48;

    private final ClusterIdentity identity;
    private final Doorman doorman;
    private final Deque<MemberChannel> silent = new ArrayDeque<>();
    private final Deque<MemberChannel> speaking = new ArrayDeque<>();

    /** Connections that this process has made. */
    private final Map<SocketAddress, MemberChannel> made = new ConcurrentHashMap<>();

    private final AtomicLong refused = new AtomicLong();
    private volatile boolean closed;

    /** Says who may speak with this process. */
    @FunctionalInterface
    interface Doorman {
        /**
         * Whether a member may.
         *
         * @param port of this process
         * @param member the name in its certificate
         */
        boolean lets(int port, String member);

        /**
         * Whether this process speaks with a member to which it has connected.
         *
         * @param address at which that listens
         */
        default boolean meets(SocketAddress address, String member) {
            return true;
        }
    }

    Members(ClusterIdentity identity, Doorman doorman) {
        this.identity = identity;
        this.doorman = doorman;
    }

    @Override
    public ISocketChannel createServerChannel(SocketChannel channel) {
        checkNotClosed();
        return new MemberChannel(this, channel, false);
    }

    @Override
    public ISocketChannel createClientChannel(SocketChannel channel) {
        checkNotClosed();
        return new MemberChannel(this, channel, true);
    }

    /** Ends the thread that asks. */
    private void checkNotClosed() {
        if (closed) {
            Thread.currentThread().setUncaughtExceptionHandler((_, _) -> {
                // it is to end
            });
            throw new EngineSockets.Closed();
        }
    }

    /** No connection is made any more, and those who have not said who they are are given up. */
    @Override
    public void close() {
        closed = true;
        for (Deque<MemberChannel> pending : List.of(silent, speaking)) {
            List<MemberChannel> all;
            synchronized (pending) {
                all = List.copyOf(pending);
            }
            all.forEach(MemberChannel::giveUp);
        }
    }

    /** One end of a connection. */
    SSLEngine engine(boolean isClient) {
        return identity.engine(isClient);
    }

    /** Somebody has connected, and not spoken yet. */
    void connected(MemberChannel channel) {
        giveUp(add(silent, channel));
    }

    /** The first bytes of a handshake have come. */
    void spoke(MemberChannel channel) {
        synchronized (silent) {
            silent.remove(channel);
        }
        giveUp(add(speaking, channel));
    }

    /** A handshake has ended. */
    void ended(MemberChannel channel, boolean isMember) {
        for (Deque<MemberChannel> pending : List.of(silent, speaking)) {
            synchronized (pending) {
                pending.remove(channel);
            }
        }
        if (!isMember) {
            refuse();
        }
    }

    private static @Nullable MemberChannel add(
            Deque<MemberChannel> pending, MemberChannel channel) {
        synchronized (pending) {
            pending.add(channel);
            return pending.size() > PENDING_MAX ? pending.remove() : null;
        }
    }

    private static void giveUp(@Nullable MemberChannel first) {
        if (first != null) {
            first.giveUp();
        }
    }

    /**
     * Whether the other end of a connection is a member, and may speak there.
     *
     * @param cluster of its certificate, which our authority has signed
     */
    boolean admits(MemberChannel channel, boolean isClient, String cluster, String member) {
        Socket socket = channel.getSocketChannel().socket();
        if (!cluster.equals(identity.cluster())) {
            return false;
        }
        if (!isClient) {
            return doorman.lets(socket.getLocalPort(), member);
        }
        SocketAddress address = socket.getRemoteSocketAddress();
        if (!doorman.meets(address, member)) {
            return false;
        }
        made.put(address, channel);
        return true;
    }

    /** A connection is over. */
    void gone(MemberChannel channel, SocketAddress address) {
        made.remove(address, channel);
    }

    /** The member that listens at an address; null: there is no connection to it. */
    @Nullable
    String memberAt(SocketAddress address) {
        MemberChannel channel = made.get(address);
        return channel == null ? null : channel.member();
    }

    /** To how many addresses there are connections. */
    int madeCount() {
        return made.size();
    }

    /** The name in the certificate of a node's process. */
    static String certified(String node) {
        return node.equals(ClusterController.DOOR) ? ClusterIdentity.CONTROLLER : node;
    }

    /** The member at the other end of one of the engine's connections. */
    static String memberOf(IIPCHandle handle) {
        try {
            Method channel = handle.getClass().getMethod("getSocketChannel");
            channel.setAccessible(true);
            return ((MemberChannel) channel.invoke(handle)).member();
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException("a connection of the engine is none of ours", e);
        }
    }

    /** One more that was closed. */
    void refuse() {
        refused.incrementAndGet();
    }

    /** Connections that were closed since who was there is no member, or may not speak there. */
    long refusedCount() {
        return refused.get();
    }

    // ---- what the engine's own sockets would ask ------------------------------------------------

    @Override
    public ISocketChannelFactory getSocketChannelFactory() {
        return this;
    }

    @Override
    public SSLContext newSSLContext() {
        throw new UnsupportedOperationException("sockets are made by the factory alone");
    }

    @Override
    public SSLEngine newSSLEngine() {
        throw new UnsupportedOperationException("sockets are made by the factory alone");
    }

    @Override
    public void setConfiguration(INetworkSecurityConfig configuration) {
        throw new UnsupportedOperationException("an identity does not change");
    }

    @Override
    public INetworkSecurityConfig getConfiguration() {
        throw new UnsupportedOperationException("there is none but an identity");
    }
}
