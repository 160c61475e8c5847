package io.turbidite.ops.plan;

import io.turbidite.core.ClosedException;
import io.turbidite.core.Limits;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.Source;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.expr.Column;
import io.turbidite.ops.expr.Conditions;
import io.turbidite.ops.expr.Projection;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.expr.Tuples;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.frame.TupleWriter;
import io.turbidite.ops.group.CountCollector;
import io.turbidite.ops.group.CountSource;
import io.turbidite.ops.group.GroupCollector;
import io.turbidite.ops.group.GroupSource;
import io.turbidite.ops.run.Job;
import io.turbidite.ops.run.JobRows;
import io.turbidite.ops.run.RowSink;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.Stage;
import io.turbidite.ops.run.TimedRows;
import io.turbidite.ops.scan.PointRows;
import io.turbidite.ops.sort.Limit;
import io.turbidite.ops.sort.SortCollector;
import io.turbidite.ops.sort.SortedSource;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * How a query is answered: its way in, and the operators behind it, in one of these shapes.
 *
 * <pre>
 *  rows             way in, row by row, no frames between
 *  ordered rows     way in → sort                    | sorted → sink
 *  count            way in → count                   | sum → (limit) → sink
 *  groups           way in → group                   | groups → (limit) → sink
 *  ordered groups   way in → group                   | groups → sort | sorted → sink
 *  aggregates       as groups; of all records they are one group
 *  count of all     as the view knows it, where it does ({@link KnownCount})
 * </pre>
 *
 * <p>A bar ends a stage. What comes before the first bar is there once for each branch of
 * partitions. Rows in the primary key's order, up or down, need no sort where the way in is a scan.
 * <em>Confined to one thread;</em> gives its rows once.
 */
public final class Plan implements ResultPlan {
    /** More workers than this would only take turns on the machines we know. */
    private static final int BRANCH_COUNT_MAX = 16;

    /** The largest record, and a mebibyte for its key and what is selected. */
    private static final int SORTED_ROW_BYTES = Limits.RECORD_BYTES_MAX + (1 << 20);

    /** Groups are small; one of all of its rows' values may grow to this. */
    private static final int GROUP_BYTES = 8 << 20;

    private final CheckedQuery query;
    private final ReadView view;

    /** Once it was asked: queries over queries would ask theirs twice each. */
    private @Nullable Long estimatedRows;

    private final RunOptions options;
    private final AccessChoice choice;

    /** Whether the way in was asked for, whatever it costs. */
    private final boolean isAccessGiven;

    /** Null where one key is asked for: what it needs, {@link PointRows} has. */
    private final @Nullable SourceBuilder sources;

    /** Null where something else than a count of all is asked for. */
    private final @Nullable KnownCount allRecords;

    private final OperatorMeter sorted;
    private final OperatorMeter grouped;
    private final OperatorMeter limited;
    private @Nullable PointRows point;

    /** Has the time of the point, if that is taken. */
    private OperatorMeter pointTimed = OperatorMeter.NONE;

    private Plan(
            CheckedQuery query,
            ReadView view,
            RunOptions options,
            AccessChoice choice,
            boolean isAccessGiven) {
        this.isAccessGiven = isAccessGiven;
        this.query = query;
        this.view = view;
        this.options = options;
        this.choice = choice;
        boolean isPoint = isPoint();
        this.sources = isPoint ? null : newSources();
        this.allRecords = isAccessGiven ? null : KnownCount.of(query, view, choice, options);
        this.sorted = sorts() ? new OperatorMeter() : OperatorMeter.NONE;
        this.grouped =
                query.kind() == CheckedQuery.Kind.ROWS ? OperatorMeter.NONE : new OperatorMeter();
        this.limited = isPoint ? OperatorMeter.NONE : new OperatorMeter();
    }

    private SourceBuilder newSources() {
        return new SourceBuilder(query, view, options, choice);
    }

    private boolean isPoint() {
        return query.kind() == CheckedQuery.Kind.ROWS && choice.chosen() instanceof Access.Get;
    }

    private SourceBuilder sources() {
        return Objects.requireNonNull(sources, "a point has none");
    }

    /**
     * Plans a query over a view.
     *
     * @throws io.turbidite.core.InvalidRequestException if it does not fit the source
     */
    public static Plan of(QueryRequest request, ReadView view, RunOptions options) {
        return of(CheckedQuery.of(request, view.source()), request.access(), view, options);
    }

