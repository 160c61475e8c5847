package io.turbidite.ops.plan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FetchOptions.Pruning;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.RecordStream;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.batch.BatchTaker;
import io.turbidite.ops.batch.BatchWriter;
import io.turbidite.ops.expr.FieldRange;
import io.turbidite.ops.expr.Projection;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.expr.Tuples;
import io.turbidite.ops.fetch.FetchedRecords;
import io.turbidite.ops.fetch.IndexOrderRecords;
import io.turbidite.ops.fetch.NearestRecords;
import io.turbidite.ops.fetch.NewestOfEach;
import io.turbidite.ops.fetch.NewestRecords;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.frame.TupleWriter;
import io.turbidite.ops.intersect.Intersection;
import io.turbidite.ops.intersect.IntersectionScan;
import io.turbidite.ops.intersect.JoinedCandidates;
import io.turbidite.ops.intersect.JoinedRanges;
import io.turbidite.ops.run.BatchTimer;
import io.turbidite.ops.run.CallTimer;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.run.StopLooks;
import io.turbidite.ops.run.TimedSource;
import io.turbidite.ops.scan.DirectRows;
import io.turbidite.ops.scan.KeyOrder;
import io.turbidite.ops.scan.NoRecords;
import io.turbidite.ops.scan.OneRecord;
import io.turbidite.ops.scan.OrderedRecords;
import io.turbidite.ops.scan.PartitionedRecords;
import io.turbidite.ops.scan.PointRows;
import io.turbidite.ops.scan.PrimaryRange;
import io.turbidite.ops.scan.RecordSource;
import io.turbidite.ops.scan.RecordsOfEither;
import io.turbidite.ops.scan.SelectedRecords;
import io.turbidite.ops.scan.WayIn;
import io.turbidite.ops.search.CandidateSearch;
import io.turbidite.ops.search.Candidates;
import io.turbidite.ops.search.EntryCells;
import io.turbidite.ops.search.EntryFields;
import io.turbidite.ops.search.EntryTuples;
import io.turbidite.ops.search.IndexOnlyScan;
import io.turbidite.ops.search.IndexRange;
import io.turbidite.ops.search.IndexWalk;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.function.Supplier;

/** Builds the operators of a way in, and the steps that explain them. Owned by one plan. */
final class SourceBuilder {
    /**
     * Keys of the first batch where the reader may stop early: he may, or most candidates may fail.
     */
    private static final long FIRST_BATCH_COUNT_MIN = 256;

    private static final RecordPredicate[] NONE = {};

    private final CheckedQuery query;
    private final ReadView view;
    private final RunOptions options;
    private final AccessChoice choice;
    private final WayInMeters meters;

    SourceBuilder(CheckedQuery query, ReadView view, RunOptions options, AccessChoice choice) {
        this.query = query;
        this.view = view;
        this.options = options;
        this.choice = choice;
        this.meters = new WayInMeters(choice.chosen());
    }

    /** The steps that explain the way in. */
    WayInSteps steps() {
        return new WayInSteps(query, view, options, choice, meters);
    }

    /** Takes over what was counted of a point, and its time where that was taken. */
    void count(PointRows point, OperatorMeter timed) {
        if (timed != OperatorMeter.NONE) {
            meters.read.work().took(timed.work().cpuNanos());
        }
        meters.read.add(point.foundCount());
        meters.selected.add(point.matchingCount());
    }

    /** Partitions can be read side by side only where each is read as a whole. */
    boolean splits() {
        return switch (choice.chosen()) {
            case Access.Scan scan -> !scan.order().isOrdered();
            case Access.Fetch fetch -> !fetch.looksAtRecords();
            case Access.Entries _, Access.JoinedFetch _, Access.JoinedEntries _, Access.Either _ ->
                true;
            case Access.Get _, Access.Nothing _, Access.InOrder _ -> false;
        };
    }

    /** As {@link #rows(List, int, Projection, long, OperatorMeter)}, of all partitions. */
    DirectRows rows(@Nullable Projection projection, long limit, OperatorMeter limited) {
        return rows(allPartitions(), 1, projection, limit, limited);
    }

