/**
 * Clusters on disk: where the processes of a cluster keep who they are.
 *
 * <p>Holds the files of keys and certificates ({@link
 * io.turbidite.feeds.cluster.IdentityFiles}). Holds no socket and no job: those are the room's in
 * the operators' module. Invariant: a key is readable by its owner alone, from its first byte on.
 */
@NullMarked
package io.turbidite.feeds.cluster;

import org.jspecify.annotations.NullMarked;
