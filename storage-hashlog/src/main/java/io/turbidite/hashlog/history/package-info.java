/**
 * Indexes of the records that a log held before a PSF was registered (FISH19 appendix A, decision
 * 0008): sorted runs.
 *
 * <p>Holds the file of a run, its writer and the cursor over the entries of one hash. A run covers
 * a range of addresses without a gap. The registry names it after it is written whole. A run only
 * saves work: all of it follows from the log. Start reading at {@link
 * io.turbidite.hashlog.history.RunFile}.
 */
@NullMarked
package io.turbidite.hashlog.history;

import org.jspecify.annotations.NullMarked;
