/**
 * The one door to the disk (D4): {@link io.turbidite.core.file.Disk} and its real implementation.
 *
 * <p>No other room touches {@code java.io} files, {@code java.nio.file.Files} or channels; an
 * ArchUnit rule checks this. Only this room translates {@code IOException}. The tests' {@code
 * core.sim} has the simulated implementation. {@code DirectDisk} wraps either implementation and
 * goes past the page cache; {@code ForwardingDisk} is the base of other wrappers. Start reading at
 * {@code Disk}.
 */
@NullMarked
package io.turbidite.core.file;

import org.jspecify.annotations.NullMarked;
