package io.turbidite.ops.sql;

import org.apache.calcite.sql.SqlBasicTypeNameSpec;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlDynamicParam;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlIntervalQualifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNodeList;
import org.apache.calcite.sql.fun.SqlCase;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.sql.util.SqlShuttle;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/** Turns what the parser took for something else back into what was written. */
final class Rewording extends SqlShuttle {
    private static final Set<String> TAKE_VALUES =
            Set.of("COALESCE", "GREATEST", "LEAST", "CONCAT");

    private static final Set<String> LISTS = Set.of("ARRAY_AGG", "STRING_AGG", "LISTAGG");

    private final String text;

    Rewording(String text) {
        this.text = text;
    }

    @Override
    public @Nullable SqlNode visit(SqlCall call) {
        WindowPlaces.check(call, text);
        RefusedPlaces.check(call, text);
        checkList(call);
        // in another dialect the unit comes second
        if (call.getOperator().getName().equals("DATE_TRUNC") && call.operandCount() == 2) {
            SqlNode second = call.operand(1) instanceof SqlIntervalQualifier unit
                    ? named(unit.getParserPosition())
                    : call.operand(1);
            SqlCall own = Operators.DATE_TRUNC.createCall(
                    call.getParserPosition(), call.operand(0), second);
            return super.visit(own);
        }
        if (call.getOperator().equals(SqlStdOperatorTable.PERCENTILE_CONT)) {
            return super.visit(Operators.PERCENTILE_CONT.createCall(
                    call.getParserPosition(), call.getOperandList()));
        }
        if (call.getOperator().getName().equalsIgnoreCase("MEDIAN") && call.operandCount() == 1) {
            return super.visit((SqlCall) median(call));
        }
        if (call.getKind() == SqlKind.FILTER
                && call.operand(0) instanceof SqlCall within
                && within.getKind() == SqlKind.WITHIN_GROUP
                && within.operand(0).getKind() == SqlKind.PERCENTILE_DISC) {
            return super.visit((SqlCall) filtered(within, call.operand(1)));
        }
        if (call.getKind() == SqlKind.WITHIN_GROUP && isList(call.operand(0))) {
            SqlCall within = call.getOperator()
                    .createCall(call.getParserPosition(), call.operand(0), lowest(call.operand(1)));
            return super.visit(within);
        }
        if (isList(call)) {
            List<SqlNode> operands = new ArrayList<>();
            for (SqlNode operand : call.getOperandList()) {
                operands.add(operand instanceof SqlNodeList order ? lowest(order) : operand);
            }
            SqlCall list = call.getOperator()
                    .createCall(call.getFunctionQuantifier(), call.getParserPosition(), operands);
            return super.visit(list);
        }
        if (call.operandCount() == 0
                && TAKE_VALUES.contains(call.getOperator().getName().toUpperCase(Locale.ROOT))) {
            SqlParserPos place = call.getParserPosition();
            throw SqlException.at(
                    "%s takes one value at least".formatted(call.getOperator().getName()),
                    text,
                    place.getLineNum(),
                    place.getColumnNum(),
                    null);
        }
        if (call.getKind() == SqlKind.CAST
                && call.operand(0) instanceof SqlDynamicParam parameter
                && call.operand(1) instanceof SqlDataTypeSpec type
                && type.getTypeNameSpec() instanceof SqlBasicTypeNameSpec spec
                && spec.getTypeName().getSimple().equalsIgnoreCase("decimal")
                && spec.getPrecision() >= 0) {
            // the parameter itself has all digits, so that the cast is one
            SqlParserPos place = call.getParserPosition();
            SqlBasicTypeNameSpec any = new SqlBasicTypeNameSpec(
                    SqlTypeName.DECIMAL,
                    Types.DECIMAL_DIGITS_MAX,
                    Types.DECIMAL_DIGITS_MAX / 2,
                    place);
            SqlNode whole = SqlStdOperatorTable.CAST.createCall(
                    place, parameter, new SqlDataTypeSpec(any, place));
            return call.getOperator().createCall(place, whole, type);
        }
        return super.visit(call);
    }

    @Override
    public @Nullable SqlNode visit(SqlLiteral literal) {
        RefusedPlaces.check(literal, text);
        return super.visit(literal);
    }

