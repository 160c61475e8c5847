/**
 * What {@code ./turbidite serve} answers over HTTP: stores, records, SQL, feeds, events, metrics,
 * and the files of the console.
 *
 * <p>Invariants: a request that waits runs on a thread of its own; an answer of any length is
 * made at its client's pace; what a client asks ends when the client goes. {@code docs/server.md}
 * describes each route, and {@code openapi.json} beside the console's files lists them. Start
 * reading at {@link io.turbidite.feeds.web.WebServer}.
 */
@NullMarked
package io.turbidite.feeds.web;

import org.jspecify.annotations.NullMarked;
