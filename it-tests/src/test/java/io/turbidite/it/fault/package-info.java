/**
 * Faults of the real machine: file systems that lose power or fill, calls that fail. What the simulated
 * disk of the core's tests assumes about kernels is tried here on one.
 *
 * <p>Invariant: a test touches nothing but what it made, and leaves no mount, loop device or process. What
 * a machine does not allow is skipped with one line that says why. Start reading at {@link
 * io.turbidite.it.fault.LoopFileSystem} and {@link io.turbidite.it.fault.CutHistory}.
 */
@NullMarked
package io.turbidite.it.fault;

import org.jspecify.annotations.NullMarked;
