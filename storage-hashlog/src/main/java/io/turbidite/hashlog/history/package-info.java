/**
 * Index of what a log held before a PSF was registered (FISH19 appendix A, decision 0008): sorted runs.
 *
 * <p>Holds the file of a run, its writer and the cursor over the entries of one hash. A run covers a range of
 * addresses without a gap, is written whole and is named by the registry afterwards. It only saves work: all of it
 * follows from the log. Start reading at {@link io.turbidite.hashlog.history.RunFile}.
 */
@NullMarked
package io.turbidite.hashlog.history;

import org.jspecify.annotations.NullMarked;
