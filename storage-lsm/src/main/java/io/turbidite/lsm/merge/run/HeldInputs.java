package io.turbidite.lsm.merge.run;

import io.turbidite.core.time.Clock;
import io.turbidite.lsm.schedule.Backoff;
import io.turbidite.lsm.version.ComponentHandle;

import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Components whose merge failed for a reason that may pass, and until when no merge takes them: one
 * that the system could not read, or all of a merge if it failed for something else. Policies see
 * them as if they were being merged, so that merges of others go on around them.
 *
 * <p><em>Thread-safe.</em>
 */
final class HeldInputs {
    private static final long NANOS_FIRST = 100_000_000;
    private static final long NANOS_MAX = 60_000_000_000L;

    private final Clock clock;
    private final Map<Long, Backoff> byFileId = new ConcurrentHashMap<>();

    HeldInputs(Clock clock) {
        this.clock = clock;
    }

    /**
     * Notes that a merge of them failed.
     *
     * @return the longest pause that begins, in nanoseconds; 0 if none does
     */
    long hold(List<ComponentHandle> inputs) {
        long nanos = 0;
        for (ComponentHandle input : inputs) {
            Backoff backoff = byFileId.computeIfAbsent(
                    input.state().fileId(), _ -> new Backoff(clock, NANOS_FIRST, NANOS_MAX));
            nanos = Math.max(nanos, backoff.fail());
        }
        return nanos;
    }

    boolean isHeld(ComponentHandle input) {
        Backoff backoff = byFileId.get(input.state().fileId());
        return backoff != null && !backoff.mayTry();
    }

    boolean isEmpty() {
        return byFileId.isEmpty();
    }

    /** Forgets what was merged or dropped. */
    void retain(Set<Long> fileIds) {
        byFileId.keySet().retainAll(fileIds);
    }
}