    /** Plans a query over the rows of another plan. */
    public static Plan over(ResultPlan rows, QueryRequest request, RunOptions options) {
        PlannedRows source = PlannedRows.of(rows);
        CheckedQuery query = CheckedQuery.of(request, source);
        if (rows instanceof JoinPlan join) {
            join.uses(UsedFields.of(query, request.where()));
        }
        return of(query, request.access(), source, options);
    }

    /** The type of the rows of a query of a source. */
    public static RecordType rowType(QueryRequest request, Source source) {
        return CheckedQuery.of(request, source).rowType();
    }

    /** The type of the rows of a query over rows of a type. */
    public static RecordType rowType(QueryRequest request, RecordType of) {
        return rowType(request, PlannedRows.ofType(of));
    }

    /** Plans a query that has been checked; {@code access} is what the request says. */
    static Plan of(CheckedQuery query, @Nullable String access, ReadView view, RunOptions options) {
        return new Plan(
                query,
                view,
                options,
                AccessChoice.of(query, view, access, options.spill() != null),
                access != null);
    }

    @Override
    public RecordType rowType() {
        return query.rowType();
    }

    @Override
    public boolean isCount() {
        return query.kind() == CheckedQuery.Kind.COUNT;
    }

    @Override
    public String access() {
        if (toldCount() != null) {
            return KnownCount.ACCESS;
        }
        return view instanceof PlannedRows rows && choice.chosen() instanceof Access.Scan
                ? rows.plan().access()
                : choice.chosen().describe();
    }

    /** A way in that was possible. */
    public record Choice(String access, double cost, boolean chosen) {}

    @Override
    public List<Choice> choices() {
        if (view instanceof PlannedRows rows) {
            return rows.plan().choices();
        }
        if (toldCount() != null) {
            return List.of(new Choice(KnownCount.ACCESS, AccessCost.OPEN, true));
        }
        return choice.estimates().choices().stream()
                .map(way -> new Choice(
                        way.access().describe(), way.cost(), way.access().equals(choice.chosen())))
                .toList();
    }

    @Override
    public List<PlanStep> steps() {
        SourceBuilder builder = sources == null ? newSources() : sources;
        WayInSteps wayIn = builder.steps();
        OperatorMeter limitedRows = limited;
        PointRows asked = point;
        if (asked != null) {
            builder.count(asked, pointTimed);
            limitedRows = new OperatorMeter();
            limitedRows.add(asked.matchingCount());
        }
        List<PlanStep> steps = new ArrayList<>();
        CheckedQuery.Near near = query.near();
        String order = near != null
                ? near.toString()
                : String.join(
                        ", ",
                        query.order().stream().map(CheckedQuery.Order::toString).toList());
        long rows = query.kind() == CheckedQuery.Kind.ROWS
                ? choice.estimates().resultRows()
                : query.kind() == CheckedQuery.Kind.COUNT ? 1 : PlanStep.UNKNOWN;
        long upToLimit = rows == PlanStep.UNKNOWN ? rows : Math.min(rows, query.limit());
        if (sorts()) {
            String detail = query.hasLimit()
                    ? String.format(Locale.ROOT, "%,d by %s", query.limit(), order)
                    : order;
            steps.add(new PlanStep(query.hasLimit() ? "top" : "order", detail, upToLimit, sorted));
        } else if (query.hasLimit()) {
            steps.add(new PlanStep(
                    "limit",
                    String.format(Locale.ROOT, "%,d", query.limit()),
                    upToLimit,
                    limitedRows));
        }
        switch (query.kind()) {
            case ROWS -> {}
            case COUNT -> steps.add(new PlanStep("count", "records", 1, grouped));
            case GROUPS, CELLS, AGGREGATES ->
                steps.add(new PlanStep("group", GroupText.of(query), rows, grouped));
        }
        KnownCount known = toldCount();
        if (known != null) {
            steps.add(known.step());
            return steps;
        }
        steps.addAll(wayIn.all());
        return steps;
    }

    /** As {@link #knownCount} would be, for explanations: nothing is read for it. */
    private @Nullable KnownCount toldCount() {
        KnownCount count = allRecords;
        return count != null && count.isTold() ? count : null;
    }

