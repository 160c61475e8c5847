/**
 * How a controller and its nodes come to one log of changes: registration, catching up, changes by
 * prepare, record and commit, and recovery of a controller from its nodes.
 *
 * <p>Holds state machines: messages and disk in, messages out ({@link
 * io.turbidite.feeds.cluster.agree.Mail}). Holds no thread, clock or socket, and no type of the
 * engine; whoever drives them delivers messages one at a time, says now and then that time has
 * passed ({@code again}), and starts a process anew when its disk fails. Messages may be late,
 * lost, doubled and in any order. Invariant: what is recorded is in the controller's log, and each
 * copy is a beginning of it. Start reading at {@code ControllerLog}.
 */
@NullMarked
package io.turbidite.feeds.cluster.agree;

import org.jspecify.annotations.NullMarked;
