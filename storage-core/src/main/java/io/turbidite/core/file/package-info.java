/**
 * The one door to the disk (D4): {@link io.turbidite.core.file.Disk} and its real implementation.
 *
 * <p>No other room touches {@code java.io} files, {@code java.nio.file.Files} or channels; an ArchUnit
 * rule says so. {@code IOException} is translated here and nowhere else. The simulated implementation
 * is in the test-jar's {@code core.sim}. {@code DirectDisk} lies over either and goes past the page cache;
 * {@code ForwardingDisk} is for whatever else stands before a disk. Start reading at {@code Disk}.
 */
@NullMarked
package io.turbidite.core.file;

import org.jspecify.annotations.NullMarked;