    private @Nullable KnownCount knownCount() {
        KnownCount count = allRecords;
        return count != null && count.isKnown() ? count : null;
    }

    @Override
    public long estimatedRows() {
        Long known = estimatedRows;
        if (known == null) {
            known = newEstimate();
            estimatedRows = known;
        }
        return known;
    }

    private long newEstimate() {
        boolean isOfOne = query.groups().isEmpty() && query.grid() == null;
        return switch (query.kind()) {
            case COUNT -> 1;
            case GROUPS, CELLS, AGGREGATES -> isOfOne ? 1 : PlanStep.UNKNOWN;
            case ROWS -> {
                boolean isUnknown = view instanceof PlannedRows rows
                        && rows.plan().estimatedRows() == PlanStep.UNKNOWN;
                yield isUnknown ? PlanStep.UNKNOWN : Math.min(resultRows(), query.limit());
            }
        };
    }

    private long resultRows() {
        try {
            return choice.resultRows(view);
        } catch (ClosedException after) {
            return choice.estimates().resultRows(); // of the source as it is now
        }
    }

    @Override
    public Rows rows() {
        KnownCount known = knownCount();
        if (known != null) {
            grouped.add(1);
            limited.add(1);
            return TimedRows.of(known.rows(), options, grouped);
        }
        if (query.kind() == CheckedQuery.Kind.ROWS && !sorts()) {
            Projection projection = query.newProjection();
            if (choice.chosen() instanceof Access.Get get) {
                PointRows rows = new PointRows(
                        view,
                        get.key(),
                        query.compile(get.decided()),
                        projection,
                        query.rowType(),
                        options);
                point = rows;
                if (options.clock() == null) {
                    return rows;
                }
                pointTimed = new OperatorMeter();
                return TimedRows.of(rows, options, pointTimed);
            }
            return sources().rows(projection, query.limit(), limited);
        }
        RowSink sink = new RowSink();
        FrameWriter end =
                query.hasLimit() && !sorts() ? new Limit(query.limit(), limited, sink) : sink;
        List<Stage> stages = switch (query.kind()) {
            case ROWS -> orderedRows(sink);
            case COUNT -> count(end);
            case GROUPS, CELLS, AGGREGATES -> groups(sorts() ? sink : end);
        };
        return new JobRows(new Job(stages, options), sink, query.rowType());
    }

    /**
     * The rows of some partitions alone, for one of several readers; instead of {@link #rows}. What
     * is not read by partitions, a single record for example, comes with partition 0.
     *
     * @param readers how many there are, who share the memory
     */
    public Rows rows(List<Integer> partitions, int readers) {
        if (query.kind() != CheckedQuery.Kind.ROWS || sorts()) {
            throw new IllegalStateException("only records come by partitions");
        }
        if (!isPoint() && sources().splits()) {
            return sources()
                    .rows(partitions, readers, query.newProjection(), query.limit(), limited);
        }
        return partitions.contains(0)
                ? rows()
                : new ValuesPlan(query.rowType(), List.of(), options).rows();
    }

    /**
     * The same rows as far as a field of theirs has one of some values; null where these are not
     * got by them sooner.
     *
     * @param name of the field in the rows
     * @param values of the class that the field's kind has, each once
     */
    @Nullable
    Plan narrowedTo(String name, List<Object> values) {
        int field = query.columns().isEmpty() ? query.type().indexOf(name) : declared(name);
        if (!isNarrowable()
                || field < 0
                || !leadsAnIndex(query.type().field(field).name())) {
            return null;
        }
        Conditions narrowed =
                query.conditions().andOneOf(query.type().field(field).name(), values);
        Plan plan = of(query.with(narrowed), null, view, options);
        return plan.choice.chosen() instanceof Access.Scan scan
                        && scan.range().keys().isAll()
                ? null
                : plan;
    }

    /**
     * What its scan costs, where {@link #narrowedTo} may find a cheaper way by a field of its rows;
     * 0: it does not.
     */
    double scanCostBeside(int field) {
        String name = rowType().field(field).name();
        int read = query.columns().isEmpty() ? query.type().indexOf(name) : declared(name);
        return isNarrowable()
                        && read >= 0
                        && leadsAnIndex(query.type().field(read).name())
                ? choices().stream()
                        .filter(Choice::chosen)
                        .mapToDouble(Choice::cost)
                        .sum()
                : 0;
    }

