/**
 * The commands of a cluster on one machine: {@code ./turbidite cluster}.
 *
 * <p>Holds the commands, the directory that they work on ({@link
 * io.turbidite.feeds.cluster.command.ClusterDirectory}), and what the processes of controller and
 * nodes run. What a statement or a load does is the door's business. Invariant: a command ends only
 * processes that the directory names, by process id and start.
 */
@NullMarked
package io.turbidite.feeds.cluster.command;

import org.jspecify.annotations.NullMarked;
