package io.turbidite.ops.sql;

import io.turbidite.core.expr.Expression;
import io.turbidite.ops.Nulls;
import io.turbidite.ops.Order;
import io.turbidite.ops.Relation;
import io.turbidite.ops.window.WindowFunction;
import io.turbidite.ops.window.WindowFunction.Frame;
import io.turbidite.ops.window.WindowFunction.Kind;

import org.apache.calcite.rel.RelFieldCollation;
import org.apache.calcite.rel.core.Window;
import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rex.RexInputRef;
import org.apache.calcite.rex.RexLiteral;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexWindowBound;
import org.apache.calcite.rex.RexWindowExclusion;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.IdentityHashMap;
import java.util.List;

/** Compiles functions with {@code OVER}. <em>Confined to one thread.</em> */
final class Windows {
    private final Window window;

    private final int columnCount;

    /** Of the rows: their columns, the constants that functions name, what stands for no row. */
    private final List<String> names = new ArrayList<>();

    /** The columns of values that are of another type than what stands for a row not there. */
    private final IdentityHashMap<Window.RexWinAggCall, Integer> widened = new IdentityHashMap<>();

    /** The columns of what stands for the row of a function that is not there. */
    private final IdentityHashMap<Window.RexWinAggCall, Integer> fallbacks =
            new IdentityHashMap<>();

    Windows(Window window) {
        this.window = window;
        this.columnCount = window.getInput().getRowType().getFieldCount();
    }

    private void add(Block block) {
        List<Expression> columns = new ArrayList<>(block.columns());
        List<RelDataType> types = new ArrayList<>();
        window.getInput().getRowType().getFieldList().forEach(field -> types.add(field.getType()));
        for (RexLiteral constant : window.constants) {
            columns.add(Terms.literal(constant));
            types.add(constant.getType());
        }
        for (Window.Group group : window.groups) {
            for (Window.RexWinAggCall call : group.aggCalls) {
                if (call.operands.size() > 2 && call.operands.get(2) instanceof RexInputRef other) {
                    if (call.operands.getFirst() instanceof RexInputRef value
                            && types.get(value.getIndex()).getSqlTypeName()
                                    != call.getType().getSqlTypeName()) {
                        widened.put(call, columns.size());
                        columns.add(Casts.cast(
                                columns.get(value.getIndex()),
                                types.get(value.getIndex()),
                                call.getType()));
                        types.add(call.getType());
                    }
                    fallbacks.put(call, columns.size());
                    columns.add(Casts.cast(
                            columns.get(other.getIndex()),
                            types.get(other.getIndex()),
                            call.getType()));
                    types.add(call.getType());
                }
            }
        }
        block.columns(columns);
        names.addAll(InnerNames.of(columns, "w$"));
    }

    /** The columns of a block, then those of the functions. */
    Block over(Block block) {
        add(block);
        List<String> fields = new ArrayList<>(names.subList(0, columnCount));
        Relation rows = block.named(names);
        for (Window.Group group : window.groups) {
            io.turbidite.ops.Window over = io.turbidite.ops.Window.of(rows);
            over.partitionBy(group.keys.asList().stream().map(names::get).toArray(String[]::new));
            for (RelFieldCollation key : group.orderKeys.getFieldCollations()) {
                over.orderBy(
                        names.get(key.getFieldIndex()),
                        key.direction.isDescending() ? Order.DESC : Order.ASC,
                        Compiler.areNullsFirst(key) ? Nulls.FIRST : Nulls.LAST);
            }
            if (group.exclude != RexWindowExclusion.EXCLUDE_NO_OTHER) {
                throw Terms.unsupported("EXCLUDE in a window");
            }
            for (Window.RexWinAggCall call : group.aggCalls) {
                String name = "f$" + fields.size();
                over.add(function(call, group).as(name));
                fields.add(name);
            }
            rows = over;
        }
        return Block.of(rows, fields);
    }

