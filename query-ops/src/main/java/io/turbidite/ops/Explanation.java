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

    private static final String WORK_FORMAT = "  %9s  %9s  %9s  %7s  %7s";

    /** Of the columns that are there where time was taken. */
    private static final String WORK_HEAD =
            WORK_FORMAT.formatted("CPU ms", "memory", "spilled", "pages", "pruned");

    /**
     * One operator of the plan.
     *
     * @param name what it does, for example {@code fetch}
     * @param detail what it does this to
     * @param estimatedRows how many rows the planner expected it to hand on; empty if unknown
     * @param actualRows how many rows it handed on; empty before the query ran
     * @param depth 0, or how many relations it stands below that which was asked: what is read by
     *     another query, or is a side of a join, stands one deeper
     * @param work what it took
     */
    public record Operator(
            String name,
            String detail,
            OptionalLong estimatedRows,
            OptionalLong actualRows,
            int depth,
            Work work) {
        /** An operator of the query that was asked, which took nothing that was counted. */
        public Operator(
                String name, String detail, OptionalLong estimatedRows, OptionalLong actualRows) {
            this(name, detail, estimatedRows, actualRows, 0, Work.NONE);
        }

        /** The name, further to the right the deeper it stands. */
        String indented() {
            return "  ".repeat(depth) + name;
        }
    }

    /**
     * What an operator took, all its partitions together.
     *
     * @param cpuNanos processor time, without that of the operators that it reads; empty where it
     *     was not taken: {@link io.turbidite.ops.run.RunOptions#clock} has it taken. Of operators
     *     that work in one go the lowest has the time of all
     * @param memoryBytesMax the most memory that it held at a time to sort, group or join
     * @param spilledBytes bytes written to temporary files
     * @param pageCount leaf pages of components that it went to, in the cache or not
     * @param passedOverCount memory layers and components that a filter let it pass over
     * @param passedOverFiles numbers of the files of components that it passed over and never read,
     *     by a filter, or because nothing in them meets the zones or has the token that it looked
     *     for
     */
    public record Work(
            OptionalLong cpuNanos,
            long memoryBytesMax,
            long spilledBytes,
            long pageCount,
            long passedOverCount,
            List<Long> passedOverFiles) {
        /** Nothing. */
        public static final Work NONE = new Work(OptionalLong.empty(), 0, 0, 0, 0, List.of());

        public Work {
            passedOverFiles = List.copyOf(passedOverFiles);
        }

        private String columns() {
            return WORK_FORMAT.formatted(
                    cpuNanos.isPresent()
                            ? String.format(Locale.ROOT, "%,.3f", cpuNanos.getAsLong() / 1e6)
                            : "-",
                    bytes(memoryBytesMax),
                    bytes(spilledBytes),
                    count(pageCount),
                    count(passedOverCount));
        }

        private static String bytes(long bytes) {
            return bytes == 0 ? "-" : String.format(Locale.ROOT, "%,d KiB", (bytes + 1023) >> 10);
        }

        private static String count(long count) {
            return count == 0 ? "-" : String.format(Locale.ROOT, "%,d", count);
        }

        private void putInto(Map<String, Object> row) {
            cpuNanos.ifPresent(nanos -> putInto(row, "cpuNanos", nanos));
            putInto(row, "memoryBytes", memoryBytesMax);
            putInto(row, "spilledBytes", spilledBytes);
            putInto(row, "pages", pageCount);
            putInto(row, "passedOver", passedOverCount);
            if (!passedOverFiles.isEmpty()) {
                row.put("passedOverFiles", passedOverFiles);
            }
        }

        private static void putInto(Map<String, Object> row, String name, long count) {
            if (count > 0) {
                row.put(name, count);
            }
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
     * depth, cpuNanos, memoryBytes, spilledBytes, pages, passedOver, passedOverFiles}], …}; what is
     * 0 but rows, or not known, is left out.
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
            operator.work().putInto(row);
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

    /** {@link #toMap} as one line of JSON. */
    public String toJson() {
        return MapJson.of(toMap());
    }

    /** A table for people, without a trailing line break. */
    @Override
    public String toString() {
        int nameWidth = "operator".length();
        for (Operator operator : operators) {
            nameWidth = Math.max(nameWidth, operator.indented().length());
        }
        boolean isTimed = operators.stream().anyMatch(one -> one.work.cpuNanos.isPresent());
        String format = "%n  %-" + nameWidth + "s  %12s  %12s%s  %s";
        int detailColumn =
                format.formatted("", "", "", isTimed ? WORK_HEAD : "", "").length()
                        - "%n".formatted().length();
        StringBuilder text = new StringBuilder();
        text.append(dataset).append(": ").append(access);
        text.append(
                format.formatted("operator", "estimated", "actual", isTimed ? WORK_HEAD : "", ""));
        for (Operator operator : operators) {
            text.append(format.formatted(
                    operator.indented(),
                    show(operator.estimatedRows()),
                    show(operator.actualRows()),
                    isTimed ? operator.work.columns() : "",
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
