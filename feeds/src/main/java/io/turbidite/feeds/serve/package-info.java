/**
 * A Unix domain socket in the directory of a store, over which other processes have the process that holds
 * the store run their commands: the protocol, the server and the client.
 *
 * <p>Knows nothing of commands: the server is given a {@link io.turbidite.feeds.serve.CommandHandler}.
 * Invariants: what a connection holds in memory is bounded whatever a client sends; a client that goes away
 * stops its command; the socket can be opened by its owner only. Start reading at {@link
 * io.turbidite.feeds.serve.FrameLayout}, then {@link io.turbidite.feeds.serve.SocketServer}.
 */
@NullMarked
package io.turbidite.feeds.serve;

import org.jspecify.annotations.NullMarked;
