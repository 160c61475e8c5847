package io.turbidite.ops.sql;

import org.apache.calcite.plan.Strong;
import org.apache.calcite.sql.SqlAggFunction;
import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlOperatorTable;
import org.apache.calcite.sql.SqlSyntax;
import org.apache.calcite.sql.fun.SqlBasicAggFunction;
import org.apache.calcite.sql.fun.SqlLibraryOperators;
import org.apache.calcite.sql.fun.SqlStdOperatorTable;
import org.apache.calcite.sql.type.OperandTypes;
import org.apache.calcite.sql.type.ReturnTypes;
import org.apache.calcite.sql.type.SqlOperandCountRanges;
import org.apache.calcite.sql.type.SqlOperandTypeChecker;
import org.apache.calcite.sql.type.SqlReturnTypeInference;
import org.apache.calcite.sql.type.SqlTypeFamily;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.sql.type.SqlTypeTransforms;
import org.apache.calcite.sql.util.SqlOperatorTables;
import org.apache.calcite.sql.validate.SqlNameMatcher;
import org.apache.calcite.sql.validate.SqlNameMatchers;
import org.apache.calcite.util.Optionality;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.Supplier;

/** The functions that statements may name. Static, without state. */
final class Operators {
    private static final SqlReturnTypeInference GEOMETRY =
            ReturnTypes.explicit(SqlTypeName.GEOMETRY).andThen(SqlTypeTransforms.TO_NULLABLE);

    static final SqlFunction CONTAINS = truth(
            "CONTAINS", OperandTypes.family(SqlTypeFamily.CHARACTER, SqlTypeFamily.CHARACTER));
    static final SqlFunction CONTAINS_ANY = truth(
            "CONTAINS_ANY", OperandTypes.family(SqlTypeFamily.CHARACTER, SqlTypeFamily.CHARACTER));
    static final SqlFunction CONTAINS_PREFIX = truth(
            "CONTAINS_PREFIX",
            OperandTypes.family(SqlTypeFamily.CHARACTER, SqlTypeFamily.CHARACTER));
    static final SqlFunction HAS =
            truth("HAS", OperandTypes.family(SqlTypeFamily.ARRAY, SqlTypeFamily.ANY));
    static final SqlFunction POINT = spatial("ST_POINT", 2);
    static final SqlFunction CELL = strict(
            "CELL",
            GEOMETRY,
            OperandTypes.family(SqlTypeFamily.GEO, SqlTypeFamily.NUMERIC, SqlTypeFamily.NUMERIC));
    static final SqlFunction ENVELOPE = spatial("ST_MAKEENVELOPE", 4);
    static final SqlFunction X = strict("ST_X", ReturnTypes.DOUBLE_NULLABLE, geometries(1));
    static final SqlFunction Y = strict("ST_Y", ReturnTypes.DOUBLE_NULLABLE, geometries(1));
    static final SqlFunction WITHIN = truth("ST_WITHIN", geometries(2));
    static final SqlFunction INTERSECTS = truth("ST_INTERSECTS", geometries(2));
    static final SqlFunction DISTANCE =
            strict("ST_DISTANCE", ReturnTypes.DOUBLE_NULLABLE, geometries(2));

    /** The value itself; statements can't name it. */
    static final SqlFunction KEPT = of("KEPT", ReturnTypes.ARG0, OperandTypes.ANY);

    /** The first is one of the others, as {@code IN} has it; statements can't name it. */
    static final SqlFunction ONE_OF = of(
            "ONE_OF",
            ReturnTypes.BOOLEAN_NULLABLE,
            OperandTypes.variadic(SqlOperandCountRanges.from(2)));

    /** The same where none of the others is null: it is null where the first is. */
    static final SqlFunction ONE_OF_VALUES =
            truth("ONE_OF_VALUES", OperandTypes.variadic(SqlOperandCountRanges.from(2)));

    /** The moment at which the statement began. */
    static final SqlFunction NOW = of(
            "NOW",
            ReturnTypes.explicit(SqlTypeName.TIMESTAMP, Types.FRACTION_DIGITS),
            OperandTypes.NILADIC);

    static final SqlFunction DATE_TRUNC = of(
            "DATE_TRUNC",
            ReturnTypes.explicit(SqlTypeName.TIMESTAMP, Types.FRACTION_DIGITS)
                    .andThen(SqlTypeTransforms.TO_NULLABLE),
            OperandTypes.family(SqlTypeFamily.CHARACTER, SqlTypeFamily.DATETIME));

    /** A double, whatever the numbers are. */
    static final SqlAggFunction PERCENTILE_CONT = SqlBasicAggFunction.create(
                    "PERCENTILE_CONT",
                    SqlKind.PERCENTILE_CONT,
                    ReturnTypes.DOUBLE.andThen(SqlTypeTransforms.FORCE_NULLABLE),
                    OperandTypes.UNIT_INTERVAL_NUMERIC_LITERAL)
            .withFunctionType(SqlFunctionCategory.SYSTEM)
            .withGroupOrder(Optionality.MANDATORY)
            .withPercentile(true);

