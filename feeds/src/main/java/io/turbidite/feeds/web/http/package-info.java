/**
 * HTTP/1.1 over Netty: connections, their bounds, requests that are checked before anybody sees
 * them, answers at the client's pace.
 *
 * <p>Knows nothing of stores: its caller gives it {@link io.turbidite.feeds.web.http.Route}s and
 * a {@link io.turbidite.feeds.web.http.Doorkeeper}. Invariants: the memory of a connection is
 * bounded, whatever a client sends; nothing that may wait runs on the loop; a client that goes
 * away is told to its request. Start reading at {@link io.turbidite.feeds.web.http.HttpServer},
 * then {@link io.turbidite.feeds.web.http.HttpConnection}.
 */
@NullMarked
package io.turbidite.feeds.web.http;

import org.jspecify.annotations.NullMarked;
