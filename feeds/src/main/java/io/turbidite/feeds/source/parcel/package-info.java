/**
 * A source to which clients send: each {@link io.turbidite.feeds.source.parcel.Parcel} of records
 * waits in a bounded queue for the feed's run, and gets a {@link
 * io.turbidite.feeds.source.parcel.Receipt} when all of it is durable, or can't be taken.
 *
 * <p>Knows nothing of HTTP or sockets. Invariant: a receipt that says taken comes behind the write
 * that took the last record. Start reading at {@code ParcelSource}.
 */
@NullMarked
package io.turbidite.feeds.source.parcel;

import org.jspecify.annotations.NullMarked;
