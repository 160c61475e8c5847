package io.turbidite.ops.sql;

import io.turbidite.core.type.TypeKind;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.sql.SqlBinaryOperator;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperatorBinding;
import org.apache.calcite.sql.fun.SqlMonotonicBinaryOperator;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.type.InferTypes;
import org.apache.calcite.sql.type.OperandTypes;
import org.apache.calcite.sql.type.ReturnTypes;
import org.apache.calcite.sql.type.SqlTypeFamily;
import org.apache.calcite.sql.type.SqlTypeName;

import java.util.Objects;

/**
 * The minus of Calcite, which takes two moments as well: the time between them, and of two dates
 * the days. Static, without state.
 */
final class Difference {
    /** That of Calcite's: it counts when text is made of a call. */
    private static final int PRECEDENCE = 40;

    /** Of the class, the name and the kind of Calcite's, so that it is converted as that is. */
    static final SqlBinaryOperator MINUS = new SqlMonotonicBinaryOperator(
            SqlStdOperatorTable.MINUS.getName(),
            SqlKind.MINUS,
            PRECEDENCE,
            true,
            Difference::type,
            InferTypes.FIRST_KNOWN,
            OperandTypes.MINUS_OPERATOR.or(OperandTypes.family(
                            SqlTypeFamily.DATE, SqlTypeFamily.DATE)
                    .or(OperandTypes.family(SqlTypeFamily.TIMESTAMP, SqlTypeFamily.TIMESTAMP))
                    .or(OperandTypes.family(SqlTypeFamily.DATE, SqlTypeFamily.TIMESTAMP))
                    .or(OperandTypes.family(SqlTypeFamily.TIMESTAMP, SqlTypeFamily.DATE))));

    private Difference() {}

    private static RelDataType type(SqlOperatorBinding call) {
        SqlTypeName left = call.getOperandType(0).getSqlTypeName();
        SqlTypeName right = call.getOperandType(1).getSqlTypeName();
        if (!isMoment(left) || !isMoment(right)) {
            return Objects.requireNonNull(ReturnTypes.NULLABLE_SUM.inferReturnType(call));
        }
        TypeKind kind = left == SqlTypeName.DATE && right == SqlTypeName.DATE
                ? TypeKind.INT64
                : TypeKind.DURATION;
        boolean isNullable =
                call.getOperandType(0).isNullable() || call.getOperandType(1).isNullable();
        return call.getTypeFactory()
                .createTypeWithNullability(Types.of(call.getTypeFactory(), kind), isNullable);
    }

    private static boolean isMoment(SqlTypeName type) {
        return type == SqlTypeName.DATE || type == SqlTypeName.TIMESTAMP;
    }
}
