/**
 * Reading a partition at a snapshot: cursors over one tree, searches in a secondary, fetches of
 * records by primary key, and batch gets. A reader looks up many sorted keys in batches, layer by
 * layer (LUO19 §3.2, {@link io.turbidite.lsm.read.KeyLookup}).
 *
 * <p>Invariant: a reader holds one version at a time, through a {@link
 * io.turbidite.lsm.partition.VersionLease} that may be taken from it while it is idle; it never
 * holds a lock. Start reading at {@link io.turbidite.lsm.read.PartitionReads}, then {@code
 * SnapshotCursor}.
 */
@NullMarked
package io.turbidite.lsm.read;

import org.jspecify.annotations.NullMarked;
