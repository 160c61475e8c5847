/**
 * A Unix domain socket in a store's directory: the protocol, the server and the client. Over it,
 * the process that holds the store runs the commands of other processes.
 *
 * <p>Knows nothing of commands: the server's caller gives it a {@link
 * io.turbidite.feeds.serve.CommandHandler}. Invariants: the memory of a connection is bounded,
 * whatever a client sends; a client that goes away stops its command; only the owner can open the
 * socket. Start reading at {@link io.turbidite.feeds.serve.FrameLayout}, then {@link
 * io.turbidite.feeds.serve.SocketServer}.
 */
@NullMarked
package io.turbidite.feeds.serve;

import org.jspecify.annotations.NullMarked;
