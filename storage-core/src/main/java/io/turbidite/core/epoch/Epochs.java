package io.turbidite.core.epoch;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.time.Clock;

import org.jspecify.annotations.Nullable;

import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;

/**
 * A global epoch, the epochs that protected sessions have seen, and actions that wait for all of
 * them to move on (FISH19 §5.3).
 *
 * <p><em>Thread-safe.</em> Protecting and refreshing take no lock; the list of waiting actions has
 * one, taken by whoever bumps the epoch or finds an action due. Actions run one at a time, in the
 * order of their bumps, on the thread that finds them due, outside the lock; they must be short and
 * must not wait.
 *
 * <ol>
 *   <li>The global epoch only grows. A session's slot is 0 (not protected) or an epoch that was
 *       current when, or before, the session last protected or refreshed.
 *   <li>{@code bump} makes epoch {@code e} into {@code e + 1} after the caller changed the shared
 *       state. Once every slot is 0 or above {@code e}, no session holds what it read before the
 *       change, and the action runs.
 *   <li>Protecting is a store of the slot with a full fence behind it, before any shared state is
 *       read; looking for the smallest slot comes after the bump. So either the bumper sees the
 *       slot, or the session sees the changed state.
 * </ol>
 */
public final class Epochs {
    /** More actions waiting than this means that a session stalls them all and nobody noticed. */
    static final int ACTION_COUNT_MAX = 4_096;

    /** Slots lie 128 bytes apart: two lines, because the prefetcher fetches them in pairs. */
    private static final int STRIDE = 16;

    private static final VarHandle SLOT = MethodHandles.arrayElementVarHandle(long[].class);

    private final Clock clock;
    private final AtomicLong current = new AtomicLong(1);
    private final long[] slots;
    private final @Nullable EpochSession[] sessions;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<Waiting> waiting = new ArrayDeque<>();
    private final AtomicInteger waitingCount = new AtomicInteger();
    private final AtomicBoolean draining = new AtomicBoolean();

    private Epochs(int sessionCountMax, Clock clock) {
        this.clock = clock;
        this.slots = new long[(sessionCountMax + 1) * STRIDE];
        this.sessions = new EpochSession[sessionCountMax];
    }

    /** Epochs for up to {@code sessionCountMax} sessions at a time; the clock measures stalls. */
    public static Epochs create(int sessionCountMax, Clock clock) {
        if (sessionCountMax < 1 || sessionCountMax > 4_096) {
            throw new InvalidRequestException(
                    "the number of sessions must be 1 to 4096, not %d".formatted(sessionCountMax));
        }
        return new Epochs(sessionCountMax, clock);
    }

    /**
     * A session that is not protected yet.
     *
     * @param name shown when the session stalls the others
     * @throws InvalidRequestException if there are as many as there may be
     */
    public EpochSession open(String name) {
        lock.lock();
        try {
            for (int i = 0; i < sessions.length; i++) {
                if (sessions[i] == null) {
                    EpochSession session = new EpochSession(this, i, name);
                    sessions[i] = session;
                    return session;
                }
            }
        } finally {
            lock.unlock();
        }
        throw new InvalidRequestException(
                "%d sessions are open, which is the limit: close one before opening %s"
                        .formatted(sessions.length, name));
    }

    /** The global epoch. */
    public long current() {
        return current.get();
    }

    /**
     * Starts a new epoch after the caller changed shared state; {@code action} runs when no session
     * can hold the state before the change, perhaps at once.
     *
     * @return the new epoch
     */
    public long bump(Runnable action) {
        long epoch;
        lock.lock();
        try {
            if (waiting.size() == ACTION_COUNT_MAX) {
                throw new IllegalStateException(
                        "%d actions wait for sessions that don't refresh: %s"
                                .formatted(ACTION_COUNT_MAX, protectedSessions(current.get())));
            }
            epoch = current.getAndIncrement();
            waiting.addLast(new Waiting(epoch, clock.monotonicNanos(), action));
            waitingCount.incrementAndGet();
        } finally {
            lock.unlock();
        }
        drain();
        return epoch + 1;
    }

