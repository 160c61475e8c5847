package io.turbidite.ops.sql;

import io.turbidite.ops.window.WindowFunction;

import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlNumericLiteral;
import org.apache.calcite.sql.SqlWindow;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.jspecify.annotations.Nullable;

import java.math.BigDecimal;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;

/**
 * Finds what no window does while the statement still has places: the operators that it becomes
 * have none. Static.
 */
final class WindowPlaces {
    private static final Set<String> BY_NUMBER = Set.of("LAG", "LEAD", "NTILE", "NTH_VALUE");

    private WindowPlaces() {}

    /** @throws SqlException with the place of a frame or number that is refused */
    static void check(SqlCall call, String text) {
        if (call instanceof SqlWindow window) {
            checkBound(window.getLowerBound(), window.isRows(), text);
            checkBound(window.getUpperBound(), window.isRows(), text);
        } else if (call.getKind() == SqlKind.OVER && call.operand(0) instanceof SqlCall function) {
            checkNumber(function, text);
            if (function.getOperator().getName().equalsIgnoreCase("NTH_VALUE")
                    && call.operand(1) instanceof SqlWindow window
                    && isUnbounded(window.getUpperBound(), false)
                    && !isUnbounded(window.getLowerBound(), true)) {
                throw refused(
                        "NTH_VALUE is of a frame that begins with the first row or ends near the current one",
                        Objects.requireNonNull(window.getUpperBound()),
                        text);
            }
        }
    }

    private static boolean isUnbounded(@Nullable SqlNode bound, boolean isPreceding) {
        return bound != null
                && (isPreceding
                        ? SqlWindow.isUnboundedPreceding(bound)
                        : SqlWindow.isUnboundedFollowing(bound));
    }

    private static void checkBound(@Nullable SqlNode bound, boolean isRows, String text) {
        if (!(bound instanceof SqlCall distance)
                || !(distance.getKind() == SqlKind.PRECEDING
                        || distance.getKind() == SqlKind.FOLLOWING)) {
            return;
        }
        if (!isRows) {
            throw refused("a frame of values by a distance is not supported", bound, text);
        }
        BigDecimal rows = number(distance.operand(0));
        if (rows == null
                || rows.stripTrailingZeros().scale() > 0
                || rows.signum() < 0
                || rows.compareTo(BigDecimal.valueOf(WindowFunction.DISTANCE_MAX)) > 0) {
            throw refused(
                    String.format(
                            Locale.ROOT,
                            "a frame of rows goes by a whole number, 0 to %,d, or is UNBOUNDED",
                            WindowFunction.DISTANCE_MAX),
                    bound,
                    text);
        }
    }

    private static void checkNumber(SqlCall function, String text) {
        String name = function.getOperator().getName().toUpperCase(Locale.ROOT);
        int operand = name.equals("NTILE") ? 0 : 1;
        if (!BY_NUMBER.contains(name) || function.operandCount() <= operand) {
            return;
        }
        boolean isDistance = name.equals("LAG") || name.equals("LEAD");
        long least = isDistance ? 0 : 1;
        long most = isDistance ? WindowFunction.DISTANCE_MAX : Long.MAX_VALUE;
        BigDecimal number = number(function.operand(operand));
        if (number == null
                || number.stripTrailingZeros().scale() > 0
                || number.compareTo(BigDecimal.valueOf(least)) < 0
                || number.compareTo(BigDecimal.valueOf(most)) > 0) {
            throw refused(
                    isDistance
                            ? String.format(
                                    Locale.ROOT, "%s is by a whole number, 0 to %,d", name, most)
                            : "%s is by a whole number, 1 at least".formatted(name),
                    function.operand(operand),
                    text);
        }
    }

    private static @Nullable BigDecimal number(SqlNode node) {
        if (node instanceof SqlCall minus && minus.getKind() == SqlKind.MINUS_PREFIX) {
            BigDecimal number = number(minus.operand(0));
            return number == null ? null : number.negate();
        }
        return node instanceof SqlNumericLiteral number ? number.bigDecimalValue() : null;
    }

    private static SqlException refused(String message, SqlNode node, String text) {
        SqlParserPos place = node.getParserPosition();
        return SqlException.at(message, text, place.getLineNum(), place.getColumnNum(), null);
    }
}
