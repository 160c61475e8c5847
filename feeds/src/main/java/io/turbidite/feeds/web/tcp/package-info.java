/**
 * Lines that clients send to a port of a server, for one feed: what a connection brings becomes
 * parcels, and each that is durable is acknowledged.
 *
 * <p>Invariants: a connection is read no further than its feed keeps up; a number is acknowledged
 * behind the write that took its record. Start reading at {@code TcpConnection}.
 */
@NullMarked
package io.turbidite.feeds.web.tcp;

import org.jspecify.annotations.NullMarked;
