/**
 * Copies of a store as it was at one timestamp: online backup and restore. Shipments for another machine are in
 * {@code lsm.ship}.
 *
 * <p>A copy consists of a manifest, component files, and no log: what was in memory is written as
 * components beside those on disk. Invariant: the manifest comes last, when everything that it names is
 * durable; until then a file named {@code INCOMPLETE} stands in the directory, and it is not a store. Start
 * reading at {@link io.turbidite.lsm.backup.Backup}.
 */
@NullMarked
package io.turbidite.lsm.backup;

import org.jspecify.annotations.NullMarked;