    /** As PostgreSQL has them. */
    private static final List<SqlOperator> KNOWN = List.of(
            NOW,
            Difference.MINUS,
            text("LEFT", OperandTypes.family(SqlTypeFamily.CHARACTER, SqlTypeFamily.INTEGER)),
            text("RIGHT", OperandTypes.family(SqlTypeFamily.CHARACTER, SqlTypeFamily.INTEGER)),
            text("REPEAT", OperandTypes.family(SqlTypeFamily.CHARACTER, SqlTypeFamily.INTEGER)),
            text("LPAD", padding()),
            text("RPAD", padding()),
            text("REVERSE", OperandTypes.CHARACTER),
            text("LTRIM", texts(1, 2)),
            text("RTRIM", texts(1, 2)),
            text("BTRIM", texts(1, 2)),
            text(
                    "SUBSTR",
                    family(
                            2,
                            SqlTypeFamily.CHARACTER,
                            SqlTypeFamily.INTEGER,
                            SqlTypeFamily.INTEGER)),
            text(
                    "SPLIT_PART",
                    OperandTypes.family(
                            SqlTypeFamily.CHARACTER,
                            SqlTypeFamily.CHARACTER,
                            SqlTypeFamily.INTEGER)),
            of("CONCAT", ReturnTypes.VARCHAR, OperandTypes.ONE_OR_MORE),
            of(
                    "CONCAT_WS",
                    nullable(SqlTypeName.VARCHAR),
                    OperandTypes.variadic(SqlOperandCountRanges.from(2))),
            of("LENGTH", ReturnTypes.BIGINT_NULLABLE, OperandTypes.CHARACTER),
            of("STRPOS", ReturnTypes.BIGINT_NULLABLE, texts(2, 2)),
            truth("STARTS_WITH", texts(2, 2)),
            truth("REGEXP_LIKE", texts(2, 3)),
            text("REGEXP_REPLACE", texts(3, 4)),
            of("GREATEST", ReturnTypes.LEAST_RESTRICTIVE, OperandTypes.SAME_VARIADIC),
            of("LEAST", ReturnTypes.LEAST_RESTRICTIVE, OperandTypes.SAME_VARIADIC),
            of("IFNULL", ReturnTypes.LEAST_RESTRICTIVE, OperandTypes.SAME_SAME),
            of("NVL", ReturnTypes.LEAST_RESTRICTIVE, OperandTypes.SAME_SAME),
            DATE_TRUNC,
            of(
                    "TRUNC",
                    ReturnTypes.ARG0_NULLABLE,
                    family(1, SqlTypeFamily.NUMERIC, SqlTypeFamily.INTEGER)),
            of(
                    "LOG",
                    ReturnTypes.DOUBLE_NULLABLE,
                    family(1, SqlTypeFamily.NUMERIC, SqlTypeFamily.NUMERIC)),
            of(
                    "POW",
                    ReturnTypes.DOUBLE_NULLABLE,
                    OperandTypes.family(SqlTypeFamily.NUMERIC, SqlTypeFamily.NUMERIC)),
            SqlLibraryOperators.INFIX_CAST,
            SqlLibraryOperators.ILIKE,
            SqlLibraryOperators.NOT_ILIKE,
            SqlLibraryOperators.BOOL_AND,
            SqlLibraryOperators.BOOL_OR,
            SqlLibraryOperators.ARRAY_AGG,
            SqlLibraryOperators.STRING_AGG,
            SqlLibraryOperators.DATE_PART);

    private static final List<SqlOperator> OWN = List.of(
            CONTAINS,
            CONTAINS_ANY,
            CONTAINS_PREFIX,
            HAS,
            POINT,
            ENVELOPE,
            X,
            Y,
            WITHIN,
            INTERSECTS,
            DISTANCE,
            CELL,
            SqlLibraryOperators.TRY_CAST);

