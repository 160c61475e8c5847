package io.turbidite.feeds.web.http;

/** What a caller may do. A right includes those before it only if the token says so. */
public enum Right {
    /** Everybody may that reaches the server at all. */
    NONE,
    /** Read records, state and metrics. */
    READ,
    /** Change records: ingest, and statements that change. */
    WRITE,
    /** Define datasets, manage feeds, back up, verify. */
    MANAGE
}
