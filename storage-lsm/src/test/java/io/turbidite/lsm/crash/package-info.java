/** Tests of faults: power cuts, failing calls, damaged and missing files, openings. */
@NullMarked
package io.turbidite.lsm.crash;

import org.jspecify.annotations.NullMarked;
