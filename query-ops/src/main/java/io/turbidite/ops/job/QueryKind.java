package io.turbidite.ops.job;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.NearestName;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.NamedExpression;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.plan.Plan;
import io.turbidite.ops.plan.QueryRequest;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The operators that are queries: of a dataset, or over the rows of their input. */
enum QueryKind implements OperatorKind {
    /** Reads the primary index. */
    SCAN("dataset", "where", "select"),
    /** Searches an index and fetches the records. */
    SEARCH("dataset", "index", "where", "select"),
    SELECT("where"),
    PROJECT("fields"),
    ASSIGN("fields"),
    SORT("by", "limit"),
    GROUP("by", "aggregates", "partial"),
    LIMIT("rows", "offset");

    private static final Pattern AGGREGATE =
            Pattern.compile("\\s*(\\w+)\\s*(?:\\((.*)\\))?\\s*(?:\\s+[aA][sS]\\s+(\\S+))?\\s*");

    @SuppressWarnings("ImmutableEnumChecker") // made by List.of
    private final List<String> settings;

    QueryKind(String... settings) {
        this.settings = List.of(settings);
    }

    /** As JSON writes it. */
    String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    @Override
    public List<String> settings() {
        return settings;
    }

    @Override
    public int inputsMin() {
        return isSource() ? 0 : 1;
    }

    @Override
    public int inputsMax() {
        return isSource() ? 0 : 1;
    }

    @Override
    public boolean isSource() {
        return this == SCAN || this == SEARCH;
    }

    @Override
    public boolean blocks(int input) {
        return keepsRows();
    }

    @Override
    public boolean keepsRows() {
        return this == SORT || this == GROUP;
    }

    @Override
    public RecordType type(Settings settings, List<RecordType> inputs, JobParts parts) {
        if (isSource()) {
            Source source = parts.dataset(settings.text("dataset"));
            if (this == SEARCH) {
                checkIndex(source, settings.text("index"));
            }
            return Plan.rowType(request(settings, source.type()), source);
        }
        RecordType input = inputs.getFirst();
        return Plan.rowType(request(settings, input), input);
    }

    private static void checkIndex(Source source, String index) {
        List<String> names =
                source.indexes().stream().map(IndexDescription::name).toList();
        if (!names.contains(index)) {
            throw new InvalidRequestException("dataset '%s' has no index '%s'%s"
                    .formatted(source.name(), index, NearestName.hint(index, names)));
        }
    }

    @Override
    public void checkPartitions(Settings settings, List<Layout> inputs) {
        if (this != GROUP || settings.operator().partitions() == 1 || settings.is("partial")) {
            return;
        }
        List<String> by = settings.texts("by");
        List<String> key = inputs.getFirst().hashedBy();
        if (key == null || !by.containsAll(key)) {
            throw settings.wrong(
                    by.isEmpty()
                            ? "one group of all rows is on one partition: set partitions to 1, or partial to true"
                            : "equal groups must meet on one partition: let a hash connector by %s lead to it, or set partial to true"
                                    .formatted(String.join(", ", by)));
        }
    }

    @Override
    public Layout layout(Settings settings, List<Layout> inputs, RecordType type) {
        return switch (this) {
            case SCAN, SEARCH -> Layout.NONE;
            case SELECT, LIMIT, ASSIGN -> inputs.getFirst();
            case PROJECT -> inputs.getFirst().within(plain(settings, type));
            case SORT -> inputs.getFirst().sortedBy(order(settings));
            case GROUP ->
                inputs.getFirst()
                        .within(type)
                        .sortedBy(settings.texts("by").stream()
                                .takeWhile(field -> type.indexOf(field) >= 0)
                                .toList());
        };
    }

    /** The fields that keep their name and value. */
    private static RecordType plain(Settings settings, RecordType type) {
        return RecordType.of(type.declared().stream()
                .filter(field -> settings.texts("fields").contains(field.name()))
                .toList());
    }

    /** As {@link Layout#order} has it. */
    private static List<String> order(Settings settings) {
        return settings.someTexts("by").stream()
                .map(text -> text.endsWith(":asc")
                        ? text.substring(0, text.length() - ":asc".length())
                        : text)
                .toList();
    }