    /** What the compiler knows by name, for the nearest name of one that is not there. */
    private static final List<String> NAMES = List.of("""
            ABS ACOS ANY_VALUE APPROX_COUNT_DISTINCT ARRAY_AGG ASIN ATAN AVG BOOL_AND BOOL_OR BTRIM
            CAST CBRT CEIL CELL CHAR_LENGTH COALESCE CONCAT CONCAT_WS CONTAINS CONTAINS_ANY
            CONTAINS_PREFIX COS COUNT CURRENT_DATE CURRENT_TIME CURRENT_TIMESTAMP DATE_PART
            DATE_TRUNC DEGREES EVERY EXP EXTRACT FLOOR GREATEST GROUPING HAS IFNULL LEAST LEFT LENGTH LISTAGG
            LN LOCALTIME LOCALTIMESTAMP LOG LOG10 LOWER LPAD LTRIM MAX MEDIAN MIN MOD NOW NULLIF
            NVL PERCENTILE_CONT PERCENTILE_DISC PI POSITION POW POWER RADIANS REGEXP_LIKE REGEXP_REPLACE REPEAT REPLACE
            REVERSE RIGHT ROUND RPAD RTRIM SIGN SIN SPLIT_PART SQRT STARTS_WITH STDDEV
            STDDEV_POP STDDEV_SAMP STRING_AGG STRPOS ST_DISTANCE ST_INTERSECTS ST_MAKEENVELOPE ST_POINT
            ST_WITHIN ST_X ST_Y SUBSTR SUBSTRING SUM TAN TRIM TRUNC TRY_CAST UPPER VARIANCE
            VAR_POP VAR_SAMP
            """.strip().split("\\s+", -1));

    private Operators() {}

    static SqlOperatorTable table() {
        return SqlOperatorTables.chain(new OwnFunctions(), SqlStdOperatorTable.instance());
    }

    /** They are found in letters of any case, as Calcite's are. */
    private static final class OwnFunctions implements SqlOperatorTable {
        private final SqlOperatorTable functions = SqlOperatorTables.of(own());

        @Override
        public List<SqlOperator> getOperatorList() {
            return functions.getOperatorList();
        }

        @Override
        public void lookupOperatorOverloads(
                SqlIdentifier name,
                @Nullable SqlFunctionCategory category,
                SqlSyntax syntax,
                List<SqlOperator> found,
                SqlNameMatcher matcher) {
            functions.lookupOperatorOverloads(
                    name, category, syntax, found, SqlNameMatchers.withCaseSensitive(false));
        }
    }

    private static List<SqlOperator> own() {
        List<SqlOperator> own = new ArrayList<>(OWN);
        own.addAll(KNOWN);
        return own;
    }

    static Set<String> names() {
        return new TreeSet<>(NAMES);
    }

    private static SqlFunction spatial(String name, int arguments) {
        return strict(
                name,
                GEOMETRY,
                arguments == 2
                        ? OperandTypes.family(SqlTypeFamily.NUMERIC, SqlTypeFamily.NUMERIC)
                        : OperandTypes.family(
                                SqlTypeFamily.NUMERIC,
                                SqlTypeFamily.NUMERIC,
                                SqlTypeFamily.NUMERIC,
                                SqlTypeFamily.NUMERIC));
    }

    private static SqlOperandTypeChecker geometries(int count) {
        return count == 1
                ? OperandTypes.family(SqlTypeFamily.GEO)
                : OperandTypes.family(SqlTypeFamily.GEO, SqlTypeFamily.GEO);
    }

    private static SqlReturnTypeInference nullable(SqlTypeName type) {
        return ReturnTypes.explicit(type).andThen(SqlTypeTransforms.TO_NULLABLE);
    }

    private static SqlFunction text(String name, SqlOperandTypeChecker arguments) {
        return of(name, nullable(SqlTypeName.VARCHAR), arguments);
    }

    private static SqlOperandTypeChecker padding() {
        return family(2, SqlTypeFamily.CHARACTER, SqlTypeFamily.INTEGER, SqlTypeFamily.CHARACTER);
    }

    private static SqlOperandTypeChecker texts(int least, int most) {
        return OperandTypes.family(
                Collections.nCopies(most, SqlTypeFamily.CHARACTER), index -> index >= least);
    }

    private static SqlOperandTypeChecker family(int least, SqlTypeFamily... families) {
        return OperandTypes.family(List.of(families), index -> index >= least);
    }

    private static SqlFunction truth(String name, SqlOperandTypeChecker arguments) {
        return strict(name, ReturnTypes.BOOLEAN_NULLABLE, arguments);
    }

    /**
     * One that is null where an argument is. So an outer join is an inner one below a condition on
     * it, and the condition comes to the side that it is on.
     */
    private static SqlFunction strict(
            String name, SqlReturnTypeInference result, SqlOperandTypeChecker arguments) {
        return new SqlFunction(
                name,
                SqlKind.OTHER_FUNCTION,
                result,
                null,
                arguments,
                SqlFunctionCategory.USER_DEFINED_FUNCTION) {
            @Override
            public Supplier<Strong.Policy> getStrongPolicyInference() {
                return () -> Strong.Policy.ANY;
            }
        };
    }

    private static SqlFunction of(
            String name, SqlReturnTypeInference result, SqlOperandTypeChecker arguments) {
        return new SqlFunction(
                name,
                SqlKind.OTHER_FUNCTION,
                result,
                null,
                arguments,
                SqlFunctionCategory.USER_DEFINED_FUNCTION);
    }
}
