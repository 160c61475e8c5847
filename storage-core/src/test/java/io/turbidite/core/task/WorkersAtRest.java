package io.turbidite.core.task;

import java.util.Set;

/** What leak checks look at: workers that have no thread now, and come back. */
public final class WorkersAtRest {
    private WorkersAtRest() {}

    /** Those of this process; each says its name. */
    public static Set<Object> now() {
        return Set.copyOf(RestingWorkers.all().resting());
    }
}