    private WindowFunction function(Window.RexWinAggCall call, Window.Group group) {
        String label = call.getOperator().getName();
        if (call.distinct) {
            throw Terms.unsupported(label + "(DISTINCT …) OVER");
        }
        if (call.ignoreNulls) {
            throw Terms.unsupported(label + " … IGNORE NULLS");
        }
        Kind kind = kind(call);
        List<RexNode> operands = call.operands;
        return switch (kind) {
            case ROW_NUMBER, RANK, DENSE_RANK, PERCENT_RANK, CUME_DIST -> WindowFunction.of(kind);
            case NTILE -> WindowFunction.of(kind).by(constant(operands.getFirst(), label));
            case LAG, LEAD -> {
                Integer wide = widened.get(call);
                WindowFunction of = WindowFunction.of(
                                kind, wide == null ? field(operands.getFirst()) : names.get(wide))
                        .by(operands.size() > 1 ? constant(operands.get(1), label) : 1);
                Integer fallback = fallbacks.get(call);
                yield fallback == null ? of : of.otherwise(names.get(fallback));
            }
            case NTH_VALUE ->
                WindowFunction.of(kind, field(operands.getFirst()))
                        .by(constant(operands.get(1), label))
                        .over(frame(group));
            default -> {
                WindowFunction of = operands.isEmpty()
                        ? WindowFunction.of(kind)
                        : WindowFunction.of(kind, field(operands.getFirst()));
                yield of.over(frame(group));
            }
        };
    }

    private static Kind kind(Window.RexWinAggCall call) {
        return switch (call.getOperator().getKind()) {
            case ROW_NUMBER -> Kind.ROW_NUMBER;
            case RANK -> Kind.RANK;
            case DENSE_RANK -> Kind.DENSE_RANK;
            case PERCENT_RANK -> Kind.PERCENT_RANK;
            case CUME_DIST -> Kind.CUME_DIST;
            case NTH_VALUE -> Kind.NTH_VALUE;
            case NTILE -> Kind.NTILE;
            case LAG -> Kind.LAG;
            case LEAD -> Kind.LEAD;
            case FIRST_VALUE -> Kind.FIRST_VALUE;
            case LAST_VALUE -> Kind.LAST_VALUE;
            case COUNT -> Kind.COUNT;
            case SUM -> Kind.SUM;
            case SUM0 -> Kind.SUM0;
            case AVG -> Kind.AVG;
            case MIN, ANY_VALUE, SINGLE_VALUE -> Kind.MIN;
            case MAX -> Kind.MAX;
            default -> throw Terms.unsupported(call.getOperator().getName() + " OVER");
        };
    }

    private String field(RexNode operand) {
        if (operand instanceof RexInputRef reference) {
            return names.get(reference.getIndex());
        }
        throw Terms.unsupported("a window function of " + operand);
    }

    private long constant(RexNode operand, String label) {
        BigDecimal number = operand instanceof RexInputRef reference ? number(reference) : null;
        if (number == null) {
            throw Terms.unsupported(label + " by anything but a number");
        }
        return number.longValue();
    }

    private @Nullable BigDecimal number(RexInputRef reference) {
        int constant = reference.getIndex() - columnCount;
        if (constant < 0) {
            return null;
        }
        RexLiteral literal = window.constants.get(constant);
        return literal.isNull() ? null : literal.getValueAs(BigDecimal.class);
    }

    private Frame frame(Window.Group group) {
        boolean isWhole =
                group.lowerBound.isUnboundedPreceding() && group.upperBound.isUnboundedFollowing();
        return new Frame(
                !group.isRows && !isWhole, bound(group.lowerBound), bound(group.upperBound));
    }

    private long bound(RexWindowBound bound) {
        if (bound.isCurrentRow()) {
            return 0;
        }
        if (bound.isUnbounded()) {
            return bound.isPreceding() ? Frame.UNBOUNDED_FROM : Frame.UNBOUNDED_TO;
        }
        RexNode offset = bound.getOffset();
        long rows = offset == null ? 0 : constant(offset, "a frame");
        return bound.isPreceding() ? -rows : rows;
    }
}
