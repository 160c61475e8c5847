package io.turbidite.ops.cluster;

import org.apache.hyracks.api.network.INetworkSecurityConfig;
import org.apache.hyracks.api.network.INetworkSecurityManager;
import org.apache.hyracks.api.network.ISocketChannel;
import org.apache.hyracks.api.network.ISocketChannelFactory;
import org.jspecify.annotations.Nullable;

import java.net.InetSocketAddress;
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
final class Members implements INetworkSecurityManager, ISocketChannelFactory {
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
    private final Map<SocketAddress, String> found = new ConcurrentHashMap<>();
    private final AtomicLong refused = new AtomicLong();

    /** Says who may speak on a port of this process. */
    @FunctionalInterface
    interface Doorman {
        /**
         * Whether a member may.
         *
         * @param port of this process
         * @param member the name in its certificate
         */
        boolean lets(int port, String member);
    }

    Members(ClusterIdentity identity, Doorman doorman) {
        this.identity = identity;
        this.doorman = doorman;
    }

    @Override
    public ISocketChannel createServerChannel(SocketChannel channel) {
        return new MemberChannel(this, channel, false);
    }

    @Override
    public ISocketChannel createClientChannel(SocketChannel channel) {
        return new MemberChannel(this, channel, true);
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
            refused.incrementAndGet();
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
    boolean admits(SocketChannel channel, boolean isClient, String cluster, String member) {
        if (!cluster.equals(identity.cluster())) {
            return false;
        }
        if (!isClient) {
            return doorman.lets(channel.socket().getLocalPort(), member);
        }
        found.put(channel.socket().getRemoteSocketAddress(), member);
        return true;
    }

    /** The member that was found to listen at an address; null: nobody has connected to it. */
    @Nullable
    String memberAt(InetSocketAddress address) {
        return found.get(address);
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
