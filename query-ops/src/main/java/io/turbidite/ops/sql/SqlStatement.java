package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.time.Clock;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.Explanation;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.Relation;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;

/**
 * A statement that has been checked and planned. It may be run often, with other values for its
 * parameters ({@code ?}) each time:
 *
 * <pre>{@code
 * SqlStatement byTail = Sql.on(flights).statement("select dest from Flights where tailnum = ?");
 * try (QueryResult rows = byTail.run(RunOptions.defaults(), "N14228")) { … }
 * }</pre>
 *
 * <p>Each run chooses its index by its values, so indexes may come and go between runs. Where a
 * source has got another type, the next run plans the statement anew. <em>Confined to one
 * thread.</em>
 */
public final class SqlStatement {
    private final StatementText text;

    /** How its rows come; null if it defines or lists. */
    private @Nullable Planned planned;

    /** What it lists; null if it does not. */
    private final @Nullable Supplier<? extends Relation> listing;

    /** What it changes or defines; null if it gives rows. */
    private @Nullable Effect effect;

    /** Plans {@link #effect} anew. */
    private final @Nullable Supplier<Effect> effects;

    private final PlanningTime planningTime;
    private ChangedCount changed = new ChangedCount();

    /** One that asks for rows. */
    SqlStatement(Planned planned, PlanningTime planningTime) {
        this.planningTime = planningTime;
        this.text = planned.text();
        this.planned = planned;
        this.listing = null;
        this.effects = null;
    }

    private SqlStatement(
            StatementText text,
            @Nullable Supplier<? extends Relation> listing,
            @Nullable Supplier<Effect> effects,
            PlanningTime planningTime) {
        this.text = text;
        this.listing = listing;
        this.effects = effects;
        this.planningTime = planningTime;
    }

    /** One that lists what there is whenever it is run. */
    static SqlStatement ofListing(StatementText text, Supplier<? extends Relation> listing) {
        var _ = listing.get();
        return new SqlStatement(text, listing, null, PlanningTime.DEFAULT);
    }

    /** One that changes or defines. */
    SqlStatement(StatementText text, Supplier<Effect> effects, PlanningTime planningTime) {
        this(text, null, effects, planningTime);
        Effect first = effects.get();
        this.effect = first;
        this.planned = first.rows();
    }

    /** A column of the answer. */
    public record Column(String name, String type) {}

    /**
     * The tree of queries and joins that it was compiled to; of one that changes, how its records
     * are found.
     *
     * @throws SqlException if it has parameters: the tree depends on their values; or if it
     *     defines: that has no rows
     */
    public Relation relation() {
        @Nullable Object[] values = checked();
        return listing != null
                ? listing.get()
                : planned().relation(UnaryOperator.identity(), values);
    }

    private Planned planned() {
        if (planned == null) {
            throw SqlException.of("the statement defines: it has no rows");
        }
        return planned;
    }

    /** Plans it anew where that is needed. */
    private Planned current(RunOptions options) {
        return PlanningStop.until(options.stop(), planningTime, this::current);
    }

    private Planned current() {
        Planned before = planned();
        if (effects == null) {
            planned = before.current();
        } else if (before.isOutdated()) {
            effect = effects.get();
            planned = effect.rows();
        }
        return planned();
    }

    /** Whether it gives rows: then {@link #run} it; otherwise {@link #execute} it. */
    public boolean givesRows() {
        return effects == null;
    }

    /** Whether it defines: it changes no record, and has no rows. */
    public boolean defines() {
        return listing == null && planned == null;
    }

    /** What the rows have. */
    public RecordType type() {
        return listing != null ? listing.get().type() : planned().rowType();
    }

    /** The columns of the answer, with the names of their types in SQL; none without rows. */
    public List<Column> columns() {
        if (!givesRows()) {
            return List.of();
        }
        return type().declared().stream()
                .map(field -> new Column(field.name(), Types.label(field)))
                .toList();
    }

    /**
     * The types of the parameters by the names that SQL has for them, in the order of their places.
     */
    public List<String> parameters() {
        return places().stream().map(Parameter::label).toList();
    }

    /** Whether the statement begins with {@code EXPLAIN}: it asks for {@link #explanation}. */
    public boolean explains() {
        return text.explains();
    }

    /**
     * Whether it begins with {@code EXPLAIN AS JSON} or {@code EXPLAIN ANALYZE AS JSON}: it asks
     * for {@link Explanation#toJson}.
     */
    public boolean explainsAsJson() {
        return text.asJson();
    }

    /**
     * Whether it reads one source at most, so that {@link #run} shows one moment whatever else is
     * written.
     */
    public boolean readsOneSource() {
        return planned == null || planned.readsOne();
    }

    /** Whether its rows come in an order that it asks for. */
    public boolean isOrdered() {
        return listing != null || (givesRows() && planned().isOrdered());
    }

