package io.turbidite.ops.sql;

import io.turbidite.core.expr.Expression;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Names of columns between the parts of a statement, as {@code EXPLAIN} shows them: those of the
 * fields that they are, where these can stand as they are, else by their places. Static.
 */
final class InnerNames {
    private static final Pattern PLAIN = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");

    /** Words of the language of queries, and names of what a query finds out. */
    private static final Set<String> RESERVED = Set.of(
            "and",
            "or",
            "not",
            "in",
            "is",
            "null",
            "true",
            "false",
            "case",
            "when",
            "then",
            "else",
            "end",
            "as",
            "count",
            "cell",
            "distance",
            "similarity",
            "tokens",
            "nothing");

    private InnerNames() {}

    /**
     * A name for each column, which no other has.
     *
     * @param prefix of the names by place
     * @param taken names that are not given, to which these are added
     */
    static List<String> of(
            List<? extends @Nullable Expression> columns, String prefix, Set<String> taken) {
        List<String> names = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            boolean isNamed = columns.get(i) instanceof Expression.Name(String field)
                    && PLAIN.matcher(field).matches()
                    && !RESERVED.contains(field);
            String wanted = isNamed ? ((Expression.Name) columns.get(i)).name() : prefix + i;
            String name = wanted;
            for (int n = 2; !taken.add(name); n++) {
                name = wanted + "_" + n;
            }
            names.add(name);
        }
        return names;
    }

    /** Where no name is taken. */
    static List<String> of(List<? extends @Nullable Expression> columns, String prefix) {
        return of(columns, prefix, new HashSet<>());
    }
}
