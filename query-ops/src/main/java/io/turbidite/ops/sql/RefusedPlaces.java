package io.turbidite.ops.sql;

import org.apache.calcite.sql.SqlCall;
import org.apache.calcite.sql.SqlIdentifier;
import org.apache.calcite.sql.SqlIntervalLiteral;
import org.apache.calcite.sql.SqlKind;
import org.apache.calcite.sql.SqlLiteral;
import org.apache.calcite.sql.SqlNode;
import org.apache.calcite.sql.SqlSelectKeyword;
import org.apache.calcite.sql.SqlWithItem;
import org.apache.calcite.sql.parser.SqlParserPos;
import org.apache.calcite.sql.util.SqlBasicVisitor;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * Refuses what no statement can have while its place is known: trees of relations, which are made
 * of it, have none. Static.
 */
final class RefusedPlaces {
    /** Who asks, and where: stores have no users. Without quotes these are functions. */
    private static final Set<String> OF_SESSIONS = Set.of(
            "USER",
            "CURRENT_USER",
            "SESSION_USER",
            "SYSTEM_USER",
            "CURRENT_ROLE",
            "CURRENT_PATH",
            "CURRENT_CATALOG",
            "CURRENT_SCHEMA");

    /** To which it matters how often a value comes. */
    private static final Set<String> COUNT_EACH = Set.of("COUNT", "SUM", "AVG");

    private static final String UNSUPPORTED = " is not supported";

    private RefusedPlaces() {}

    static void check(SqlCall call, String text) {
        if (call.getKind() == SqlKind.SIMILAR) {
            throw unsupported("SIMILAR TO", call.getParserPosition(), text);
        }
        if (call.getKind() == SqlKind.OVER
                && call.operand(0) instanceof SqlCall function
                && COUNT_EACH.contains(name(function))
                && function.getFunctionQuantifier() != null
                && function.getFunctionQuantifier().getValue() == SqlSelectKeyword.DISTINCT) {
            throw unsupported(name(function) + "(DISTINCT …) OVER", call.getParserPosition(), text);
        }
        if (call instanceof SqlWithItem item
                && item.recursive.booleanValue()
                && namesItself(item)) {
            throw unsupported("WITH RECURSIVE", item.name.getParserPosition(), text);
        }
    }

    private static String name(SqlCall function) {
        return function.getOperator().getName().toUpperCase(Locale.ROOT);
    }

    static void check(SqlLiteral literal, String text) {
        if (literal instanceof SqlIntervalLiteral interval
                && interval.getValue() instanceof SqlIntervalLiteral.IntervalValue value
                && value.getIntervalQualifier().isYearMonth()) {
            throw unsupported(
                    "a constant of type " + literal.getTypeName(),
                    literal.getParserPosition(),
                    text);
        }
    }

    private static SqlException unsupported(String construct, SqlParserPos place, String text) {
        return SqlException.at(
                construct + UNSUPPORTED, text, place.getLineNum(), place.getColumnNum(), null);
    }

    private static boolean namesItself(SqlWithItem item) {
        List<SqlIdentifier> found = new ArrayList<>();
        item.query.accept(new SqlBasicVisitor<@Nullable Void>() {
            @Override
            public @Nullable Void visit(SqlIdentifier identifier) {
                if (identifier.isSimple() && identifier.getSimple().equals(item.name.getSimple())) {
                    found.add(identifier);
                }
                return null;
            }
        });
        return !found.isEmpty();
    }

    /** The same error, with the place of the name that it is about, if that stands there once. */
    static SqlException placed(SqlException error, SqlNode parsed, String text) {
        String message = String.valueOf(error.getMessage());
        String word = message.endsWith(UNSUPPORTED)
                ? message.substring(0, message.length() - UNSUPPORTED.length())
                : "";
        List<SqlParserPos> places = new ArrayList<>();
        if (OF_SESSIONS.contains(word)) {
            parsed.accept(new SqlBasicVisitor<@Nullable Void>() {
                @Override
                public @Nullable Void visit(SqlIdentifier name) {
                    if (name.isSimple()
                            && !name.isComponentQuoted(0)
                            && name.getSimple().equalsIgnoreCase(word)) {
                        places.add(name.getParserPosition());
                    }
                    return null;
                }
            });
        }
        return places.size() == 1 ? unsupported(word, places.getFirst(), text) : error;
    }
}
