/**
 * Faults of the real machine: file systems that lose power or fill, calls that fail. These tests
 * try on a real kernel what the simulated disk of the core's tests assumes about kernels.
 *
 * <p>Invariant: a test touches only what it made, and leaves no mount, loop device or process. If
 * the machine does not allow a test, it skips with one line that says why. Start reading at {@link
 * io.turbidite.it.fault.LoopFileSystem} and {@link io.turbidite.it.fault.CutHistory}.
 */
@NullMarked
package io.turbidite.it.fault;

import org.jspecify.annotations.NullMarked;
