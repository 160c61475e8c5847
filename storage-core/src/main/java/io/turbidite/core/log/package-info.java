/**
 * The write-ahead log (design §4): one sequence of opaque records for a whole store, written by
 * group commit and replayed at open.
 *
 * <p>Holds the ring that producers publish into, the segment files, and recovery of their end.
 * Knows nothing of what the records say. Invariants, each with a test:
 *
 * <ol>
 *   <li>What replay shows is a prefix of what was published, in claim order, and holds at least
 *       everything that was acknowledged as durable.
 *   <li>A damaged record is a torn end only if nothing proves that it had been synced; otherwise it
 *       is a {@link io.turbidite.core.CorruptionException}, never a shorter log.
 *   <li>After the first failed write or sync nothing more is acknowledged, and no sync is tried
 *       again.
 *   <li>A record is only admitted when space for it has been written before, where it will go or in
 *       a reserve: a full disk refuses a claim and never fails a write.
 * </ol>
 *
 * <p>Start reading at {@link io.turbidite.core.log.WriteAheadLog}, then {@code FrameFormat} (what a
 * record looks like on disk) and {@code LogRecovery} (how the end is found).
 */
@NullMarked
package io.turbidite.core.log;

import org.jspecify.annotations.NullMarked;
