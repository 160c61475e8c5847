package io.turbidite.ops.sql;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.ops.expr.Given;
import io.turbidite.ops.job.JobHost;
import io.turbidite.ops.job.JobParts;

import org.jspecify.annotations.Nullable;

import java.time.Duration;
import java.time.InstantSource;
import java.util.Collection;
import java.util.List;
import java.util.function.BooleanSupplier;

/**
 * SQL over sources.
 *
 * <pre>{@code
 * SqlStatement late = Sql.on(flights, planes).statement("""
 *         select p.year, avg(f.dep_delay_min) as delay
 *         from Flights f join Planes p on p.tailnum = f.tailnum
 *         group by p.year order by delay desc limit 10""");
 * try (QueryResult rows = late.run()) {
 *     rows.forEachJson(System.out);
 * }
 * }</pre>
 *
 * <p>Needs Apache Calcite on the class path ({@code org.apache.calcite:calcite-babel}); nothing
 * else here does. It keeps the plans of the 256 texts that were asked for last, so keep it as long
 * as its sources. <em>Thread-safe;</em> its statements are not.
 */
public final class Sql {
    /** Longest text of a statement, in characters. */
    public static final int TEXT_CHARS_MAX = 1 << 20;

    /** Deepest nesting of parentheses in a statement. */
    public static final int DEPTH_MAX = 200;

    /** Most columns of an answer. */
    public static final int COLUMN_COUNT_MAX = 2_000;

    /** What a statement may take to plan, unless {@link #planningAtMost} says otherwise. */
    public static final Duration PLANNING_MAX = Duration.ofSeconds(10);

    private final List<SourceAndView> sources;

    /** What statements change; null if they only read. */
    private final @Nullable Catalog catalog;

    private final InstantSource clock;
    private final PlanningTime planningTime;
    private final KeptPlans plans = new KeptPlans();

    private Sql(List<SourceAndView> sources) {
        this(sources, null, InstantSource.system(), PlanningTime.DEFAULT);
    }

    private Sql(
            List<SourceAndView> sources,
            @Nullable Catalog catalog,
            InstantSource clock,
            PlanningTime planningTime) {
        this.sources = sources;
        this.catalog = catalog;
        this.clock = clock;
        this.planningTime = planningTime;
    }

    /** The same, by another clock: what {@code NOW()} and {@code CURRENT_DATE} go by. */
    public Sql by(InstantSource newClock) {
        return new Sql(
                sources, catalog, Given.notNull(newClock, "the clock of statements"), planningTime);
    }

    /**
     * The same, with another limit than {@link #PLANNING_MAX} on the processor time that a
     * statement takes to plan.
     *
     * @throws SqlException if it is not above 0
     */
    public Sql planningAtMost(Duration most) {
        Given.notNull(most, "the time of planning");
        return new Sql(sources, catalog, clock, PlanningTime.of(most));
    }

    /** Statements may name these sources. */
    public static Sql on(Source... sources) {
        return on(List.of(Given.notNull(sources, "the sources of statements")));
    }

    /** Statements may name these sources. */
    public static Sql on(Collection<? extends Source> sources) {
        return new Sql(Given.notNull(sources, "the sources of statements").stream()
                .map(source -> new SourceAndView(source, null))
                .toList());
    }

    /**
     * Statements may read, change and define what a store has. Ask for it anew when datasets have
     * come or gone.
     */
    public static Sql on(Catalog catalog) {
        return on(Given.notNull(catalog, "the catalog of statements").datasets())
                .changing(catalog);
    }

    /**
     * The same, but statements may also change and define what a store has.
     *
     * @throws InvalidRequestException if a host reads the records: its statements change nothing
     */
    public Sql changing(Catalog newCatalog) {
        if (sources.stream().anyMatch(given -> given.hosting() != null)) {
            throw new InvalidRequestException(
                    "statements over the records of a host read, and change no store");
        }
        return new Sql(
                sources,
                Given.notNull(newCatalog, "the catalog of statements"),
                clock,
                planningTime);
    }

