/**
 * The verifier: checks every checksum, and every index against the primary; and which formats the
 * files of a store are of.
 *
 * <p>It reads through the same cursors as queries, so its proof holds for what queries see. Start
 * reading at {@link io.turbidite.lsm.check.Verifier}.
 */
@NullMarked
package io.turbidite.lsm.check;

import org.jspecify.annotations.NullMarked;
