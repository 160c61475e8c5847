/** What operators of queries cost beside those of a column store. */
@NullMarked
package io.turbidite.bench.operators;

import org.jspecify.annotations.NullMarked;