    /** What is asked of the dataset, or of the input, which has rows of this type. */
    QueryRequest request(Settings settings, RecordType type) {
        List<Expression> where = List.of();
        List<String> select = List.of();
        List<String> by = List.of();
        List<Aggregate> aggregates = List.of();
        List<QueryRequest.OrderBy> order = List.of();
        long limit = QueryRequest.NO_LIMIT;
        String access = null;
        switch (this) {
            case SCAN, SEARCH -> {
                where = condition(settings.textOrNull("where"));
                select = settings.texts("select");
                access = this == SCAN ? QueryRequest.SCAN : settings.text("index");
            }
            case SELECT -> where = condition(settings.text("where"));
            case PROJECT -> select = settings.someTexts("fields");
            case ASSIGN -> select = withAll(type, settings);
            case SORT -> {
                order = order(settings).stream()
                        .map(text -> new QueryRequest.OrderBy(
                                Layout.fieldOf(text), Layout.isDescending(text)))
                        .toList();
                limit = settings.count("limit", limit);
            }
            case GROUP -> {
                by = settings.texts("by");
                aggregates = aggregates(settings);
            }
            case LIMIT -> limit = rows(settings);
        }
        boolean counts = this == GROUP && by.isEmpty() && aggregates.isEmpty();
        return new QueryRequest(
                List.of(), where, select, counts, by, null, aggregates, order, null, limit, access);
    }

    /** Rows up to the last that is wanted, those before the first too. */
    private static long rows(Settings settings) {
        if (!settings.has("rows")) {
            throw settings.missing("rows");
        }
        long rows = settings.count("rows", 0);
        long offset = offset(settings);
        return rows == 0 ? 0 : Math.min(rows, QueryRequest.NO_LIMIT - 1 - offset) + offset;
    }

    /** Rows that are left out before the first. */
    static long offset(Settings settings) {
        return settings.operator().kind().equals(LIMIT.label())
                ? Math.min(settings.count("offset", 0), QueryRequest.NO_LIMIT - 1)
                : 0;
    }

    private static List<Expression> condition(@Nullable String text) {
        return text == null
                ? List.of()
                : List.of(Expression.condition(text, Expression.Grammar.FIELDS));
    }

    private static List<String> withAll(RecordType type, Settings settings) {
        List<String> all = new ArrayList<>();
        type.declared().forEach(field -> all.add(field.name()));
        for (String text : settings.someTexts("fields")) {
            if (NamedExpression.of(text).name() == null) {
                throw new InvalidRequestException(
                        "a value that is assigned needs a name: write '%s as name'"
                                .formatted(text));
            }
            all.add(text);
        }
        return all;
    }

    private static List<Aggregate> aggregates(Settings settings) {
        return settings.texts("aggregates").stream()
                .map(text -> aggregate(settings, text))
                .toList();
    }

    /** Reads {@code count}, {@code sum(f)}, {@code avg(f - g) as name}. */
    private static Aggregate aggregate(Settings settings, String text) {
        Matcher parts = AGGREGATE.matcher(text);
        Aggregate.Function function = parts.matches() ? function(parts.group(1)) : null;
        if (function == null) {
            throw settings.wrong(
                    "'%s' is no aggregate: write count, sum(field), avg(field) as name; there are %s"
                            .formatted(
                                    text,
                                    String.join(
                                            ", ",
                                            List.of(Aggregate.Function.values()).stream()
                                                    .map(Aggregate.Function::label)
                                                    .toList())));
        }
        String field = parts.group(2);
        boolean ofAll = field == null || field.isBlank() || field.equals("*");
        Aggregate aggregate = ofAll
                ? new Aggregate(function, null, function.label())
                : Aggregate.of(function, field.strip());
        String name = parts.group(3);
        return name == null ? aggregate : aggregate.as(name);
    }

    private static Aggregate.@Nullable Function function(String label) {
        for (Aggregate.Function function : Aggregate.Function.values()) {
            if (function.label().equals(label)) {
                return function;
            }
        }
        return null;
    }

    @Override
    public String detail(Settings settings) {
        String where = settings.textOrNull("where");
        String condition = where == null ? "" : " where " + where;
        return switch (this) {
            case SCAN -> settings.text("dataset") + condition;
            case SEARCH ->
                "%s by %s%s".formatted(settings.text("dataset"), settings.text("index"), condition);
            case SELECT -> "where " + where;
            case PROJECT, ASSIGN -> String.join(", ", settings.texts("fields"));
            case SORT ->
                "by " + String.join(", ", settings.texts("by"))
                        + (settings.has("limit") ? ", first " + settings.count("limit", 0) : "");
            case GROUP -> {
                String aggregates = settings.has("aggregates")
                        ? String.join(", ", settings.texts("aggregates"))
                        : "count";
                yield settings.texts("by").isEmpty()
                        ? aggregates
                        : "%s by %s".formatted(aggregates, String.join(", ", settings.texts("by")));
            }
            case LIMIT ->
                "%d%s"
                        .formatted(
                                settings.count("rows", 0),
                                settings.has("offset")
                                        ? " behind " + settings.count("offset", 0)
                                        : "");
        };
    }
}
