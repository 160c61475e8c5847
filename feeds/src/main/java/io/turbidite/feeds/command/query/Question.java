package io.turbidite.feeds.command.query;

import io.turbidite.core.expr.Expression;
import io.turbidite.core.expr.NamedExpression;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.Predicates;
import io.turbidite.ops.Query;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.expr.Predicate;

import org.jspecify.annotations.Nullable;

import picocli.CommandLine;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Option;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** The options of {@code query} that say what is asked. Set by the parser. */
public final class Question {
    private static final Pattern NAMED = Pattern.compile("(.*\\S)\\s+as\\s+(\\S+)\\s*");

    @Option(
            names = "--eq",
            paramLabel = "f=value",
            hideParamSyntax = true,
            description = "Field f equals value; null alone means null or missing.")
    private List<String> equal = new ArrayList<>();

    @Option(
            names = "--range",
            paramLabel = "f=low..high",
            hideParamSyntax = true,
            description = "Field f is from low to high, both included; either may be empty.")
    private List<String> ranges = new ArrayList<>();

    @Option(
            names = "--above",
            paramLabel = "f=value",
            hideParamSyntax = true,
            description = "Field f is above value, which is not included.")
    private List<String> lowerBounds = new ArrayList<>();

    @Option(
            names = "--below",
            paramLabel = "f=value",
            hideParamSyntax = true,
            description = "Field f is below value, which is not included.")
    private List<String> upperBounds = new ArrayList<>();

    @Option(
            names = "--within",
            paramLabel = "f=minX,minY,maxX,maxY",
            hideParamSyntax = true,
            description = "Point f is in the window, or rectangle f meets it; borders included.")
    private List<String> windows = new ArrayList<>();

    @Option(
            names = "--distance",
            paramLabel = "f=x,y,r",
            hideParamSyntax = true,
            description = "Point or rectangle f comes as near as r to the place x,y.")
    private List<String> distances = new ArrayList<>();

    @Option(
            names = "--contains",
            paramLabel = "f=words",
            hideParamSyntax = true,
            description = "String f has all of the words, in any order and case.")
    private List<String> words = new ArrayList<>();

    @Option(
            names = "--contains-all",
            paramLabel = "f:tokenizer=text",
            hideParamSyntax = true,
            description =
                    "String f has all tokens of the text; by word, keyword or ngram(n), by word if none is said.")
    private List<String> allTokens = new ArrayList<>();

    @Option(
            names = "--contains-any",
            paramLabel = "f:tokenizer=text",
            hideParamSyntax = true,
            description = "String f has one of the tokens of the text or more.")
    private List<String> anyTokens = new ArrayList<>();

    @Option(
            names = "--contains-prefix",
            paramLabel = "f:tokenizer=beginning",
            hideParamSyntax = true,
            description = "String f has a word (or is a keyword) that begins so.")
    private List<String> prefixes = new ArrayList<>();

    @Option(
            names = "--similar",
            paramLabel = "f=text,jaccard>=0.5",
            hideParamSyntax = true,
            description =
                    "String f is like the text, by its n-grams; or f=text,distance<=2, by characters to change.")
    private List<String> similar = new ArrayList<>();

    @Option(
            names = "--most-tokens",
            paramLabel = "f:tokenizer=text",
            hideParamSyntax = true,
            description =
                    "As --contains-any; strings with most of the tokens come first: with --limit k the best k. --order breaks ties.")
    private @Nullable String mostTokens;

    @Option(
            names = "--where",
            paramLabel = "condition",
            description =
                    "The condition is true, such as \"delay > 30 and dest in ('JFK', 'LGA')\".")
    private List<String> conditions = new ArrayList<>();

    @Option(
            names = "--select",
            paramLabel = "f,g",
            hideParamSyntax = true,
            description =
                    "Print these fields only; also distance (of --near or --distance), similarity (of --similar …,jaccard), tokens (of --most-tokens).")
    private List<String> select = new ArrayList<>();

    @Option(
            names = "--count",
            description = "Print the number of records: {\"count\":n}; beside aggregates too.")
    private boolean count;

    @Option(
            names = "--group",
            paramLabel = "f,g",
            hideParamSyntax = true,
            split = "\\s*,\\s*",
            description = "Print a row with the count for each value of f (and g).")
    private List<String> groups = new ArrayList<>();

    @Option(
            names = "--sum",
            paramLabel = "f,g",
            hideParamSyntax = true,
            description =
                    "Print sums, as sum_f: of each group, or of all records in one row; f may be 'a - b as lost'.")
    private List<String> sums = new ArrayList<>();

    @Option(
            names = "--avg",
            paramLabel = "f,g",
            hideParamSyntax = true,
            description = "Print means, as avg_f.")
    private List<String> means = new ArrayList<>();

    @Option(
            names = "--min",
            paramLabel = "f,g",
            hideParamSyntax = true,
            description = "Print least values, as min_f.")
    private List<String> least = new ArrayList<>();

    @Option(
            names = "--max",
            paramLabel = "f,g",
            hideParamSyntax = true,
            description = "Print greatest values, as max_f.")
    private List<String> greatest = new ArrayList<>();

    @Option(
            names = "--var",
            paramLabel = "f,g",
            hideParamSyntax = true,
            description = "Print variances (of a sample), as var_f.")
    private List<String> variances = new ArrayList<>();

    @Option(
            names = "--stddev",
            paramLabel = "f,g",
            hideParamSyntax = true,
            description = "Print standard deviations (of a sample), as stddev_f.")
    private List<String> deviations = new ArrayList<>();