    /** Whether it reads records by a scan, and may as well read those alone with some values. */
    private boolean isNarrowable() {
        return !isAccessGiven
                && query.kind() == CheckedQuery.Kind.ROWS
                && query.near() == null
                && query.order().isEmpty()
                && !query.hasLimit()
                && choice.chosen() instanceof Access.Scan
                && !(view instanceof PlannedRows);
    }

    /** Whether something may be found by the field without looking at all records. */
    private boolean leadsAnIndex(String name) {
        List<String> key = query.source().primaryKey();
        return (!key.isEmpty() && key.getFirst().equals(name))
                || view.indexes().stream()
                        .anyMatch(index -> index.fields().getFirst().equals(name));
    }

    /** The field of the records that a column shows as it is; -1 if it is none. */
    private int declared(String column) {
        for (Column one : query.columns()) {
            if (one instanceof Column.Declared(String name, int field) && name.equals(column)) {
                return field;
            }
        }
        return -1;
    }

    private boolean sorts() {
        boolean inOrder = isPoint()
                || (choice.chosen() instanceof Access.Scan scan && scan.order().isOrdered());
        return (!query.order().isEmpty() || query.near() != null) && !inOrder;
    }

    /** What is asked. */
    CheckedQuery query() {
        return query;
    }

    /** Of which moment. */
    ReadView view() {
        return view;
    }

    private List<Stage> orderedRows(FrameWriter sink) {
        // half of the memory of a sort with a limit is for the rows that are out of the race
        long bytesOfEach = (query.hasLimit() ? 2 : 1) * (long) SORTED_ROW_BYTES;
        List<List<Integer>> branches = partitions(branchCount(bytesOfEach));
        List<SortCollector> collectors = new ArrayList<>();
        for (int i = 0; i < branches.size(); i++) {
            collectors.add(sortCollector(branches.size()));
        }
        return List.of(
                collecting(branches, collectors, new QueryTuples(query)::ordered),
                Stage.of(
                        new SortedSource(collectors, query.limit(), each(), sorted, sink),
                        sink,
                        List.of(sorted)));
    }

    private List<Stage> count(FrameWriter end) {
        JoinStages join = ofJoin(1);
        List<List<Integer>> branches = branches(join, 1);
        List<CountCollector> collectors = new ArrayList<>();
        do {
            collectors.add(new CountCollector());
        } while (collectors.size() < branches.size());
        List<Stage> stages = collecting(join, branches, collectors, Tuples::none, () -> {});
        stages.add(Stage.of(new CountSource(collectors, grouped, end), end, List.of(grouped)));
        return stages;
    }

    private List<Stage> groups(FrameWriter end) {
        JoinStages join = ofJoin(GROUP_BYTES);
        List<List<Integer>> branches = branches(join, GROUP_BYTES);
        int others = sorts() ? 1 : 0;
        int shares = Math.max(1, branches.size()) + others;
        List<GroupCollector> collectors = new ArrayList<>();
        do {
            collectors.add(new GroupCollector(
                    options,
                    options.memoryBytesMax() / shares,
                    query.aggregates().isEmpty() ? null : query.aggregates().states(),
                    grouped));
        } while (collectors.size() < branches.size());
        SortCollector sort = sorts() ? sortCollector(shares) : null;
        Runnable alone = () -> {
            long bytes = options.memoryBytesMax() / (1 + others);
            collectors.getFirst().useMemory(bytes);
            if (sort != null) {
                sort.useMemory(bytes);
            }
        };
        QueryTuples tuples = new QueryTuples(query);
        List<Stage> stages = collecting(join, branches, collectors, tuples::grouped, alone);
        if (sort == null) {
            stages.add(Stage.of(
                    new GroupSource(
                            collectors,
                            tuples.groupRows(),
                            grouped,
                            end,
                            query.limit(),
                            options::checkNotStopped),
                    end,
                    List.of(grouped)));
            return stages;
        }
        stages.add(Stage.of(
                new GroupSource(
                        collectors,
                        tuples.groupRows(),
                        grouped,
                        sort,
                        Long.MAX_VALUE,
                        options::checkNotStopped),
                sort,
                List.of(sorted)));
        stages.add(Stage.of(
                new SortedSource(List.of(sort), query.limit(), SortedSource.ALL, sorted, end),
                end,
                List.of(sorted)));
        return stages;
    }

