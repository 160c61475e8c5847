/**
 * Index checkpoints and recovery (FISH19 appendix E).
 *
 * <p>Holds the file of a fuzzy checkpoint, the code that writes, finds and removes such files, and
 * the replay of the log behind one. A checkpoint only saves work: its contents follow from the log,
 * and recovery from an older checkpoint, or from none, ends in the same state. Invariant:
 * everything that a checkpoint names was durable before the checkpoint got its name. Start reading
 * at {@link io.turbidite.hashlog.recovery.Checkpoints}; the format is {@code CheckpointFile}.
 */
@NullMarked
package io.turbidite.hashlog.recovery;

import org.jspecify.annotations.NullMarked;
