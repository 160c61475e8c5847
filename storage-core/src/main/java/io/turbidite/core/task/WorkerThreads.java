package io.turbidite.core.task;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/**
 * The threads on which workers of all {@link ThreadTasks} of this process run: as many as there are
 * workers that work. One that is not needed for some seconds ends.
 *
 * <p><em>Thread-safe.</em>
 */
final class WorkerThreads {
    /** How all of them are called while they have nothing to do. */
    static final String NAME = "turbidite-worker";

    /** A worker that rests for less comes back to a thread that is still there. */
    private static final long SPARE_SECONDS = 2;

    private static final ExecutorService THREADS = new ThreadPoolExecutor(
            0,
            Integer.MAX_VALUE,
            SPARE_SECONDS,
            TimeUnit.SECONDS,
            new SynchronousQueue<>(),
            work -> Thread.ofPlatform().daemon().name(NAME).unstarted(() -> {
                OwnThreads.adopt();
                work.run();
            }));

    private WorkerThreads() {}

    /**
     * Runs it on a thread that has nothing else to do.
     *
     * @throws OutOfMemoryError if there can be no more threads
     */
    static void execute(Runnable work) {
        THREADS.execute(work);
    }
}
