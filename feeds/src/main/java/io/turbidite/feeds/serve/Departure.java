package io.turbidite.feeds.serve;

import org.jspecify.annotations.Nullable;

/** Whether a client has gone, and whom to tell. <em>Thread-safe</em> by its monitor. */
public final class Departure {
    private boolean gone;
    private boolean kept;
    private boolean ended;
    private @Nullable Runnable listener;

    public synchronized boolean isGone() {
        return gone;
    }

    /**
     * Calls {@code newListener} when the client goes, at once if it has gone; instead of the one
     * before.
     */
    public void listen(Runnable newListener) {
        synchronized (this) {
            if (!gone) {
                listener = newListener;
                return;
            }
        }
        newListener.run();
    }

    /**
     * Has a server that closes wait for the command, as long as it waits for any: what it makes is
     * of use only whole.
     *
     * @return whether it may begin; else the server closes already
     */
    public synchronized boolean keep() {
        kept = !ended;
        return kept;
    }

    /** Whether the command need not be waited for; then it can't be {@linkplain #keep kept}. */
    synchronized boolean end() {
        ended = !kept;
        return ended;
    }

    /** Tells nobody from now on. */
    public synchronized void forget() {
        listener = null;
    }

    void happened() {
        Runnable told;
        synchronized (this) {
            gone = true;
            told = listener;
            listener = null;
        }
        if (told != null) {
            told.run();
        }
    }
}
