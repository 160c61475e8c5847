package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.expr.Expression;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.Query;
import io.turbidite.ops.Relation;
import io.turbidite.ops.aggregate.Aggregate;
import io.turbidite.ops.job.JobConnector;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobHost;
import io.turbidite.ops.job.JobOperator;
import io.turbidite.ops.job.JobParts;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Where the records of sources are, if not here: jobs on a host read them. Conditions go to where
 * the records are, and so do groups: what a part of the records makes is put together here, or rows
 * of equal groups meet on one instance. All else of a statement is done here, over the rows that
 * come. <em>Immutable.</em>
 *
 * @param instances of each stage on the host
 * @param parts the sources, of which only names and types are looked at
 */
record Hosting(JobHost host, int instances, JobParts parts) {
    private static final String SOURCE = "records";
    private static final String GROUPS = "groups";
    private static final String RESULT = "result";

    /**
     * The conditions that can be written for a job, so that it reads the very same; of very many or
     * long ones as many as one text may have.
     */
    List<Expression> taken(List<Expression> conditions) {
        List<Expression> taken = new ArrayList<>();
        for (Expression condition : conditions) {
            taken.add(condition);
            if (!isTaken(condition) || !isRead(together(taken))) {
                taken.removeLast();
            }
        }
        return List.copyOf(taken);
    }

    private static boolean isRead(String text) {
        try {
            Expression.condition(text, Expression.Grammar.FIELDS);
            return true;
        } catch (InvalidRequestException _) {
            // too long, or of too many parts: the rest is tested here
            return false;
        }
    }

    private static String together(List<Expression> conditions) {
        return conditions.stream()
                .map(condition -> "(%s)".formatted(condition.text()))
                .collect(Collectors.joining(" and "));
    }

    private static boolean isTaken(Expression condition) {
        try {
            return Expression.condition(condition.text(), Expression.Grammar.FIELDS)
                    .equals(condition);
        } catch (InvalidRequestException _) {
            // what the language of conditions can't say is tested here
            return false;
        }
    }

    /** The whole records of a source that fulfil the conditions. */
    Relation rows(Source source, List<Expression> conditions) {
        return job(JobGraph.builder(parts)
                .add(records(source, conditions))
                .add(JobOperator.of(RESULT, RESULT))
                .connect(JobConnector.roundRobin(SOURCE, RESULT))
                .build());
    }

    private Relation job(JobGraph graph) {
        return JobQuery.of(graph).on(host);
    }

    private JobOperator records(Source source, List<Expression> conditions) {
        JobOperator scan =
                JobOperator.of(SOURCE, "scan").with("dataset", source.name()).on(instances);
        return conditions.isEmpty() ? scan : scan.with("where", together(conditions));
    }

    /**
     * The groups of a source's records that fulfil the conditions; null: they can't be made on the
     * host.
     */
    @Nullable
    Query grouped(
            Source source,
            List<Expression> conditions,
            List<String> by,
            List<Aggregate> aggregates) {
        if (!areFields(source.type(), by, aggregates)) {
            return null;
        }
        Query embedded = over(Query.on(source), by, aggregates);
        try {
            Query made = aggregates.stream().allMatch(one -> isSplit(source.type(), one))
                    ? split(source, conditions, by, aggregates)
                    : met(source, conditions, by, aggregates);
            return isSame(made.type(), embedded.type()) ? made : null;
        } catch (InvalidRequestException _) {
            // a name or a value that jobs have no words for: it is done here
            return null;
        }
    }

    /** Whether all that groups need are fields at the top of records. */
    private static boolean areFields(RecordType type, List<String> by, List<Aggregate> aggregates) {
        return by.stream().allMatch(field -> isTop(type, field))
                && aggregates.stream().allMatch(one -> {
                    String field = one.field();
                    return !one.function().lists() && (field == null || isTop(type, field));
                });
    }

    private static boolean isTop(RecordType type, String field) {
        return field.matches("[A-Za-z_][A-Za-z_0-9]*") && type.memberOf(RecordType.TOP, field) >= 0;
    }

