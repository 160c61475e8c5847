/**
 * The same statements by SQL here and in DuckDB, over the same rows: whether the answers are equal,
 * and what CPU each takes. Start reading at {@link io.turbidite.bench.sql.TwoDatabases}.
 */
@NullMarked
package io.turbidite.bench.sql;

import org.jspecify.annotations.NullMarked;
