package io.turbidite.core.task;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Lets work end in order when the process is told to end (Ctrl-C, SIGTERM): asks it to stop, and
 * keeps the process alive until it has.
 *
 * <p><em>Thread-safe.</em>
 */
public final class ExitHook implements AutoCloseable {
    /**
     * Work that has not ended by then is left to recovery; service managers wait no longer either.
     */
    private static final long GRACE_SECONDS = 60;

    private final Runnable stop;
    private final CountDownLatch ended = new CountDownLatch(1);
    private final Thread thread;
    private volatile boolean requested;

    /** What the process ends with; negative: as signals have it. */
    private volatile int code = -1;

    private ExitHook(Runnable stop) {
        this.stop = stop;
        this.thread = Thread.ofPlatform().name("exit").unstarted(this::run);
    }

    /**
     * Watches from now on, until closed.
     *
     * @param stop asks the work to end soon, without waiting for it; called on a thread of its own,
     *     at most once
     */
    public static ExitHook install(Runnable stop) {
        ExitHook hook = new ExitHook(stop);
        Runtime.getRuntime().addShutdownHook(hook.thread);
        return hook;
    }

    /** Whether the process was told to end. */
    public boolean requested() {
        return requested;
    }

    /** A process that was told to end ends with this code, not with that of the signal. */
    public void endWith(int newCode) {
        code = newCode;
    }

    private void run() {
        requested = true;
        stop.run();
        try {
            // whether in time or not: the process ends when this returns
            boolean inTime = ended.await(GRACE_SECONDS, TimeUnit.SECONDS);
            assert inTime || ended.getCount() == 1;
            if (inTime && code >= 0) {
                // the one way to another code: all is said, and other hooks have nothing to do
                Runtime.getRuntime().halt(code);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** The work has ended: nothing is asked of it any more, and a process that is ending may go. */
    @Override
    public void close() {
        ended.countDown();
        if (!requested) {
            try {
                Runtime.getRuntime().removeShutdownHook(thread);
            } catch (IllegalStateException e) {
                // told to end this very moment: the hook finds the work ended
                requested = true;
            }
        }
    }
}
