/**
 * Index checkpoints and recovery (FISH19 appendix E).
 *
 * <p>Holds the file of a fuzzy checkpoint, who writes, finds and removes such files, and the replay of what
 * the log has beyond one. A checkpoint only saves work: what it says follows from the log, and recovery from
 * an older one, or from none, ends in the same state. Invariant: everything that a checkpoint names was
 * durable before the checkpoint got its name. Start reading at {@link
 * io.turbidite.hashlog.recovery.Checkpoints}, the format is {@code CheckpointFile}.
 */
@NullMarked
package io.turbidite.hashlog.recovery;

import org.jspecify.annotations.NullMarked;