    /** Starts it; close the result. */
    public QueryResult run() {
        return run(RunOptions.defaults());
    }

    /**
     * Starts it within limits; close the result.
     *
     * @param values of the parameters, in their order: Java's class for the type, or one that
     *     widens to it. Times are cut to microseconds. A null is one of SQL: what compares with it
     *     is unknown
     * @throws SqlException naming the parameter, if there are too many or too few values, or one
     *     is of another type or out of range
     */
    public QueryResult run(RunOptions options, @Nullable Object... values) {
        checkGivesRows();
        if (listing != null) {
            checked(values);
            return listing.get().with(options).run();
        }
        return start(UnaryOperator.identity(), options, values);
    }

    /**
     * As {@link #run(RunOptions, Object...)}, at moments that the caller has, and closes after the
     * result.
     *
     * @param moments the view of each source; views of one snapshot show one moment
     */
    public QueryResult runAt(
            Function<? super Source, ? extends ReadView> moments,
            RunOptions options,
            @Nullable Object... values) {
        checkGivesRows();
        if (listing != null) {
            return run(options, values);
        }
        return start(
                read -> {
                    if (read.hosting() != null) {
                        throw new InvalidRequestException(
                                "'%s' is read by a host, at a moment of its own"
                                        .formatted(read.source().name()));
                    }
                    return new SourceAndView(read.source(), moments.apply(read.source()));
                },
                options,
                values);
    }

    private QueryResult start(
            UnaryOperator<SourceAndView> reading, RunOptions options, @Nullable Object... values) {
        Planned plan = current(options);
        @Nullable Object[] checked = checked(values);
        QueryResult quick = plan.quick(reading, options, checked);
        return quick == null
                ? compiled(plan, reading, options, checked).with(options).run()
                : quick;
    }

    /** What is compiled anew for each run ends as its planning does. */
    private Relation compiled(
            Planned plan,
            UnaryOperator<SourceAndView> reading,
            RunOptions options,
            @Nullable Object[] checked) {
        return PlanningStop.until(
                options.stop(), planningTime, () -> plan.relation(reading, checked));
    }

    private void checkGivesRows() {
        if (!givesRows()) {
            throw SqlException.of("the statement gives no rows: execute it");
        }
    }

    /** Changes or defines; see {@link #execute(RunOptions, Object...)}. */
    public long execute() {
        return execute(RunOptions.defaults());
    }

    /**
     * Changes or defines, within limits. Records are found at one moment. They are changed in
     * batches, each whole or not at all. What others have changed meanwhile is read and tested once
     * more. If it fails, batches before stay: {@link #changedCount} counts them.
     *
     * @param values of the parameters, as in {@link #run(RunOptions, Object...)}
     * @return how many records it has changed; 0 if it defines
     * @throws io.turbidite.core.DuplicateKeyException naming the key, if that of an insert is taken
     * @throws SqlException if it gives rows, or a value does not fit its field
     */
    public long execute(RunOptions options, @Nullable Object... values) {
        changed = new ChangedCount();
        if (planned != null) {
            var _ = current(options);
        }
        if (effect == null || text.explains()) {
            throw SqlException.of("the statement gives rows: run it");
        }
        effect.apply(options, checked(values), changed);
        return changed.count();
    }

    /** How many records the last {@link #execute} has changed, also where it failed. */
    public long changedCount() {
        return changed.count();
    }

    /**
     * How it is answered, or how the records are found that it changes; for {@code
     * EXPLAIN ANALYZE} the rows are read and counted, with what each operator takes for it, and
     * nothing is changed.
     */
    public Explanation explanation(RunOptions options, @Nullable Object... values) {
        Relation asked = (listing != null
                        ? listing.get()
                        : compiled(
                                current(options),
                                UnaryOperator.identity(),
                                options,
                                checked(values)))
                .with(options);
        if (!text.analyzes()) {
            return asked.explain();
        }
        RunOptions timed = options.clock() == null ? options.withClock(Clock.system()) : options;
        try (QueryResult rows = asked.with(timed).run()) {
            while (rows.next()) {
                // the steps count them
            }
            return rows.explain();
        }
    }

    private List<Parameter> places() {
        return planned == null ? List.of() : planned.parameters();
    }

    private @Nullable Object[] checked(@Nullable Object... values) {
        List<Parameter> parameters = places();
        if (values.length != parameters.size()) {
            throw SqlException.of("the statement has %d parameter%s, %d value%s given"
                    .formatted(
                            parameters.size(),
                            parameters.size() == 1 ? "" : "s",
                            values.length,
                            values.length == 1 ? " was" : "s were"));
        }
        @Nullable Object[] checked = new @Nullable Object[values.length];
        for (int i = 0; i < checked.length; i++) {
            checked[i] = parameters.get(i).checked(values[i]);
        }
        return checked;
    }
}
