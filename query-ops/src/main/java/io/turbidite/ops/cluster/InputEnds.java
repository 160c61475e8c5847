package io.turbidite.ops.cluster;

import org.apache.hyracks.api.context.IHyracksTaskContext;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which inputs of a task have come to their ends. The engine closes the writer of an input in any
 * case: where its rows have ended, and also where its reader was thrown an {@link Error}, or the
 * task was ordered to end in the middle of them. Only the reader knows that there are no more rows.
 *
 * <p>The engine has one thread for each input, which reads and then writes: it is what an end is
 * known by. <em>Thread-safe.</em>
 */
final class InputEnds {
    private final Set<Thread> readToTheEnd = ConcurrentHashMap.newKeySet();

    /** Those of a task. */
    static InputEnds of(IHyracksTaskContext task) {
        synchronized (task) {
            if (task.getSharedObject() instanceof InputEnds made) {
                return made;
            }
            InputEnds made = new InputEnds();
            task.setSharedObject(made);
            return made;
        }
    }

    /** The reader of this thread's input says that there are no more rows. */
    void reached() {
        readToTheEnd.add(Thread.currentThread());
    }

    /** Whether this thread's input has come to its end; it may go on with another one then. */
    boolean take() {
        return readToTheEnd.remove(Thread.currentThread());
    }
}