    @Option(
            names = "--count-values",
            paramLabel = "f,g",
            hideParamSyntax = true,
            description = "Print how many records have a value of f, as count_f.")
    private List<String> counted = new ArrayList<>();

    @Option(
            names = "--count-distinct",
            paramLabel = "f,g",
            hideParamSyntax = true,
            description = "Print how many different values f has, as count_distinct_f.")
    private List<String> distinct = new ArrayList<>();

    @Option(
            names = "--group-cell",
            paramLabel = "f=dx,dy",
            hideParamSyntax = true,
            description = "Print a row with the count for each cell of a grid over point f.")
    private @Nullable String cells;

    @Option(
            names = "--order",
            paramLabel = "f[:desc]",
            hideParamSyntax = true,
            split = "\\s*,\\s*",
            description =
                    "Order by f; groups also by count and by aggregates (sum_f). Null comes first.")
    private List<String> order = new ArrayList<>();

    @Option(
            names = "--newest",
            description =
                    "Records whose present version was written last come first; behind --order it breaks ties.")
    private boolean newest;

    @Option(
            names = "--newest-of-each",
            paramLabel = "n",
            description =
                    "As --newest, and of records that are equal in --order only the n newest.")
    private @Nullable Integer newestOfEach;

    @Option(
            names = "--near",
            paramLabel = "f=x,y",
            hideParamSyntax = true,
            description = "The nearest first, as many as --limit says: by distance of f from x,y.")
    private @Nullable String near;

    @Option(names = "--limit", paramLabel = "n", description = "Print at most n rows.")
    private @Nullable Long limit;

    /**
     * What options ask that are given as a command line has them.
     *
     * @throws picocli.CommandLine.ParameterException if one is unknown or has no such value
     */
    public static Question of(List<String> arguments) {
        return CommandLine.populateCommand(new Question(), arguments.toArray(String[]::new));
    }

    /** The options that there are, in their order. */
    public static List<OptionSpec> options() {
        return CommandSpec.forAnnotatedObject(new Question()).options();
    }

    /** What is asked of the records. */
    private Stream<Predicate> predicates() {
        return Stream.of(
                        equal.stream().map(Predicates::parseEq),
                        ranges.stream().map(Predicates::parseRange),
                        lowerBounds.stream().map(Predicates::parseAbove),
                        upperBounds.stream().map(Predicates::parseBelow),
                        windows.stream().map(Predicates::parseWithin),
                        distances.stream().map(Predicates::parseDistance),
                        words.stream().map(Predicates::parseContains),
                        allTokens.stream().map(Predicates::parseContainsAll),
                        anyTokens.stream().map(Predicates::parseContainsAny),
                        prefixes.stream().map(Predicates::parseContainsPrefix),
                        similar.stream().map(Predicates::parseSimilar))
                .flatMap(some -> some);
    }

    /** What rows have instead of counts. */
    private Stream<Aggregate> aggregates() {
        return Stream.of(
                        aggregates(counted, Aggregate::count),
                        aggregates(distinct, Aggregate::countDistinct),
                        aggregates(sums, Aggregate::sum),
                        aggregates(means, Aggregate::avg),
                        aggregates(least, Aggregate::min),
                        aggregates(greatest, Aggregate::max),
                        aggregates(variances, Aggregate::variance),
                        aggregates(deviations, Aggregate::standardDeviation))
                .flatMap(some -> some);
    }

    /** Of fields, and of expressions with a name: {@code a - b as lost}. */
    private static Stream<Aggregate> aggregates(
            List<String> lists, Function<String, Aggregate> maker) {
        return items(lists).map(text -> {
            Matcher named = NAMED.matcher(text);
            return named.matches()
                    ? maker.apply(named.group(1)).as(named.group(2))
                    : maker.apply(text);
        });
    }

    private static Stream<String> items(List<String> lists) {
        return lists.stream().flatMap(list -> NamedExpression.split(list).stream());
    }

    /** Whether rows are cells of a grid. */
    boolean groupsByCell() {
        return cells != null;
    }

    /** Whether rows have counts of their records. */
    boolean counts() {
        return count || aggregates().findAny().isEmpty();
    }

    /** The point field of the grid. */
    public String cellField() {
        return cells == null ? "" : cells.split("=", 2)[0];
    }

    /** Width and height of a cell, for people. */
    public String cellSizes() {
        return cells == null ? "" : cells.substring(cells.indexOf('=') + 1).replace(",", " by ");
    }

    /** Whether a predicate or condition is about the field. */
    boolean asksFor(String field) {
        Set<String> names = new HashSet<>();
        predicates().forEach(predicate -> names.add(predicate.field()));
        for (String condition : conditions) {
            Expression.condition(condition, Expression.Grammar.FIELDS).forEachName(names::add);
        }
        return names.contains(field) || (near != null && near.startsWith(field + "="));
    }

    /** The query that the options say. */
    public Query on(Source source) {
        Query query = Query.on(source);
        predicates().forEach(query::where);
        conditions.forEach(query::where);
        query.select(items(select).toList()).groupBy(groups.toArray(String[]::new));
        aggregates().forEach(query::aggregate);
        if (count) {
            query.count();
        }
        if (cells != null) {
            query.groupByCell(cells);
        }
        if (mostTokens != null) {
            query.mostTokens(mostTokens);
        }
        order.forEach(query::orderBy);
        if (newestOfEach != null) {
            query.newestFirst(newestOfEach);
        } else if (newest) {
            query.newestFirst();
        }
        if (near != null) {
            query.near(near);
        }
        if (limit != null) {
            query.limit(limit);
        }
        return query;
    }
}
