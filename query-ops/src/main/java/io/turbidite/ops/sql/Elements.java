package io.turbidite.ops.sql;

import io.turbidite.core.expr.Expression;
import io.turbidite.ops.Relation;
import io.turbidite.ops.Unnest;

import org.apache.calcite.plan.RelOptUtil;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.CorrelationId;
import org.apache.calcite.rel.core.Filter;
import org.apache.calcite.rel.core.Project;
import org.apache.calcite.rel.core.Uncollect;
import org.apache.calcite.rel.core.Values;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexCorrelVariable;
import org.apache.calcite.rex.RexFieldAccess;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexShuttle;

import java.util.ArrayList;
import java.util.List;

/**
 * What stands behind a comma or {@code JOIN} and gives the elements of an array of the rows before
 * it: {@code UNNEST(t.tags)}, with conditions and columns of its own. <em>Confined to one
 * thread.</em>
 */
final class Elements {
    private static final String ELEMENT = "element";
    private static final String NUMBER = "number";

    private final RexBuilder rex;

    /** The rows before, as the elements name them. */
    private final CorrelationId row;

    private final Relation rows;
    private final List<String> names;

    Elements(RexBuilder rex, CorrelationId row, Relation rows, List<String> names) {
        this.rex = rex;
        this.row = row;
        this.rows = rows;
        this.names = names;
    }

    /**
     * The columns of the rows, then those of the elements.
     *
     * @param keepsEmpty whether rows without elements are there
     */
    Block joined(RelNode elements, boolean keepsEmpty) {
        return switch (elements) {
            case Uncollect uncollect -> unnested(uncollect, keepsEmpty);
            case Filter filter -> {
                if (keepsEmpty) {
                    throw Terms.unsupported("LEFT JOIN UNNEST with a condition");
                }
                Block block = joined(filter.getInput(), false);
                Scalars scalars = new Scalars(rex, block.columns());
                List<Expression> conditions = new ArrayList<>();
                for (RexNode term : RelOptUtil.conjunctions(filter.getCondition())) {
                    conditions.addAll(scalars.filter(inPlace(term)));
                }
                block.where(conditions);
                yield block;
            }
            case Project project -> {
                Block block = joined(project.getInput(), keepsEmpty);
                Scalars scalars = new Scalars(rex, block.columns());
                List<Expression> columns =
                        new ArrayList<>(block.columns().subList(0, names.size()));
                for (RexNode column : project.getProjects()) {
                    boolean isElement = column instanceof RexInputRef;
                    if (keepsEmpty && !isElement) {
                        throw Terms.unsupported("LEFT JOIN UNNEST of anything but elements");
                    }
                    columns.add(scalars.value(inPlace(column)));
                }
                block.columns(columns);
                yield block;
            }
            default ->
                throw Terms.unsupported(
                        names(elements)
                                ? "UNNEST in a subquery (join it, or ask HAS(array, value))"
                                : "this correlated subquery");
        };
    }

    /** Whether elements are asked for somewhere below. */
    private static boolean names(RelNode node) {
        return node instanceof Uncollect || node.getInputs().stream().anyMatch(Elements::names);
    }

    private Block unnested(Uncollect uncollect, boolean keepsEmpty) {
        if (!(uncollect.getInput() instanceof Project project)
                || !(project.getInput() instanceof Values values)
                || values.getTuples().size() != 1) {
            throw Terms.unsupported("this UNNEST");
        }
        if (project.getProjects().size() != 1) {
            throw Terms.unsupported("UNNEST of several arrays");
        }
        String element = free(ELEMENT);
        Unnest unnest = Unnest.of(rows, path(project.getProjects().getFirst()), element);
        List<String> fields = new ArrayList<>(names);
        fields.add(element);
        if (uncollect.withOrdinality) {
            String number = free(NUMBER);
            var _ = unnest.numbered(number);
            fields.add(number);
        }
        return Block.of(keepsEmpty ? unnest.keepingEmpty() : unnest, fields);
    }

    /** A name that no column of the rows has. */
    private String free(String name) {
        String free = name;
        for (int i = 2; names.contains(free); i++) {
            free = name + "_" + i;
        }
        return free;
    }

    private String path(RexNode array) {
        if (array instanceof RexFieldAccess access) {
            return access.getReferenceExpr() instanceof RexCorrelVariable variable
                            && variable.id.equals(row)
                    ? names.get(access.getField().getIndex())
                    : path(access.getReferenceExpr()) + "." + access.getField().getName();
        }
        throw Terms.unsupported("UNNEST of anything but a field of the rows before it");
    }

    /** What elements are calculated with, by the places that columns have in this block. */
    private RexNode inPlace(RexNode node) {
        return node.accept(new RexShuttle() {
            @Override
            public RexNode visitInputRef(RexInputRef element) {
                return rex.makeInputRef(element.getType(), element.getIndex() + names.size());
            }

            @Override
            public RexNode visitFieldAccess(RexFieldAccess access) {
                return access.getReferenceExpr() instanceof RexCorrelVariable variable
                                && variable.id.equals(row)
                        ? rex.makeInputRef(access.getType(), access.getField().getIndex())
                        : super.visitFieldAccess(access);
            }
        });
    }
}
