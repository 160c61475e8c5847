/**
 * The contents of a partition at a moment, in memory and on disk: memory layers, disk components,
 * immutable versions with reference counts, and the manifest that makes a change of them atomic.
 *
 * <p>Invariant: a component file is deleted only after a manifest without it is durable and the
 * last version that holds it is released. Start reading at {@link
 * io.turbidite.lsm.version.Version}.
 */
@NullMarked
package io.turbidite.lsm.version;

import org.jspecify.annotations.NullMarked;
