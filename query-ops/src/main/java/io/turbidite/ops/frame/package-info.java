/**
 * The traffic between operators: frames of tuples, and the protocol that pushes them.
 *
 * <p>Holds the frame layout, the two roles of an operator (source of a stage, writer behind it) and
 * the emitter that fills frames. Holds no operator. Invariants: a pushed frame is unchanged until
 * the next push; a source pushes at most one frame a step. Start reading at {@link
 * io.turbidite.ops.frame.FrameWriter}.
 */
@NullMarked
package io.turbidite.ops.frame;

import org.jspecify.annotations.NullMarked;
