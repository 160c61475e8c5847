package io.turbidite.ops.sql;

import org.apache.calcite.plan.RelOptCluster;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.Join;
import org.apache.calcite.rel.core.RelFactories;
import org.apache.calcite.sql2rel.RelFieldTrimmer;
import org.apache.calcite.tools.RelBuilder;

/**
 * Leaves out of the sides of a join what nothing above it looks at. A join copies the fields of
 * both rows into a new one, and keeps the right rows in its table: so what is left out costs
 * neither time nor memory. Where there is no join a row is read where it lies, and nothing would be
 * gained. Stateless.
 */
final class TrimmedJoins {
    private TrimmedJoins() {}

    /** The same rows. */
    static RelNode of(RelNode tree, RelOptCluster cluster) {
        if (!hasJoin(tree)) {
            return tree;
        }
        // expressions stay as the rules before have left them
        RelBuilder builder = RelFactories.LOGICAL_BUILDER
                .create(cluster, null)
                .transform(config -> config.withSimplify(false).withPruneInputOfAggregate(false));
        return new RelFieldTrimmer(null, builder).trim(tree);
    }

    private static boolean hasJoin(RelNode tree) {
        return tree instanceof Join || tree.getInputs().stream().anyMatch(TrimmedJoins::hasJoin);
    }
}
