package io.turbidite.feeds.serve;

import org.jspecify.annotations.Nullable;

/** Whether a client has gone, and whom to tell. <em>Thread-safe</em> by its monitor. */
public final class Departure {
    private boolean gone;
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