    /**
     * The way in to some partitions for a reader who takes matching records one by one.
     *
     * @param readers how many read some partitions each, and share the memory
     * @param projection makes the rows; null: they are the records
     */
    DirectRows rows(
            List<Integer> partitions,
            int readers,
            @Nullable Projection projection,
            long limit,
            OperatorMeter limited) {
        TupleMaker maker = projection == null ? Tuples.inPlace() : projection;
        return new DirectRows(
                selected(
                        wayIn(partitions, limit, options.memoryBytesMax() / readers),
                        maker,
                        limit == QueryRequest.NO_LIMIT),
                projection == null ? null : new RecordView(query.rowType()),
                limit,
                limited,
                options,
                hasRuns(),
                looking(limited));
    }

    /** Has the time of what {@link #build} makes, where that looks for records. */
    OperatorMeter timed() {
        return looking(meters.selected);
    }

    /** Has the time of looks for a record. */
    private OperatorMeter looking(OperatorMeter limited) {
        if (!(view instanceof PlannedRows)) {
            return meters.lowest(choice.chosen());
        }
        // the rows have a time of their own: this is of what is done with them
        return query.columns().isEmpty() && query.conditions().toString().isEmpty()
                ? limited
                : meters.selected;
    }

    /** Where the way in goes through them one by one. */
    private List<Integer> allPartitions() {
        if (!splits()) {
            return List.of();
        }
        return everyPartition();
    }

    private List<Integer> everyPartition() {
        List<Integer> all = new ArrayList<>(view.partitionCount());
        for (int i = 0; i < view.partitionCount(); i++) {
            all.add(i);
        }
        return all;
    }

    /**
     * The source of a stage, for some partitions.
     *
     * @param maker makes tuples of records; an index that answers alone makes its own of the same
     *     shape
     * @param memoryBytes most that candidates of several indexes take
     */
    FrameSource build(
            List<Integer> partitions, TupleMaker maker, FrameWriter target, long memoryBytes) {
        if (choice.chosen() instanceof Access.Entries(var range)) {
            EntryTuples fields = range.index().kind().hasRanges()
                    ? entryFields(range)
                    : new EntryCells(query.grid());
            return TimedSource.of(
                    taker -> new IndexOnlyScan(
                            view,
                            partitions,
                            range,
                            fields,
                            new FrameEmitter(taker, fields.tupleFieldCount(), Long.MAX_VALUE),
                            new IndexOnlyScan.Meters(
                                    meters.read, meters.ofSearch(), meters.selected)),
                    target,
                    options,
                    meters.read);
        }
        if (choice.chosen() instanceof Access.JoinedEntries(var ranges)) {
            EntryTuples fields = entryTuples(ranges);
            return TimedSource.of(
                    taker -> new IntersectionScan(
                            view,
                            partitions,
                            partition -> intersection(partition, ranges, memoryBytes)
                                    .orElseThrow(() -> IntersectionScan.noMemory(memoryBytes)),
                            ranges.isByTimestamp(),
                            fields,
                            new FrameEmitter(taker, fields.tupleFieldCount(), Long.MAX_VALUE),
                            meters.selected),
                    target,
                    options,
                    meters.ofJoin().left());
        }
        if (target instanceof TupleWriter taker) {
            maker.spare(taker::drops);
        }
        BatchTaker batches = hasRuns() && target instanceof BatchWriter taking
                ? taking.taking(maker, query.type())
                : null;
        return new RecordSource(
                selected(wayIn(partitions, Long.MAX_VALUE, memoryBytes), maker, true),
                target,
                batches,
                batches == null
                        ? CallTimer.of(options, timed())
                        : CallTimer.ofBatches(options, timed()));
    }

    /** Whether the records come in runs; all others come one by one. */
    private boolean hasRuns() {
        return choice.chosen() instanceof Access.Scan scan
                && !scan.order().isOrdered()
                && !(view instanceof PlannedRows);
    }

