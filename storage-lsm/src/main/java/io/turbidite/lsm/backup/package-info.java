/**
 * Copies of a store as it was at one timestamp: online backup and restore. {@code lsm.ship} has
 * shipments for another machine.
 *
 * <p>A copy consists of a manifest and component files, and has no log: it holds the contents of
 * memory as components beside those from disk. Invariant: the manifest comes last, when everything
 * that it names is durable. Until then the directory has a file named {@code INCOMPLETE} and is not
 * a store. Start reading at {@link io.turbidite.lsm.backup.Backup}.
 */
@NullMarked
package io.turbidite.lsm.backup;

import org.jspecify.annotations.NullMarked;
