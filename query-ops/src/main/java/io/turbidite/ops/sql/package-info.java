/**
 * SQL over sources: text in, a tree of queries and joins out.
 *
 * <p>Holds the statement ({@link io.turbidite.ops.sql.Sql}, {@link
 * io.turbidite.ops.sql.SqlStatement}) and its front: Apache Calcite parses, validates and rewrites;
 * what it leaves is compiled to {@link io.turbidite.ops.Relation}s, which plan and run themselves.
 * Statements that change ({@code Changes}) put what such rows say into batches of a {@link
 * io.turbidite.core.catalog.Catalog}; those that define or list have a small parser of ours.
 * Invariants: what can't be compiled is an error that names the construct, never a wrong answer;
 * Calcite is optional, so nothing outside this room names a type of it, and none of its types is in
 * a public signature. Start reading at {@code Sql}, then {@code Front} and {@code Compiler}.
 */
@NullMarked
package io.turbidite.ops.sql;

import org.jspecify.annotations.NullMarked;
