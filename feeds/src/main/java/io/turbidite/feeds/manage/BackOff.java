package io.turbidite.feeds.manage;

import io.turbidite.core.CacheFullException;
import io.turbidite.core.QueryMemoryException;
import io.turbidite.core.StorageIoException;
import io.turbidite.feeds.store.OvertakenException;

import java.util.random.RandomGenerator;

/** How long a feed waits before it tries again. Static, without state. */
final class BackOff {
    /** The first wait is about so long. */
    static final long MICROS_MIN = 1_000_000;

    /** The longest. */
    static final long MICROS_MAX = 60_000_000;

    private static final int DOUBLINGS_MAX = 6;

    private BackOff() {}

    /**
     * Twice as long each time, of which between half and all, by chance: many feeds that failed of
     * one thing don't try again together. Never less than a second.
     *
     * @param failures how often it failed in a row, from 1
     */
    static long micros(int failures, RandomGenerator random) {
        int doublings = Math.min(Math.max(failures, 1) - 1, DOUBLINGS_MAX);
        long most = Math.min(MICROS_MAX, MICROS_MIN << doublings);
        return Math.max(MICROS_MIN, most / 2 + random.nextLong(most / 2 + 1));
    }

    /** Whether another try may find it mended. */
    static boolean mayPass(Throwable failure) {
        return failure instanceof StorageIoException
                || failure instanceof CacheFullException
                || failure instanceof QueryMemoryException
                || failure instanceof OvertakenException;
    }
}
