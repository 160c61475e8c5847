/**
 * A secondary index in byte-addressable memory beside its rivals (PERS24 Figures 8 to 16).
 *
 * <p>{@link io.turbidite.bench.pm.Rival} is what the figures compare: the tree of {@code pm.tree},
 * and two baselines of this room, the composite index and the log-structured index. They share the
 * paper's premises: the same leaves ({@link io.turbidite.bench.pm.KeyLeaves}), the same pages, the
 * same validation tables, the same fences. Nobody but these measurements uses them, so no published
 * jar has them. Start reading at {@link io.turbidite.bench.pm.PmSuite}.
 */
@NullMarked
package io.turbidite.bench.pm;

import org.jspecify.annotations.NullMarked;
