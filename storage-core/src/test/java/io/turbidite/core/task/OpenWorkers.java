package io.turbidite.core.task;

import java.util.Set;

/** What leak checks look at: workers of the process; most have no thread. */
public final class OpenWorkers {
    private OpenWorkers() {}

    /** Those that were started and have not ended; each says its name. */
    public static Set<Object> now() {
        return Set.copyOf(ThreadTasks.OPEN);
    }
}
