package io.turbidite.ops.sql;

import org.apache.calcite.sql.SqlFunction;
import org.apache.calcite.sql.SqlFunctionCategory;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlOperator;
import org.apache.calcite.sql.SqlOperatorTable;
import org.apache.calcite.sql.SqlSyntax;
import org.apache.calcite.sql.fun.SqlLibrary;
import org.apache.calcite.sql.fun.SqlLibraryOperatorTableFactory;
import org.apache.calcite.sql.fun.SqlLibraryOperators;
import org.apache.calcite.sql.type.OperandTypes;
import org.apache.calcite.sql.type.ReturnTypes;
import org.apache.calcite.sql.type.SqlOperandTypeChecker;
import org.apache.calcite.sql.type.SqlReturnTypeInference;
import org.apache.calcite.sql.type.SqlTypeFamily;
import org.apache.calcite.sql.type.SqlTypeName;
import org.apache.calcite.sql.type.SqlTypeTransforms;
import org.apache.calcite.sql.util.SqlOperatorTables;
import org.apache.calcite.sql.validate.SqlNameMatcher;
import org.apache.calcite.sql.validate.SqlNameMatchers;
import org.jspecify.annotations.Nullable;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;

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
    static final SqlFunction ENVELOPE = spatial("ST_MAKEENVELOPE", 4);
    static final SqlFunction X = of("ST_X", ReturnTypes.DOUBLE_NULLABLE, geometries(1));
    static final SqlFunction Y = of("ST_Y", ReturnTypes.DOUBLE_NULLABLE, geometries(1));
    static final SqlFunction WITHIN = truth("ST_WITHIN", geometries(2));
    static final SqlFunction INTERSECTS = truth("ST_INTERSECTS", geometries(2));
    static final SqlFunction DISTANCE =
            of("ST_DISTANCE", ReturnTypes.DOUBLE_NULLABLE, geometries(2));

    /** The value itself; statements can't name it. */
    static final SqlFunction KEPT = of("KEPT", ReturnTypes.ARG0, OperandTypes.ANY);

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
            SqlLibraryOperators.TRY_CAST);

    /** What the compiler knows by name, for the nearest name of one that is not there. */
    private static final List<String> NAMES = List.of(
            "ABS",
            "AVG",
            "CAST",
            "CEIL",
            "CHAR_LENGTH",
            "COALESCE",
            "CONCAT",
            "CONTAINS",
            "CONTAINS_ANY",
            "CONTAINS_PREFIX",
            "COUNT",
            "EXP",
            "EXTRACT",
            "FLOOR",
            "HAS",
            "LN",
            "LOG10",
            "LOWER",
            "MAX",
            "MIN",
            "MOD",
            "NULLIF",
            "POSITION",
            "POWER",
            "REPLACE",
            "ROUND",
            "SQRT",
            "STDDEV",
            "STDDEV_SAMP",
            "ST_DISTANCE",
            "ST_INTERSECTS",
            "ST_MAKEENVELOPE",
            "ST_POINT",
            "ST_WITHIN",
            "ST_X",
            "ST_Y",
            "SUBSTRING",
            "SUM",
            "TRIM",
            "TRY_CAST",
            "UPPER",
            "VARIANCE",
            "VAR_SAMP");

    private Operators() {}

    static SqlOperatorTable table() {
        return SqlOperatorTables.chain(
                new OwnFunctions(),
                SqlLibraryOperatorTableFactory.INSTANCE.getOperatorTable(
                        EnumSet.of(SqlLibrary.STANDARD, SqlLibrary.POSTGRESQL)));
    }

    /** They are found in letters of any case, as Calcite's are. */
    private static final class OwnFunctions implements SqlOperatorTable {
        private final SqlOperatorTable functions = SqlOperatorTables.of(OWN);

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

    static Set<String> names() {
        return new TreeSet<>(NAMES);
    }

    private static SqlFunction spatial(String name, int arguments) {
        return of(
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

    private static SqlFunction truth(String name, SqlOperandTypeChecker arguments) {
        return of(name, ReturnTypes.BOOLEAN_NULLABLE, arguments);
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
