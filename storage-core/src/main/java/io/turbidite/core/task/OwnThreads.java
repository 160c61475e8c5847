package io.turbidite.core.task;

import org.jspecify.annotations.Nullable;

import java.io.IOException;

/**
 * Does on a thread that nobody else knows what an interrupt of the caller's thread must not cut
 * short. A sync of a file, for one: the system ends it when the thread is interrupted, and what is
 * durable then is unknown.
 *
 * <p><em>Thread-safe.</em> Workers of {@link ThreadTasks} are such threads themselves and go
 * straight on; for others a thread is started and ends with the work, which costs a fraction of
 * what a sync does.
 */
public final class OwnThreads {
    private static final ThreadLocal<Boolean> IS_OWN = ThreadLocal.withInitial(() -> false);

    private OwnThreads() {}

    /** What is to be done. */
    @FunctionalInterface
    public interface Work {
        /** Does the work, and returns when it is to end. */
        void run() throws IOException;
    }

    /** The thread that calls this is no one else's. */
    static void adopt() {
        IS_OWN.set(true);
    }

    /**
     * Does the work and returns when it is done, whether the caller is interrupted or not; the
     * caller's interrupt status stays what it is.
     *
     * @throws IOException what the work throws
     */
    public static void run(Work work) throws IOException {
        if (IS_OWN.get()) {
            work.run();
            return;
        }
        Shielded shielded = new Shielded(work);
        join(Thread.ofPlatform().daemon().name("turbidite-sync").start(shielded));
        shielded.rethrow();
    }

    private static void join(Thread thread) {
        boolean interrupted = false;
        while (thread.isAlive()) {
            try {
                thread.join();
            } catch (InterruptedException later) {
                interrupted = true;
            }
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }

    /** The work, and what it threw. */
    private static final class Shielded implements Runnable {
        private final Work work;
        private @Nullable Throwable failure; // read when the thread has ended

        Shielded(Work work) {
            this.work = work;
        }

        @Override
        public void run() {
            try {
                work.run();
            } catch (IOException | RuntimeException | Error thrown) {
                failure = thrown;
            }
        }

        void rethrow() throws IOException {
            switch (failure) {
                case null -> {
                    // done
                }
                case IOException failed -> throw failed;
                case RuntimeException bug -> throw bug;
                case Error error -> throw error;
                default -> throw new IllegalStateException(failure);
            }
        }
    }
}