    /**
     * Whether every session that is protected now protected or refreshed at {@code epoch} or later.
     */
    public boolean allReached(long epoch) {
        return smallestSlot() >= epoch;
    }

    /** Runs the actions that are due; does nothing if another thread is at it. */
    public void drain() {
        while (waitingCount.get() > 0 && draining.compareAndSet(false, true)) {
            boolean ran = false;
            try {
                Waiting due = pollDue();
                while (due != null) {
                    ran = true;
                    due.action.run();
                    due = pollDue();
                }
            } finally {
                draining.set(false);
            }
            // An action that became due while another thread was told that we are draining is ours.
            if (!ran && !headIsDue()) {
                return;
            }
        }
    }

    /** Actions that wait. */
    public int waitingCount() {
        return waitingCount.get();
    }

    /**
     * The sessions for which an action has waited for at least {@code nanosMin}, with the age of
     * the oldest such action; empty if nobody stalls.
     */
    public List<StalledSession> stalled(long nanosMin) {
        lock.lock();
        try {
            Waiting first = waiting.peekFirst();
            if (first == null) {
                return List.of();
            }
            long nanos = clock.monotonicNanos() - first.sinceNanos;
            return nanos < nanosMin
                    ? List.of()
                    : protectedSessions(first.epoch).stream()
                            .map(name -> new StalledSession(name, first.epoch, nanos))
                            .toList();
        } finally {
            lock.unlock();
        }
    }

    /**
     * A session that keeps an action from running: it was last refreshed at or before
     * {@code epoch}.
     */
    public record StalledSession(String name, long epoch, long nanos) {}

    // ---- for sessions ---------------------------------------------------------------------------

    /** Publishes the current epoch for a slot; reads behind it see everything up to that epoch. */
    void enter(int slot) {
        SLOT.setVolatile(slots, (slot + 1) * STRIDE, current.get());
    }

    /** Everything the session did is visible to whoever sees the slot free. */
    void leave(int slot) {
        SLOT.setVolatile(slots, (slot + 1) * STRIDE, 0L);
        if (waitingCount.get() > 0) {
            drain();
        }
    }

    long entered(int slot) {
        return (long) SLOT.getAcquire(slots, (slot + 1) * STRIDE);
    }

    void forget(int slot) {
        lock.lock();
        try {
            sessions[slot] = null;
        } finally {
            lock.unlock();
        }
    }

    // ---- helpers --------------------------------------------------------------------------------

    private boolean headIsDue() {
        lock.lock();
        try {
            Waiting first = waiting.peekFirst();
            return first != null && smallestSlot() > first.epoch;
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Waiting pollDue() {
        lock.lock();
        try {
            Waiting first = waiting.peekFirst();
            if (first == null || smallestSlot() <= first.epoch) {
                return null;
            }
            waitingCount.decrementAndGet();
            return waiting.pollFirst();
        } finally {
            lock.unlock();
        }
    }

    private long smallestSlot() {
        long smallest = Long.MAX_VALUE;
        for (int i = STRIDE; i < slots.length; i += STRIDE) {
            long epoch = (long) SLOT.getVolatile(slots, i);
            if (epoch != 0 && epoch < smallest) {
                smallest = epoch;
            }
        }
        return smallest;
    }

    private List<String> protectedSessions(long epochMax) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < sessions.length; i++) {
            EpochSession session = sessions[i];
            long epoch = entered(i);
            if (session != null && epoch != 0 && epoch <= epochMax) {
                names.add(session.name());
            }
        }
        return names;
    }

    @Override
    public String toString() {
        return "Epochs[%d, %d actions wait]".formatted(current(), waitingCount());
    }

    private record Waiting(long epoch, long sinceNanos, Runnable action) {}
}
