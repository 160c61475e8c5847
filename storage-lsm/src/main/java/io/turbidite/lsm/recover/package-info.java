/**
 * Getting back after a crash what the log holds and the components do not.
 *
 * <p>Invariant: replaying the same log twice over the same components gives the same layers. Start
 * reading at {@link io.turbidite.lsm.recover.Replay}.
 */
@NullMarked
package io.turbidite.lsm.recover;

import org.jspecify.annotations.NullMarked;
