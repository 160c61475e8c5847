/**
 * The verifier: every checksum, and every index against the primary.
 *
 * <p>Reads through the same cursors as queries, so that what it proves is what they see. Start reading at
 * {@link io.turbidite.lsm.check.Verifier}.
 */
@NullMarked
package io.turbidite.lsm.check;

import org.jspecify.annotations.NullMarked;