    private EntryTuples entryTuples(JoinedRanges ranges) {
        IndexRange shown =
                ranges.shown() == JoinedRanges.NONE ? null : ranges.ranges().get(ranges.shown());
        return shown == null || shown.windowed() != null
                ? new EntryCells(query.grid())
                : entryFields(shown);
    }

    private Optional<Intersection> intersection(
            int partition, JoinedRanges ranges, long memoryBytes) {
        return Intersection.open(view, partition, ranges, options, memoryBytes, meters.ofJoin());
    }

    /** Where the memory does not do, the records of the first index decide. */
    private Candidates candidates(int partition, JoinedRanges ranges, long memoryBytes) {
        Optional<Intersection> common = intersection(partition, ranges, memoryBytes);
        if (common.isPresent()) {
            return new JoinedCandidates(common.get());
        }
        Intersection.Meters joined = meters.ofJoin();
        return CandidateSearch.open(
                view,
                partition,
                ranges.ranges().getFirst(),
                joined.searched().getFirst(),
                joined.searches().getFirst());
    }

    /**
     * @param rowsWanted about how many rows the reader takes
     * @param memoryBytes most that candidates of several indexes take
     */
    private WayIn wayIn(List<Integer> partitions, long rowsWanted, long memoryBytes) {
        return switch (choice.chosen()) {
            case Access.Nothing _ -> new WayIn(NoRecords::new, meters.read, meters.scanned);
            case Access.Get(var key, var _) ->
                new WayIn(() -> new OneRecord(view, Slice.of(key)), meters.read, meters.scanned);
            case Access.Scan(var range, KeyOrder order, var _) ->
                new WayIn(
                        order.isOrdered()
                                ? () -> new OrderedRecords(view, range, order)
                                : () -> new PartitionedRecords(view, partitions, range),
                        meters.read,
                        meters.scanned);
            case Access.Fetch fetch
            when fetch.isNearest() ->
                new WayIn(() -> nearest(fetch.range()), meters.fetched, meters.scanned);
            case Access.Fetch fetch
            when fetch.isNewest() ->
                new WayIn(() -> newest(fetch.range()), meters.fetched, meters.scanned);
            case Access.Fetch fetch
            when fetch.ofEach() ->
                new WayIn(() -> newestOfEach(fetch.range()), meters.fetched, meters.scanned);
            case Access.Fetch(var range, var _) ->
                new WayIn(
                        () -> fetch(partitions, range, rowsWanted), meters.fetched, meters.scanned);
            case Access.InOrder(var range, var walk) ->
                new WayIn(() -> inOrder(range, walk), meters.fetched, meters.scanned);
            case Access.Either either ->
                new WayIn(
                        () -> either(partitions, either, rowsWanted),
                        meters.fetched,
                        meters.scanned);
            case Access.JoinedFetch(var ranges) ->
                new WayIn(
                        () -> fetch(
                                partitions,
                                partition -> candidates(partition, ranges, memoryBytes),
                                ranges.ranges().getFirst(),
                                Math.max(FIRST_BATCH_COUNT_MIN, rowsWanted),
                                fetchOptions(ranges.isByTimestamp(), ranges.filter())),
                        meters.fetched,
                        meters.scanned);
            case Access.Entries _, Access.JoinedEntries _ ->
                throw new IllegalStateException(choice.chosen() + " gives no records");
        };
    }

    private FetchedRecords fetch(List<Integer> partitions, IndexRange range, long rowsWanted) {
        return fetch(
                partitions,
                partition -> CandidateSearch.open(
                        view, partition, range, meters.read, meters.ofSearch()),
                range,
                Math.max(firstBatchCountMin(range), rowsWanted),
                fetchOptions(!range.index().alwaysValid(), range.filter()));
    }

