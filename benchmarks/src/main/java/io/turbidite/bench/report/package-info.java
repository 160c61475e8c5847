/**
 * The measurements of a suite as a table, as JSON and as a plot, under {@code docs/experiments}.
 *
 * <p>Start reading at {@link io.turbidite.bench.report.Report}.
 */
@NullMarked
package io.turbidite.bench.report;

import org.jspecify.annotations.NullMarked;
