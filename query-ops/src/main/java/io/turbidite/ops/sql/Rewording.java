package io.turbidite.ops.sql;

import org.apache.calcite.sql.SqlBasicTypeNameSpec;
import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlDataTypeSpec;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlIntervalQualifier;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.sql.util.SqlShuttle;
import org.jspecify.annotations.Nullable;

/** Turns what the parser took for something else back into what was written. */
final class Rewording extends SqlShuttle {
    private final String text;

    Rewording(String text) {
        this.text = text;
    }

    @Override
    public @Nullable SqlNode visit(SqlCall call) {
        // in another dialect the unit comes second
        if (call.getOperator().getName().equals("DATE_TRUNC") && call.operandCount() == 2) {
            SqlNode second = call.operand(1) instanceof SqlIntervalQualifier unit
                    ? named(unit.getParserPosition())
                    : call.operand(1);
            SqlCall own = Operators.DATE_TRUNC.createCall(
                    call.getParserPosition(), call.operand(0), second);
            return super.visit(own);
        }
        return super.visit(call);
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
