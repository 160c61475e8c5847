package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Relation;
import io.turbidite.ops.run.RunOptions;

import org.apache.calcite.rel.RelRoot;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.sql.SqlNode;
import org.jspecify.annotations.Nullable;

import java.time.InstantSource;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A statement as its front leaves it, to be compiled for values of its parameters.
 * <em>Immutable.</em>
 */
final class Planned {
    static final String TOO_DEEP = "the statement is nested too deeply";

    private final List<SourceAndView> sources;
    private final List<RecordType> types;
    private final StatementText text;
    private final RelRoot root;
    private final RexBuilder rex;
    private final List<Parameter> parameters;

    private final RecordType rowType;

    /** The statement as one prepared query; null: it is compiled for each run. */
    private final @Nullable Template template;

    private final boolean readsOne;
    private final InstantSource clock;

    /** Whether it asks for the time of day, which is that of each run. */
    private final boolean isOfMoment;

    private Planned(List<SourceAndView> sources, StatementText text, InstantSource clock) {
        this(sources, text, clock, new Front(sources, text.query(), clock.instant()), null);
    }

    /** @param query what asks for the rows; null: the statement itself */
    private Planned(
            List<SourceAndView> sources,
            StatementText text,
            InstantSource clock,
            Front front,
            @Nullable SqlNode query) {
        this.sources = sources;
        this.clock = clock;
        this.types = sources.stream().map(given -> given.source().type()).toList();
        this.text = text;
        root = query == null ? front.plan() : front.plan(query);
        isOfMoment = front.isOfMoment();
        rex = root.rel.getCluster().getRexBuilder();
        parameters = front.parameters();
        if (root.fields.size() > Sql.COLUMN_COUNT_MAX) {
            throw SqlException.of(String.format(
                    Locale.ROOT,
                    "%,d columns are more than the limit of %,d",
                    root.fields.size(),
                    Sql.COLUMN_COUNT_MAX));
        }
        Set<Source> read = new HashSet<>();
        rowType = compiled(
                        given -> {
                            read.add(given.source());
                            return given;
                        },
                        parameters.stream().map(Parameter::sample).toArray())
                .type();
        readsOne = read.size() <= 1;
        boolean isHosted = sources.stream().anyMatch(given -> given.hosting() != null);
        template = query == null && !isHosted ? Template.of(this) : null;
    }

    /** The query that finds or makes the records of a statement that changes. */
    static Planned ofRows(
            List<SourceAndView> sources,
            StatementText text,
            InstantSource clock,
            Front front,
            SqlNode query) {
        return new Planned(sources, text, clock, front, query);
    }

    static Planned of(List<SourceAndView> sources, StatementText text, InstantSource clock) {
        return told(() -> {
            try {
                return new Planned(sources, text, clock);
            } catch (SqlException e) {
                if (e.line() > 0) {
                    throw e;
                }
                SqlNode parsed = new Front(sources, text.query(), clock.instant()).parse();
                throw RefusedPlaces.placed(e, parsed, text.query());
            }
        });
    }

    /** Errors as those of a statement. */
    static <T> T told(Supplier<T> step) {
        try {
            return step.get();
        } catch (SqlException | CancellationException e) {
            throw e;
        } catch (InvalidRequestException e) {
            throw SqlException.of(String.valueOf(e.getMessage()), e);
        } catch (StackOverflowError e) {
            throw SqlException.of(TOO_DEEP, e);
        } catch (RuntimeException | AssertionError e) {
            PlanningStop.check();
            // rules of Calcite fail as they like: a statement of theirs is refused, not a crash
            throw SqlException.of("the statement can't be planned: " + firstLine(e), e);
        }
    }

    private static String firstLine(Throwable e) {
        return String.valueOf(e.getMessage()).lines().findFirst().orElse(e.toString());
    }

    /** This, or planned anew if a source has got another type, or for the time of day. */
    Planned current() {
        return isOutdated() ? of(sources, text, clock) : this;
    }

    /** Whether a source has got another type, or it is of the time of day. */
    boolean isOutdated() {
        if (isOfMoment) {
            return true;
        }
        for (int i = 0; i < sources.size(); i++) {
            if (!sources.get(i).source().type().equals(types.get(i))) {
                return true;
            }
        }
        return false;
    }

    /** The tree as the front leaves it. */
    RelRoot root() {
        return root;
    }

    StatementText text() {
        return text;
    }

    List<Parameter> parameters() {
        return parameters;
    }

    /** What its rows have. */
    RecordType rowType() {
        return rowType;
    }

    /** Whether it reads one source at most. */
    boolean readsOne() {
        return readsOne;
    }

    boolean isOrdered() {
        return !root.collation.getFieldCollations().isEmpty();
    }

    /**
     * Starts it, where its query needs the values alone; null where {@link #relation} is to be made
     * of them.
     *
     * @param reading what is read in the place of each source
     * @param checked a value for each parameter, as {@link Parameter#checked} gives it
     */
    @Nullable
    QueryResult quick(
            UnaryOperator<SourceAndView> reading, RunOptions options, @Nullable Object[] checked) {
        return template == null ? null : template.run(reading, options, checked);
    }

    /** The tree of queries and joins for these values. */
    Relation relation(UnaryOperator<SourceAndView> reading, @Nullable Object[] checked) {
        return told(() -> compiled(reading, checked));
    }

    private Relation compiled(UnaryOperator<SourceAndView> reading, @Nullable Object[] checked) {
        List<RexNode> values = new ArrayList<>(parameters.size());
        for (int i = 0; i < checked.length; i++) {
            values.add(parameters.get(i).bound(rex, checked[i]));
        }
        return compiled(reading, values);
    }

    /**
     * The tree, compiled.
     *
     * @param values what stands for each parameter
     */
    synchronized Relation compiled(UnaryOperator<SourceAndView> reading, List<RexNode> values) {
        // plans that are kept serve several threads, and Calcite's trees are made for one
        return new Compiler(rex, reading)
                .compile(root.withRel(Parameters.replaced(root.rel, values)));
    }
}
