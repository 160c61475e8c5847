package io.turbidite.ops;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.OptionalLong;

/**
 * Why a query is answered as it is: the access path, the other paths that the planner considered,
 * and each operator with its estimated number of rows and, once the query ran, its actual one.
 * <em>Immutable.</em>
 *
 * @param dataset name of the source
 * @param access the access path in a few words, for example {@code index by_tail, then fetch}
 * @param operators from the result down to the storage
 * @param considered every possible access path, cheapest first
 */
public record Explanation(
        String dataset, String access, List<Operator> operators, List<Choice> considered) {
    /** Of the table for people. */
    private static final int COLUMNS = 100;

    private static final int DETAIL_COLUMNS_MIN = 30;

    /**
     * One operator of the plan.
     *
     * @param name what it does, for example {@code fetch}
     * @param detail what it does this to
     * @param estimatedRows how many rows the planner expected it to hand on; empty if unknown
     * @param actualRows how many rows it handed on; empty before the query ran
     * @param depth 0, or how many relations it stands below that which was asked: what is read by
     *     another query, or is a side of a join, stands one deeper
     */
    public record Operator(
            String name,
            String detail,
            OptionalLong estimatedRows,
            OptionalLong actualRows,
            int depth) {
        /** An operator of the query that was asked. */
        public Operator(
                String name, String detail, OptionalLong estimatedRows, OptionalLong actualRows) {
            this(name, detail, estimatedRows, actualRows, 0);
        }

        /** The name, further to the right the deeper it stands. */
        String indented() {
            return "  ".repeat(depth) + name;
        }
    }

    /**
     * An access path.
     *
     * @param cost in units of one record read by a scan
     */
    public record Choice(String access, double cost, boolean chosen) {}

    public Explanation {
        operators = List.copyOf(operators);
        considered = List.copyOf(considered);
    }

    /**
     * A map for JSON: {@code dataset, access, operators[{operator, detail, estimated, actual,
     * depth}], …}; a depth of 0 is left out.
     */
    public Map<String, Object> toMap() {
        List<Map<String, Object>> rows = new ArrayList<>();
        for (Operator operator : operators) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("operator", operator.name());
            row.put("detail", operator.detail());
            operator.estimatedRows().ifPresent(n -> row.put("estimated", n));
            operator.actualRows().ifPresent(n -> row.put("actual", n));
            if (operator.depth() > 0) {
                row.put("depth", operator.depth());
            }
            rows.add(row);
        }
        List<Map<String, Object>> choices = new ArrayList<>();
        for (Choice choice : considered) {
            Map<String, Object> row = new LinkedHashMap<>();
            row.put("access", choice.access());
            row.put("cost", choice.cost());
            row.put("chosen", choice.chosen());
            choices.add(row);
        }
        Map<String, Object> map = new LinkedHashMap<>();
        map.put("dataset", dataset);
        map.put("access", access);
        map.put("operators", rows);
        map.put("considered", choices);
        return map;
    }

    /** A table for people, without a trailing line break. */
    @Override
    public String toString() {
        int nameWidth = "operator".length();
        for (Operator operator : operators) {
            nameWidth = Math.max(nameWidth, operator.indented().length());
        }
        String format = "%n  %-" + nameWidth + "s  %12s  %12s  %s";
        int detailColumn =
                format.formatted("", "", "", "").length() - "%n".formatted().length();
        StringBuilder text = new StringBuilder();
        text.append(dataset).append(": ").append(access);
        text.append(format.formatted("operator", "estimated", "actual", ""));
        for (Operator operator : operators) {
            text.append(format.formatted(
                    operator.indented(),
                    show(operator.estimatedRows()),
                    show(operator.actualRows()),
                    wrapped(operator.detail(), detailColumn)));
        }
        text.append("%n  considered".formatted());
        for (Choice choice : considered) {
            text.append(String.format(
                    Locale.ROOT,
                    "%n  %s %-50s cost %,.0f",
                    choice.chosen() ? "→" : " ",
                    choice.access(),
                    choice.cost()));
        }
        return text.toString();
    }

    /** Broken at spaces, so that lines keep within the columns; no word is broken. */
    private static String wrapped(String detail, int column) {
        int room = Math.max(DETAIL_COLUMNS_MIN, COLUMNS - column);
        StringBuilder text = new StringBuilder();
        String rest = detail;
        while (rest.length() > room) {
            int space = rest.lastIndexOf(' ', room);
            int end = space > 0 ? space : rest.indexOf(' ', room);
            if (end < 0) {
                break;
            }
            text.append(rest, 0, end).append("%n".formatted()).append(" ".repeat(column));
            rest = rest.substring(end + 1);
        }
        return text.append(rest).toString();
    }

    private static String show(OptionalLong rows) {
        return rows.isPresent() ? String.format(Locale.ROOT, "%,d", rows.getAsLong()) : "-";
    }
}
