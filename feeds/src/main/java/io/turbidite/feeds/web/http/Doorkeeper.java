package io.turbidite.feeds.web.http;

import org.jspecify.annotations.Nullable;

/** Says who calls, by what the request brings. <em>Thread-safe; never waits.</em> */
@FunctionalInterface
public interface Doorkeeper {
    /**
     * Who calls.
     *
     * @param authorization the header of that name; null if there is none
     * @throws Problem with 401 if that is nobody's
     */
    Caller admit(@Nullable String authorization);

    /** Who calls, and what they may do. <em>Thread-safe.</em> */
    interface Caller {
        /** Who it is, for logs; no secret. */
        String name();

        /**
         * Whether they may.
         *
         * @param kind {@code "store"} or {@code "feed"}; empty for the server itself
         * @param name of the store or feed
         */
        boolean may(Right right, String kind, String name);

        /** Whether they brought no token: then 401 says how to get further, else 403. */
        boolean isAnonymous();
    }
}
