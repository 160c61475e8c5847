package io.turbidite.ops.sql;

import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexSubQuery;

import java.util.HashMap;
import java.util.Map;

/**
 * Refuses subqueries that name a table further out than the statement around them. Calcite's
 * decorrelator loses rows of some of them: one whose {@code not in} named the outermost table and
 * read no row gave nothing where it should have given all.
 */
final class Correlations {
    /** At which depth each row is that a subquery may name. */
    private final Map<CorrelationId, Integer> depths = new HashMap<>();

    private Correlations() {}

    static void check(RelNode statement) {
        new Correlations().check(statement, 0);
    }

    private void check(RelNode rel, int depth) {
        rel.getVariablesSet().forEach(row -> depths.put(row, depth));
        RelNode _ = rel.accept(new RexShuttle() {
            @Override
            public RexNode visitSubQuery(RexSubQuery subquery) {
                check(subquery.rel, depth + 1);
                return super.visitSubQuery(subquery);
            }

            @Override
            public RexNode visitCorrelVariable(RexCorrelVariable variable) {
                Integer named = depths.get(variable.id);
                if (named != null && depth - named > 1) {
                    throw SqlException.of(
                            "a subquery names a table of a statement that is not the one around it: join them there");
                }
                return variable;
            }
        });
        rel.getInputs().forEach(input -> check(input, depth));
    }
}