    /** Of a join none where one reads all of it. */
    private List<List<Integer>> branches(@Nullable JoinStages join, long bytesOfEach) {
        return join == null ? partitions(branchCount(bytesOfEach)) : join.branches();
    }

    /** The stages up to the collectors, to be added to. */
    private <C extends TupleWriter> List<Stage> collecting(
            @Nullable JoinStages join,
            List<List<Integer>> branches,
            List<C> collectors,
            Supplier<TupleMaker> maker,
            Runnable alone) {
        return new ArrayList<>(
                join == null
                        ? List.of(collecting(branches, collectors, maker))
                        : join.stages(collectors, maker, alone, timed()));
    }

    /** A first stage: each branch of partitions into its own collector. */
    private <C extends FrameWriter> Stage collecting(
            List<List<Integer>> branches, List<C> collectors, Supplier<TupleMaker> maker) {
        List<Stage.Branch> built = new ArrayList<>();
        for (int i = 0; i < branches.size(); i++) {
            C collector = collectors.get(i);
            built.add(new Stage.Branch(
                    sources()
                            .build(
                                    branches.get(i),
                                    maker.get(),
                                    collector,
                                    options.memoryBytesMax() / branches.size()),
                    collector,
                    timed()));
        }
        return new Stage(built);
    }

    /** Who has the time of the first stage: of two operators the upper one has all below it. */
    private List<OperatorMeter> timed() {
        if (grouped == OperatorMeter.NONE) {
            return List.of(sorted);
        }
        return sorts() ? List.of(grouped, sorted) : List.of(grouped);
    }

    /**
     * Of groups or a count over a join that needs no rows for them, or whose rows several read;
     * null: they are collected as any rows are.
     */
    private @Nullable JoinStages ofJoin(long bytesOfEach) {
        if (!(view instanceof PlannedRows rows
                && rows.plan() instanceof JoinPlan join
                && choice.chosen() instanceof Access.Scan scan)) {
            return null;
        }
        boolean isAll = query.compile(scan.decided()).length == 0;
        PairedGroups paired = isAll ? PairedGroups.of(query, join, options, bytesOfEach) : null;
        if (paired != null) {
            return paired;
        }
        Joining joining = join.joining();
        List<List<Integer>> branches = joining.branches(options, bytesOfEach);
        return branches.isEmpty() ? null : new JoinedRows(joining, branches, rows, sources());
    }

    /** Whether several may read some partitions each, and all together have its rows. */
    boolean isDividable() {
        return query.kind() == CheckedQuery.Kind.ROWS
                && !isPoint()
                && !sorts()
                && !query.hasLimit()
                && !(view instanceof PlannedRows)
                && sources().splits();
    }

    private SortCollector sortCollector(int shares) {
        // where some of each are wanted, the first few may all be of one
        long limit = each() == SortedSource.ALL ? query.limit() : SortCollector.ALL;
        return new SortCollector(options, options.memoryBytesMax() / shares, limit, sorted);
    }

    /** Most rows that are equal in what is ordered by before. */
    private int each() {
        int before = query.ordersBeforeEach();
        return before < 0 ? SortedSource.ALL : query.order().get(before).each();
    }

    /**
     * How many workers read.
     *
     * @param bytesOfEach what each must have, so that what fits one reader fits them too
     */
    int branchCount(long bytesOfEach) {
        boolean isOne = options.tasks() == null
                || view.partitionCount() == 1
                || !sources().splits()
                || choice.rowsToRead(view) < options.sideBySideRows();
        long fitting = Math.min(BRANCH_COUNT_MAX, options.memoryBytesMax() / bytesOfEach);
        return isOne ? 1 : Math.clamp(fitting, 1, view.partitionCount());
    }

    /** All partitions, dealt out to branches. */
    List<List<Integer>> partitions(int branchCount) {
        List<List<Integer>> branches = new ArrayList<>();
        for (int i = 0; i < branchCount; i++) {
            branches.add(new ArrayList<>());
        }
        for (int i = 0; i < view.partitionCount(); i++) {
            branches.get(i % branchCount).add(i);
        }
        return branches;
    }
}
