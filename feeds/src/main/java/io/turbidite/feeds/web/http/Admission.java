package io.turbidite.feeds.web.http;

import io.netty.channel.Channel;

import org.jspecify.annotations.Nullable;

import java.util.concurrent.atomic.AtomicInteger;

/**
 * Lets connections in: so many at a time, and so many of each peer. Who is refused takes no place
 * of others, however slowly it leaves. <em>Thread-safe.</em>
 */
public final class Admission {
    private final int countMax;
    private final Problem full;
    private final PeerCounts peers;
    private final AtomicInteger admittedCount = new AtomicInteger();
    private final AtomicInteger refusedCount = new AtomicInteger();

    /**
     * @param countMax connections at a time
     * @param peerCountMax of them of one peer
     * @param full what one is told for whom there is no place
     */
    public Admission(int countMax, int peerCountMax, Problem full) {
        this.countMax = countMax;
        this.full = full;
        this.peers = new PeerCounts(peerCountMax);
    }

    /**
     * Counts a connection until it is closed.
     *
     * @return why it is one too many; null if it is not
     */
    public @Nullable Problem enter(Channel channel) {
        Problem refusal = peers.enter(channel);
        if (refusal == null && admittedCount.incrementAndGet() > countMax) {
            admittedCount.decrementAndGet();
            refusal = full;
        }
        AtomicInteger count = refusal == null ? admittedCount : refusedCount;
        if (refusal != null) {
            refusedCount.incrementAndGet();
        }
        channel.closeFuture().addListener(closed -> count.decrementAndGet());
        return refusal;
    }

    /**
     * Whether one that is refused is told why: over TLS it would be heard behind a handshake alone,
     * for which nobody waits, and there are as many as may be in already.
     */
    public boolean tellsRefused(boolean isTls) {
        return !isTls && refusedCount.get() <= countMax;
    }

    /** Those that are in. */
    public int admittedCount() {
        return admittedCount.get();
    }
}