    private RecordsOfEither either(
            List<Integer> partitions, Access.Either either, long rowsWanted) {
        List<RecordPredicate> belonging = either.terms().belonging();
        // a function sees no record that another condition refuses
        List<RecordPredicate> first =
                either.terms().callsFunctions() ? List.of(query.conditions().compile()) : List.of();
        List<RecordsOfEither.Way> ways = new ArrayList<>(either.ways().size());
        for (int i = 0; i < either.ways().size(); i++) {
            Supplier<RecordStream> opener = switch (either.ways().get(i)) {
                case Access.Get(var key, var _) -> () -> ofKey(partitions, key);
                case Access.Scan(var range, var _, var _) ->
                    () -> new PartitionedRecords(view, partitions, range);
                case Access.Fetch(var range, var _) -> () -> fetch(partitions, range, rowsWanted);
                case Access.Nothing _ -> NoRecords::new;
                case Access.Entries _,
                        Access.InOrder _,
                        Access.JoinedFetch _,
                        Access.JoinedEntries _,
                        Access.Either _ ->
                    throw new IllegalStateException(either + " has no such way");
            };
            ways.add(new RecordsOfEither.Way(opener, belonging.get(i)));
        }
        return new RecordsOfEither(query.type(), ways, first, options::checkNotStopped);
    }

    /** Of some partitions alone it is not known whether one of them has the key. */
    private RecordStream ofKey(List<Integer> partitions, byte[] key) {
        return partitions.size() == view.partitionCount()
                ? new OneRecord(view, Slice.of(key))
                : new PartitionedRecords(
                        view,
                        partitions,
                        new PrimaryRange(KeyRange.startingWith(key), FilterPredicate.none()));
    }

    /** Of all partitions, whose nearest are not known before. */
    private NearestRecords nearest(IndexRange range) {
        return new NearestRecords(
                view,
                everyPartition(),
                range,
                new NearestRecords.Wanted(
                        query.limit(),
                        Objects.requireNonNull(query.distances()),
                        query.conditions().compile(List.of())),
                options.keyBatchBytes(),
                fetchOptions(!range.index().alwaysValid(), range.filter()),
                new NearestRecords.Meters(
                        meters.read, meters.ofSearch(), meters.distinct, meters.ofLookups()),
                options::checkNotStopped);
    }

    /** Of all partitions, as far as the limit wants them. */
    private NewestRecords newest(IndexRange range) {
        List<String> decided = range.isExact() ? range.narrowed() : List.of();
        List<Integer> partitions = everyPartition();
        return new NewestRecords(
                view,
                partitions,
                range,
                new NewestRecords.Wanted(query.limit(), query.conditions().compile(decided)),
                lookup(partitions, query.limit(), fetchOptions(true, range.filter())),
                new NearestRecords.Meters(
                        meters.read, meters.ofSearch(), meters.distinct, meters.ofLookups()),
                new StopLooks(options::checkNotStopped));
    }

    /** Of all partitions: the keys come in one order. */
    private NewestOfEach newestOfEach(IndexRange range) {
        List<String> decided = range.isExact() ? range.narrowed() : List.of();
        long each = query.order().get(query.ordersBeforeEach()).each();
        List<Integer> partitions = everyPartition();
        return new NewestOfEach(
                view,
                partitions,
                range,
                new NewestRecords.Wanted(each, query.conditions().compile(decided)),
                query.limit(),
                lookup(partitions, each, fetchOptions(true, range.filter())),
                new NearestRecords.Meters(
                        meters.read, meters.ofSearch(), meters.distinct, meters.ofLookups()),
                new StopLooks(options::checkNotStopped));
    }

    /** Of all partitions, as far as the limit wants them: the keys come in one order. */
    private IndexOrderRecords inOrder(IndexRange range, IndexWalk walk) {
        List<Integer> partitions = everyPartition();
        return new IndexOrderRecords(
                view,
                partitions,
                range,
                walk,
                new NewestRecords.Wanted(query.limit(), query.conditions().compile(List.of())),
                range.isExact() && query.conditions().isDecidedBy(range.narrowed()),
                lookup(
                        partitions,
                        query.limit(),
                        fetchOptions(!range.index().alwaysValid(), range.filter())),
                new NearestRecords.Meters(
                        meters.read, meters.ofSearch(), meters.distinct, meters.ofLookups()),
                options::checkNotStopped);
    }