    /** A list takes memory for each value, whatever is done with it. */
    private void checkList(SqlCall call) {
        boolean isIn = call.getKind() == SqlKind.IN || call.getKind() == SqlKind.NOT_IN;
        if (isIn
                && call.operand(1) instanceof SqlNodeList values
                && values.size() > LongLists.VALUE_COUNT_MAX) {
            SqlParserPos place = call.getParserPosition();
            throw SqlException.at(
                    String.format(
                            Locale.ROOT,
                            "%s has %,d values, more than the limit of %,d: write several, or compare with the rows of a dataset",
                            call.getOperator().getName(),
                            values.size(),
                            LongLists.VALUE_COUNT_MAX),
                    text,
                    place.getLineNum(),
                    place.getColumnNum(),
                    null);
        }
    }

    private static boolean isList(SqlNode node) {
        return node instanceof SqlCall call
                && LISTS.contains(call.getOperator().getName().toUpperCase(Locale.ROOT));
    }

    /** Null is lowest: told of lists, too, Calcite would forget it and take it for highest. */
    private static SqlNodeList lowest(SqlNodeList order) {
        List<SqlNode> keys = new ArrayList<>();
        for (SqlNode key : order) {
            SqlParserPos place = key.getParserPosition();
            keys.add(
                    switch (key.getKind()) {
                        case NULLS_FIRST, NULLS_LAST -> key;
                        case DESCENDING -> SqlStdOperatorTable.NULLS_LAST.createCall(place, key);
                        default -> SqlStdOperatorTable.NULLS_FIRST.createCall(place, key);
                    });
        }
        return new SqlNodeList(keys, order.getParserPosition());
    }

    private static SqlNode median(SqlCall call) {
        SqlParserPos place = call.getParserPosition();
        return SqlStdOperatorTable.WITHIN_GROUP.createCall(
                place,
                Operators.PERCENTILE_CONT.createCall(
                        place, SqlLiteral.createExactNumeric("0.5", place)),
                new SqlNodeList(List.of(call.operand(0)), place));
    }

    /**
     * The percentile of nothing but the values of some rows: others are null, and nulls are left
     * out. The validator does not find the type of one with a filter.
     */
    private static SqlNode filtered(SqlCall within, SqlNode condition) {
        SqlParserPos place = within.getParserPosition();
        SqlNodeList order = within.operand(1);
        List<SqlNode> keys = new ArrayList<>();
        for (SqlNode key : order) {
            keys.add(key == null ? null : where(key, condition));
        }
        return SqlStdOperatorTable.WITHIN_GROUP.createCall(
                place, within.operand(0), new SqlNodeList(keys, order.getParserPosition()));
    }

    private static SqlNode where(SqlNode key, SqlNode condition) {
        SqlParserPos place = key.getParserPosition();
        if (key instanceof SqlCall order
                && Set.of(SqlKind.DESCENDING, SqlKind.NULLS_FIRST, SqlKind.NULLS_LAST)
                        .contains(order.getKind())) {
            return order.getOperator().createCall(place, where(order.operand(0), condition));
        }
        return new SqlCase(
                place,
                null,
                SqlNodeList.of(condition),
                SqlNodeList.of(key),
                SqlLiteral.createNull(place));
    }

    /** The standard has no type TEXT. */
    @Override
    public SqlNode visit(SqlDataTypeSpec type) {
        if (!type.getTypeName().toString().equalsIgnoreCase("text")) {
            return type;
        }
        SqlParserPos place = type.getParserPosition();
        return new SqlDataTypeSpec(new SqlBasicTypeNameSpec(SqlTypeName.VARCHAR, place), place);
    }

    private SqlIdentifier named(SqlParserPos place) {
        String line = text.lines().skip(place.getLineNum() - 1L).findFirst().orElse("");
        int start = place.getColumnNum() - 1;
        int end = place.getEndLineNum() == place.getLineNum() ? place.getEndColumnNum() : start + 1;
        String name = line.substring(start, Math.min(line.length(), end));
        boolean isQuoted = name.length() > 1 && name.startsWith("\"");
        return new SqlIdentifier(
                isQuoted ? name.substring(1, name.length() - 1).replace("\"\"", "\"") : name,
                place);
    }
}
