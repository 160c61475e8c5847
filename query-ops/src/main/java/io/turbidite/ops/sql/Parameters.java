package io.turbidite.ops.sql;

import org.apache.calcite.rel.RelHomogeneousShuttle;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexDynamicParam;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;
import org.apache.calcite.rex.RexVisitorImpl;

import java.util.List;

/** The parameters in a tree of relational operators. Static, without state. */
final class Parameters {
    private Parameters() {}

    /** The tree with something else in the place of each parameter. */
    static RelNode replaced(RelNode tree, List<RexNode> others) {
        if (others.isEmpty()) {
            return tree;
        }
        RexShuttle values = new RexShuttle() {
            @Override
            public RexNode visitDynamicParam(RexDynamicParam parameter) {
                return others.get(parameter.getIndex());
            }
        };
        return tree.accept(new RelHomogeneousShuttle() {
            @Override
            public RelNode visit(RelNode node) {
                return super.visit(node).accept(values);
            }
        });
    }

    /** Takes note of parameters by which a term can be true though they are null. */
    static void mayBeNull(RexNode term) {
        term.accept(new RexVisitorImpl<Void>(true) {
            @Override
            public Void visitDynamicParam(RexDynamicParam parameter) {
                if (parameter instanceof Parameter.Open open) {
                    open.notStrict();
                }
                return super.visitDynamicParam(parameter);
            }
        });
    }
}