    private FetchedRecords fetch(
            List<Integer> partitions,
            IntFunction<Candidates> opener,
            IndexRange range,
            long countFirst,
            FetchOptions fetchOptions) {
        return new FetchedRecords(
                view,
                partitions,
                opener,
                range,
                lookup(partitions, countFirst, fetchOptions),
                fetchMeters());
    }

    /** Of several ways the searches have no steps of their own. */
    private FetchedRecords.Meters fetchMeters() {
        Intersection.Meters several = meters.joined;
        boolean isOne = choice.chosen() instanceof Access.Fetch;
        return new FetchedRecords.Meters(
                meters.distinct,
                meters.ofLookups(),
                several != null
                        ? BatchTimer.of(options, several.left())
                        : isOne ? BatchTimer.of(options, meters.read) : null,
                isOne ? BatchTimer.of(options, meters.distinct) : null);
    }

    private FetchedRecords.Lookup lookup(
            List<Integer> partitions, long countFirst, FetchOptions fetchOptions) {
        return new FetchedRecords.Lookup(
                options.keyBatchBytes(),
                countFirst,
                fetchOptions,
                options.tasks(),
                lookupWorkers(partitions));
    }

    /** Whether what the way in gives was looked at already. */
    private boolean looksAtRecords() {
        return choice.chosen() instanceof Access.InOrder
                || (choice.chosen() instanceof Access.Fetch fetch && fetch.looksAtRecords());
    }

    /** Where every entry found is a row, no more of them than rows are wanted. */
    private long firstBatchCountMin(IndexRange range) {
        boolean isRow = range.index().alwaysValid()
                && range.filter().isNone()
                && range.isExact()
                && query.conditions().isDecidedBy(range.narrowed());
        return isRow ? 1 : FIRST_BATCH_COUNT_MIN;
    }

    private SelectedRecords selected(WayIn wayIn, TupleMaker maker, boolean readsAll) {
        return new SelectedRecords(
                wayIn,
                query.type(),
                looksAtRecords() ? NONE : query.compile(choice.chosen().decided()),
                maker,
                readsAll,
                meters.selected);
    }

    /**
     * How candidates are looked up; layers that can't matter, by their timestamps, are left out.
     *
     * @param hasTimestamps whether the timestamps of candidates are those of records
     */
    static FetchOptions fetchOptions(boolean hasTimestamps, FilterPredicate filter) {
        FetchOptions chosen = FetchOptions.defaults().withFilter(filter);
        // what an always valid index names is found before any older layer: nothing would be saved
        return hasTimestamps ? chosen.withPruning(Pruning.CHECKED) : chosen;
    }

    /**
     * Workers beside the one that reads these partitions: none where others are read side by side.
     */
    private int lookupWorkers(List<Integer> partitions) {
        return options.tasks() == null || partitions.size() < view.partitionCount()
                ? 0
                : options.lookupWorkers();
    }

    private EntryFields entryFields(IndexRange range) {
        List<String> names = new ArrayList<>(range.index().fields());
        names.addAll(query.source().primaryKey());
        List<TypeKind> kinds = new ArrayList<>();
        List<KeyForm> forms = new ArrayList<>();
        List<@Nullable KeyRange> ranges = new ArrayList<>();
        for (String name : names) {
            int field = query.type().indexOf(name);
            FieldRange condition = query.conditions().range(field);
            kinds.add(query.type().field(field).kind());
            boolean isSecondary = forms.size() < range.index().fields().size();
            forms.add(isSecondary ? range.index().keyForm() : query.source().keyForm());
            ranges.add(condition == null ? null : condition.range());
        }
        List<Integer> group = query.fields().stream()
                .map(field -> names.indexOf(query.type().field(field).name()))
                .toList();
        return new EntryFields(kinds, forms, range.index().fields().size(), ranges, group);
    }
}
