/**
 * The door of a cluster, in the controller's process: SQL over the records of all nodes.
 *
 * <p>Holds the catalog that statements meet ({@link io.turbidite.feeds.cluster.door.ClusterDoor}):
 * datasets of the cluster's map, whose rows jobs read, whose definitions are changes of the log,
 * and whose writes go to their owners; and the loading of files. Holds no socket and no command.
 * Invariant: a record goes to the owner of the partition that its key hashes to, and nowhere else.
 */
@NullMarked
package io.turbidite.feeds.cluster.door;

import org.jspecify.annotations.NullMarked;