    /**
     * Whether parts of it can be put together, to the same value in whatever order. A part of a sum
     * of long numbers may be out of range though the whole is not.
     */
    private static boolean isSplit(RecordType type, Aggregate aggregate) {
        String field = aggregate.field();
        return switch (aggregate.function()) {
            case COUNT, MIN, MAX -> true;
            case SUM -> {
                TypeKind kind = field == null
                        ? TypeKind.BOOL
                        : type.field(type.indexOf(field)).kind();
                yield switch (kind) {
                    case INT8, INT16, INT32, DECIMAL -> true;
                    default -> false;
                };
            }
            default -> false;
        };
    }

    private static Query over(Query rows, List<String> by, List<Aggregate> aggregates) {
        return rows.groupBy(by.toArray(String[]::new))
                .aggregate(aggregates.toArray(Aggregate[]::new));
    }

    private static boolean isSame(RecordType made, RecordType wanted) {
        List<Field> a = made.declared();
        List<Field> b = wanted.declared();
        if (a.size() != b.size()) {
            return false;
        }
        for (int i = 0; i < a.size(); i++) {
            if (!a.get(i).name().equals(b.get(i).name())
                    || a.get(i).kind() != b.get(i).kind()) {
                return false;
            }
        }
        return true;
    }

    /** Groups of parts on the host, and groups of those here. */
    private Query split(
            Source source,
            List<Expression> conditions,
            List<String> by,
            List<Aggregate> aggregates) {
        List<String> texts = new ArrayList<>();
        List<Aggregate> together = new ArrayList<>();
        for (Aggregate one : aggregates) {
            String part = partName(by, texts.size());
            texts.add("%s as %s".formatted(one, part));
            together.add((switch (one.function()) {
                        case MIN -> Aggregate.min(part);
                        case MAX -> Aggregate.max(part);
                        default -> Aggregate.sum(part);
                    })
                    .as(one.name()));
        }
        JobGraph.Builder graph = JobGraph.builder(parts)
                .add(records(source, conditions))
                .add(groups(by, texts).with("partial", true).on(instances))
                .add(JobOperator.of(RESULT, RESULT))
                .connect(JobConnector.oneToOne(SOURCE, GROUPS))
                .connect(JobConnector.roundRobin(GROUPS, RESULT));
        return over(Query.on(job(graph.build())), by, together);
    }

    private static String partName(List<String> by, int number) {
        String name = "part_" + number;
        while (by.contains(name)) {
            name += "_";
        }
        return name;
    }

    /** The rows of equal groups meet on an instance of the host. */
    private Query met(
            Source source,
            List<Expression> conditions,
            List<String> by,
            List<Aggregate> aggregates) {
        Set<String> needed = new LinkedHashSet<>(by);
        List<String> texts = new ArrayList<>();
        List<Aggregate> named = new ArrayList<>();
        for (Aggregate one : aggregates) {
            if (one.field() != null) {
                needed.add(one.field());
            }
            String part = partName(by, texts.size());
            texts.add("%s as %s".formatted(one, part));
            named.add(one.as(part));
        }
        JobGraph.Builder graph = JobGraph.builder(parts)
                .add(records(source, conditions).with("select", List.copyOf(needed)))
                .add(groups(by, texts).on(by.isEmpty() ? 1 : instances))
                .add(JobOperator.of(RESULT, RESULT))
                .connect(
                        by.isEmpty()
                                ? JobConnector.roundRobin(SOURCE, GROUPS)
                                : JobConnector.hash(SOURCE, GROUPS, by.toArray(String[]::new)))
                .connect(JobConnector.roundRobin(GROUPS, RESULT));
        List<String> columns = new ArrayList<>(by);
        for (int i = 0; i < aggregates.size(); i++) {
            columns.add("%s as %s"
                    .formatted(
                            named.get(i).name(),
                            new Expression.Name(aggregates.get(i).name()).text()));
        }
        // an order names fields of what it reads
        return Query.on(Query.on(job(graph.build())).select(columns));
    }

    private static JobOperator groups(List<String> by, List<String> aggregates) {
        JobOperator groups = JobOperator.of(GROUPS, "group").with("aggregates", aggregates);
        return by.isEmpty() ? groups : groups.with("by", by);
    }
}
