package io.turbidite.hashlog;

import io.turbidite.core.InvalidRequestException;

import org.jspecify.annotations.Nullable;

import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Knows by which version of the plan each ingest session evaluates records.
 *
 * <em>Thread-safe.</em> A session stores the version before it reads the plan again, with full
 * fences between. The publisher of a plan looks at the versions afterwards. So either the publisher
 * sees the old version and waits, or the session sees the new plan (FISH19 §5.3, for the plan
 * alone: an epoch would wait for readers too, which evaluate none).
 */
final class PlanWatch {
    private final Set<Follower> followers = ConcurrentHashMap.newKeySet();

    /**
     * One session's version. <em>Confined to the session's thread;</em> other threads only look at
     * it.
     */
    static final class Follower {
        /**
         * Between calls: no record is under way, and the next call begins with the plan of that
         * moment.
         */
        static final long IDLE = Long.MAX_VALUE;

        private final String session;
        private @Nullable Thread thread;
        private volatile long version = IDLE;

        private Follower(String session) {
            this.session = session;
        }

        /**
         * Says that the session reads no plan older than {@code now} from here on. The session then
         * checks again whether it is still the newest.
         */
        void follow(long now) {
            thread = Thread.currentThread();
            version = now;
        }

        /** Says that no record is under way. */
        void idle() {
            version = IDLE;
        }
    }

    /** The follower of a new session; its name is for error messages. */
    Follower enter(String session) {
        Follower follower = new Follower(session);
        followers.add(follower);
        return follower;
    }

    void leave(Follower follower) {
        followers.remove(follower);
    }

    /**
     * Requires that this thread is not in a call of a session, because it would wait for itself.
     *
     * @throws InvalidRequestException otherwise, naming the session
     */
    @SuppressWarnings("ReferenceEquality") // the very thread
    void refuseWithinCall() {
        for (Follower follower : followers) {
            if (follower.version != Follower.IDLE && follower.thread == Thread.currentThread()) {
                throw new InvalidRequestException(
                        "session '%s' is taking a record on this thread: the function of a PSF can't change PSFs"
                                .formatted(follower.session));
            }
        }
    }

    /** Whether no plan older than {@code wanted} evaluates a record, now or later. */
    boolean allFollow(long wanted) {
        for (Follower follower : followers) {
            if (follower.version < wanted) {
                return false;
            }
        }
        return true;
    }
}