    /**
     * The same, but jobs on a host read the records, such as the nodes of a cluster: the sources
     * have names and types alone, and no view of them is opened. Conditions, and groups by fields,
     * are worked out there; joins, orders and all else here, over the rows that come. A statement
     * that reads several datasets shows each at a moment of its own. Statements that change are
     * refused: the store here is not the host's.
     *
     * @param instances of each stage on the host, 1 or more
     */
    public Sql hostedBy(JobHost host, int instances) {
        return hosted(host, instances, null);
    }

    /**
     * As {@link #hostedBy(JobHost, int)}, but statements may also change and define what the host
     * has.
     *
     * @param hosts the catalog of the host's datasets, not of a store here
     */
    public Sql hostedBy(JobHost host, int instances, Catalog hosts) {
        return hosted(host, instances, Given.notNull(hosts, "the catalog of the host"));
    }

    private Sql hosted(JobHost host, int instances, @Nullable Catalog hosts) {
        Hosting hosting = new Hosting(
                Given.notNull(host, "the host of statements"),
                instances,
                JobParts.of(sources.stream().map(SourceAndView::source).toList()));
        return new Sql(
                sources.stream()
                        .map(given ->
                                new SourceAndView(given.source(), null, false, List.of(), hosting))
                        .toList(),
                hosts,
                clock,
                planningTime);
    }

    /**
     * Statements may name the sources of these views, and show them as the views do: views of one
     * snapshot show one moment. The caller closes them, after the results.
     */
    public static Sql at(Collection<? extends ReadView> views) {
        return new Sql(Given.notNull(views, "the views of statements").stream()
                .map(view -> new SourceAndView(view.source(), view))
                .toList());
    }

    /**
     * Whether a text begins as a statement does that changes or defines: that needs a store which
     * was opened to be changed. Nothing else of it is checked.
     */
    public static boolean changes(String text) {
        String first = Tokens.firstWord(Given.notNull(text, "the text of a statement"));
        return Changes.FIRST_WORDS.contains(first) || Definitions.FIRST_WORDS.contains(first);
    }

    /**
     * Reads, checks and plans a statement.
     *
     * @throws SqlException with the place of what is wrong, or the construct that is not supported;
     *     or if it takes longer to plan than it may
     */
    public SqlStatement statement(String text) {
        return statement(text, () -> false);
    }

    /**
     * As {@link #statement(String)}, but long statements that take long to plan can be ended.
     *
     * @param stop asked many times while it is planned, by this thread: once it says true, planning
     *     ends. A run asks {@link io.turbidite.ops.run.RunOptions#stop} of its own
     * @throws java.util.concurrent.CancellationException if {@code stop} has ended it
     */
    public SqlStatement statement(String text, BooleanSupplier stop) {
        return PlanningStop.until(Given.notNull(stop, "a stop"), planningTime, () -> made(text));
    }

    private SqlStatement made(String text) {
        Planned known = plans.of(Given.notNull(text, "the text of a statement"));
        if (known != null) {
            return new SqlStatement(known, planningTime);
        }
        StatementText read = StatementText.of(text);
        try {
            return planned(read);
        } catch (NoClassDefFoundError e) {
            if (String.valueOf(e.getMessage()).startsWith("org/apache/calcite")) {
                throw new InvalidRequestException(
                        "SQL needs org.apache.calcite:calcite-babel, which is not on the class path",
                        e);
            }
            throw e;
        }
    }

    private SqlStatement planned(StatementText text) {
        String first = Tokens.firstWord(text.query());
        if (Changes.FIRST_WORDS.contains(first)) {
            Catalog changed = required();
            return new SqlStatement(
                    text, () -> Changes.of(sources, changed, text, clock), planningTime);
        }
        if (Definitions.FIRST_WORDS.contains(first)) {
            Effect definition = Definitions.of(required(), text);
            return new SqlStatement(text, () -> definition, planningTime);
        }
        Catalog listed = Listings.FIRST_WORDS.contains(first) ? required() : null;
        return listed != null
                ? SqlStatement.ofListing(text, () -> Listings.of(listed, text))
                : new SqlStatement(
                        plans.kept(text.whole(), Planned.of(sources, text, clock)), planningTime);
    }

    private Catalog required() {
        if (catalog == null) {
            throw SqlException.of(
                    "statements over sources can't change or list what a store has: give its catalog");
        }
        return catalog;
    }
}
