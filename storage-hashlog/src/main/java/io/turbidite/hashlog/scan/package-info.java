/**
 * Retrieval (FISH19 §7): finding the records of a property or an expression in an address range.
 *
 * <p>Holds the plan that mixes chain walks and full scans by the intervals in which a PSF is
 * indexed, the adaptive read-ahead of chain walks on disk, and the tests that full scans make on
 * records. Holds no state of a log: it reads through {@code LogReader}. Invariant: a query shows
 * every record of the range that is visible below the safe tail at its start exactly once, newest
 * first. Start reading at {@link io.turbidite.hashlog.scan.ScanPlan}, then {@link
 * io.turbidite.hashlog.scan.RangeScan}.
 */
@NullMarked
package io.turbidite.hashlog.scan;

import org.jspecify.annotations.NullMarked;
