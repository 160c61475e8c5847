package io.turbidite.ops.plan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.Place;
import io.turbidite.core.index.TokenKeys;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.scan.FetchOptions;
import io.turbidite.core.scan.FetchOptions.Pruning;
import io.turbidite.core.scan.FetchWork;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.SearchWork;
import io.turbidite.core.scan.TermSearch;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.Column;
import io.turbidite.ops.expr.FieldRange;
import io.turbidite.ops.expr.Projection;
import io.turbidite.ops.expr.RecordPredicate;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.expr.Tuples;
import io.turbidite.ops.fetch.FetchedRecords;
import io.turbidite.ops.fetch.LookupMeter;
import io.turbidite.ops.fetch.NearestRecords;
import io.turbidite.ops.frame.FrameEmitter;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.LayerMeter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.intersect.Intersection;
import io.turbidite.ops.intersect.IntersectionScan;
import io.turbidite.ops.intersect.JoinedCandidates;
import io.turbidite.ops.intersect.JoinedRanges;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.scan.DirectRows;
import io.turbidite.ops.scan.KeyOrder;
import io.turbidite.ops.scan.NoRecords;
import io.turbidite.ops.scan.OneRecord;
import io.turbidite.ops.scan.OrderedRecords;
import io.turbidite.ops.scan.PartitionedRecords;
import io.turbidite.ops.scan.PointRows;
import io.turbidite.ops.scan.RecordSource;
import io.turbidite.ops.scan.SelectedRecords;
import io.turbidite.ops.scan.WayIn;
import io.turbidite.ops.search.CandidateSearch;
import io.turbidite.ops.search.Candidates;
import io.turbidite.ops.search.EntryCells;
import io.turbidite.ops.search.EntryFields;
import io.turbidite.ops.search.EntryTuples;
import io.turbidite.ops.search.IndexOnlyScan;
import io.turbidite.ops.search.IndexRange;
import io.turbidite.ops.search.SearchMeter;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.IntFunction;
import java.util.stream.Collectors;

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
    private final OperatorMeter read = new OperatorMeter();
    private final LayerMeter scanned = new LayerMeter();
    private final @Nullable SearchMeter searches;
    private final OperatorMeter distinct;
    private final OperatorMeter fetched;
    private final @Nullable LookupMeter lookups;

    /** Of several indexes together. */
    private final Intersection.@Nullable Meters joined;

    private final OperatorMeter selected = new OperatorMeter();

    SourceBuilder(CheckedQuery query, ReadView view, RunOptions options, AccessChoice choice) {
        this.query = query;
        this.view = view;
        this.options = options;
        this.choice = choice;
        JoinedRanges join = joinOf(choice.chosen());
        this.joined = join == null ? null : metersOf(join);
        boolean isFetch = choice.chosen() instanceof Access.Fetch
                || choice.chosen() instanceof Access.JoinedFetch;
        this.distinct = isFetch ? new OperatorMeter() : OperatorMeter.NONE;
        this.fetched = isFetch ? new OperatorMeter() : OperatorMeter.NONE;
        this.lookups = isFetch ? new LookupMeter() : null;
        this.searches =
                isFetch || choice.chosen() instanceof Access.Entries ? new SearchMeter() : null;
    }

    private static @Nullable JoinedRanges joinOf(Access access) {
        return switch (access) {
            case Access.JoinedFetch(var ranges) -> ranges;
            case Access.JoinedEntries(var ranges) -> ranges;
            case Access.Nothing _, Access.Get _, Access.Scan _, Access.Fetch _, Access.Entries _ ->
                null;
        };
    }

    private static Intersection.Meters metersOf(JoinedRanges join) {
        return new Intersection.Meters(
                join.ranges().stream().map(_ -> new OperatorMeter()).toList(),
                join.ranges().stream().map(_ -> new SearchMeter()).toList(),
                new OperatorMeter(),
                new OperatorMeter());
    }

    /** Takes over what was counted of a point. */
    void count(PointRows point) {
        read.add(point.foundCount());
        selected.add(point.matchingCount());
    }

    /** Partitions can be read side by side only where each is read as a whole. */
    boolean splits() {
        return switch (choice.chosen()) {
            case Access.Scan scan -> !scan.order().isOrdered();
            case Access.Fetch fetch -> !fetch.isNearest();
            case Access.Entries _, Access.JoinedFetch _, Access.JoinedEntries _ -> true;
            case Access.Get _, Access.Nothing _ -> false;
        };
    }

    /**
     * The way in to all partitions for a reader who takes matching records one by one.
     *
     * @param projection makes the rows; null: they are the records
     */
    DirectRows rows(@Nullable Projection projection, long limit, OperatorMeter limited) {
        TupleMaker maker = projection == null ? Tuples.none() : projection;
        return new DirectRows(
                selected(wayIn(allPartitions(), limit, options.memoryBytesMax()), maker),
                projection == null ? null : new RecordView(query.rowType()),
                limit,
                limited,
                options);
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
            EntryTuples fields = range.index().kind() == IndexDescription.Kind.BTREE
                    ? entryFields(range)
                    : new EntryCells(query.grid());
            return new IndexOnlyScan(
                    view,
                    partitions,
                    range,
                    fields,
                    new FrameEmitter(target, fields.tupleFieldCount(), Long.MAX_VALUE),
                    new IndexOnlyScan.Meters(read, Objects.requireNonNull(searches), selected));
        }
        if (choice.chosen() instanceof Access.JoinedEntries(var ranges)) {
            EntryTuples fields = entryTuples(ranges);
            return new IntersectionScan(
                    view,
                    partitions,
                    partition -> intersection(partition, ranges, memoryBytes)
                            .orElseThrow(() -> IntersectionScan.noMemory(memoryBytes)),
                    ranges.isByTimestamp(),
                    fields,
                    new FrameEmitter(target, fields.tupleFieldCount(), Long.MAX_VALUE),
                    selected);
        }
        return new RecordSource(
                selected(wayIn(partitions, Long.MAX_VALUE, memoryBytes), maker), target);
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
        return Intersection.open(
                view, partition, ranges, options, memoryBytes, Objects.requireNonNull(joined));
    }

    /** Where the memory does not do, the records of the first index decide. */
    private Candidates candidates(int partition, JoinedRanges ranges, long memoryBytes) {
        Optional<Intersection> common = intersection(partition, ranges, memoryBytes);
        if (common.isPresent()) {
            return new JoinedCandidates(common.get());
        }
        Intersection.Meters meters = Objects.requireNonNull(joined);
        return CandidateSearch.open(
                view,
                partition,
                ranges.ranges().getFirst(),
                meters.searched().getFirst(),
                meters.searches().getFirst());
    }

    /**
     * @param rowsWanted about how many rows the reader takes
     * @param memoryBytes most that candidates of several indexes take
     */
    private WayIn wayIn(List<Integer> partitions, long rowsWanted, long memoryBytes) {
        return switch (choice.chosen()) {
            case Access.Nothing _ -> new WayIn(NoRecords::new, read, scanned);
            case Access.Get(var key, var _) ->
                new WayIn(() -> new OneRecord(view, Slice.of(key)), read, scanned);
            case Access.Scan(var range, KeyOrder order, var _) ->
                new WayIn(
                        order.isOrdered()
                                ? () -> new OrderedRecords(view, range, order)
                                : () -> new PartitionedRecords(view, partitions, range),
                        read,
                        scanned);
            case Access.Fetch fetch
            when fetch.isNearest() -> new WayIn(() -> nearest(fetch.range()), fetched, scanned);
            case Access.Fetch(var range) ->
                new WayIn(
                        () -> fetch(
                                partitions,
                                partition -> CandidateSearch.open(
                                        view,
                                        partition,
                                        range,
                                        read,
                                        Objects.requireNonNull(searches)),
                                range,
                                Math.max(firstBatchCountMin(range), rowsWanted),
                                fetchOptions(!range.index().alwaysValid(), range.filter())),
                        fetched,
                        scanned);
            case Access.JoinedFetch(var ranges) ->
                new WayIn(
                        () -> fetch(
                                partitions,
                                partition -> candidates(partition, ranges, memoryBytes),
                                ranges.ranges().getFirst(),
                                Math.max(FIRST_BATCH_COUNT_MIN, rowsWanted),
                                fetchOptions(ranges.isByTimestamp(), ranges.filter())),
                        fetched,
                        scanned);
            case Access.Entries _, Access.JoinedEntries _ ->
                throw new IllegalStateException(choice.chosen() + " gives no records");
        };
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
                        read,
                        Objects.requireNonNull(searches),
                        distinct,
                        Objects.requireNonNull(lookups)));
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
                new FetchedRecords.Lookup(
                        options.keyBatchBytes(),
                        countFirst,
                        fetchOptions,
                        options.tasks(),
                        lookupWorkers(partitions)),
                new FetchedRecords.Meters(distinct, Objects.requireNonNull(lookups)));
    }

    /** Whether what the way in gives was looked at already. */
    private boolean isNearest() {
        return choice.chosen() instanceof Access.Fetch fetch && fetch.isNearest();
    }

    /** Where every entry found is a row, no more of them than rows are wanted. */
    private long firstBatchCountMin(IndexRange range) {
        boolean isRow = range.index().alwaysValid()
                && range.filter().isNone()
                && range.isExact()
                && query.conditions().isDecidedBy(range.narrowed());
        return isRow ? 1 : FIRST_BATCH_COUNT_MIN;
    }

    private SelectedRecords selected(WayIn wayIn, TupleMaker maker) {
        return new SelectedRecords(
                wayIn,
                query.type(),
                isNearest() ? NONE : query.compile(choice.chosen().decided()),
                maker,
                selected);
    }

    /**
     * How candidates are looked up; layers that can't matter, by their timestamps, are left out.
     *
     * @param hasTimestamps whether the timestamps of candidates are those of records
     */
    private static FetchOptions fetchOptions(boolean hasTimestamps, FilterPredicate filter) {
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

    /** The steps of the way in, from the one that hands on matching records down to the storage. */
    List<PlanStep> steps() {
        List<PlanStep> steps = new ArrayList<>();
        String predicates = query.conditions().toString();
        long rows = choice.estimates().resultRows();
        long estimate = choice.estimates().chosenRows();
        if (!query.columns().isEmpty()) {
            String columns =
                    String.join(", ", query.columns().stream().map(Column::name).toList());
            steps.add(new PlanStep("project", columns, rows, selected));
        }
        String select = lookups != null ? "re-check" : "select";
        if (!predicates.isEmpty()) {
            steps.add(new PlanStep(select, predicates, rows, selected));
        }
        switch (choice.chosen()) {
            case Access.Nothing(String reason) ->
                steps.add(new PlanStep("nothing", reason, 0, read));
            case Access.Get _ ->
                steps.add(new PlanStep(
                        "get", String.join(", ", query.source().primaryKey()), 1, read));
            case Access.Scan scan ->
                steps.add(new PlanStep("scan", scanDetail(scan), estimate, read));
            case Access.Fetch(var range) -> {
                steps.add(new PlanStep(
                        "fetch",
                        fetchDetail(!range.index().alwaysValid(), range.filter()),
                        estimate,
                        fetched));
                steps.add(new PlanStep("sort-distinct", "primary keys", estimate, distinct));
                steps.add(new PlanStep("search", searchDetail(range, searches), estimate, read));
            }
            case Access.Entries(var range) ->
                steps.add(new PlanStep("search", searchDetail(range, searches), estimate, read));
            case Access.JoinedFetch(var ranges) -> {
                steps.add(new PlanStep(
                        "fetch",
                        fetchDetail(ranges.isByTimestamp(), ranges.filter()),
                        estimate,
                        fetched));
                addJoin(ranges, estimate, steps);
            }
            case Access.JoinedEntries(var ranges) -> addJoin(ranges, estimate, steps);
        }
        return steps;
    }

    private void addJoin(JoinedRanges join, long estimate, List<PlanStep> steps) {
        Intersection.Meters meters = Objects.requireNonNull(joined);
        steps.add(new PlanStep("intersect", joinDetail(join, meters), estimate, meters.left()));
        for (int i = 0; i < join.ranges().size(); i++) {
            IndexRange range = join.ranges().get(i);
            steps.add(new PlanStep(
                    "search",
                    searchDetail(range, meters.searches().get(i)),
                    join.estimated().get(i),
                    meters.searched().get(i)));
        }
    }

    private static String joinDetail(JoinedRanges join, Intersection.Meters meters) {
        StringBuilder detail = new StringBuilder("primary keys");
        if (join.isByTimestamp()) {
            detail.append(" and versions");
        }
        detail.append(" that all have");
        long sorted = meters.kept().rows();
        if (sorted > 0) {
            detail.append("; %,d entries sorted".formatted(sorted));
        }
        return detail.toString();
    }

    /** What was chosen for the lookups, and once they are done, what they took. */
    private String fetchDetail(boolean hasTimestamps, FilterPredicate filter) {
        FetchOptions chosen = fetchOptions(hasTimestamps, filter);
        StringBuilder detail = new StringBuilder("records, layer by layer for ")
                .append(chosen.batchBytes() >> 10)
                .append(" KiB of keys at a time");
        if (chosen.pruning() != Pruning.NONE) {
            detail.append(", no layers older than the candidate or checked for it");
        }
        if (options.tasks() != null && options.lookupWorkers() > 0 && readsAlone()) {
            detail.append(", up to ").append(options.lookupWorkers()).append(" workers beside");
        }
        FetchWork work = lookups == null ? FetchWork.NONE : lookups.work();
        if (work.keyCount() > 0) {
            detail.append(
                    "; %,d Bloom tests, %,d layers entered, %,d of them with cursors that remember, %,d searches on %,d pages"
                            .formatted(
                                    work.bloomTestCount(),
                                    work.layerVisitCount(),
                                    work.statefulVisitCount(),
                                    work.searchCount(),
                                    work.pageCount()));
        }
        return detail.append(passedOver(filter, lookups == null ? null : lookups.layers()))
                .toString();
    }

    /** Whether one branch reads all partitions. */
    private boolean readsAlone() {
        return view.partitionCount() == 1
                || (query.kind() == CheckedQuery.Kind.ROWS && query.order().isEmpty());
    }

    private String scanDetail(Access.Scan scan) {
        StringBuilder detail = new StringBuilder("primary index, ");
        int partitions = view.partitionCount();
        detail.append(partitions).append(partitions == 1 ? " partition" : " partitions");
        if (!scan.range().keys().isAll()) {
            detail.append(", a range of ")
                    .append(String.join(", ", query.source().primaryKey()));
        }
        if (!scan.range().filter().isNone()) {
            detail.append(passedOver(scan.range().filter(), scanned.work()));
        }
        String suffix = scan.order().suffix();
        return suffix.isEmpty() ? detail.toString() : detail + ", merged" + suffix;
    }

    private String searchDetail(IndexRange range, @Nullable SearchMeter searches) {
        return indexDetail(range, searches)
                + passedOver(range.filter(), searches == null ? null : searches.layers());
    }

    private static String indexDetail(IndexRange range, @Nullable SearchMeter searches) {
        IndexDescription index = range.index();
        String detail = "%s (%s) on %s"
                .formatted(index.name(), index.kind().label(), String.join(", ", index.fields()));
        return switch (range.search()) {
            case KeyRange keys
            when index.kind() == IndexDescription.Kind.INVERTED ->
                "%s, tokens that begin with %s".formatted(detail, beginning(keys));
            case KeyRange _ -> detail;
            case IndexSearch.Window(var _, Rectangle window) ->
                "%s in the window %s,%s,%s,%s%s"
                        .formatted(
                                detail,
                                window.minX(),
                                window.minY(),
                                window.maxX(),
                                window.maxY(),
                                spatialWork(searches));
            case IndexSearch.SphericWindow(List<Rectangle> parts) ->
                "%s in the window%s %s%s"
                        .formatted(
                                detail,
                                parts.size() == 1 ? "" : "s",
                                parts.stream()
                                        .map(part -> "%s,%s,%s,%s"
                                                .formatted(
                                                        part.minX(),
                                                        part.minY(),
                                                        part.maxX(),
                                                        part.maxY()))
                                        .collect(Collectors.joining(" and ")),
                                spatialWork(searches));
            case IndexSearch.Around(var _, Circle circle) ->
                "%s within %s of %s,%s%s"
                        .formatted(
                                detail,
                                circle.radius(),
                                circle.x(),
                                circle.y(),
                                spatialWork(searches));
            case IndexSearch.Nearest(var _, Place place) ->
                "%s, nearest to %s,%s%s"
                        .formatted(detail, place.x(), place.y(), spatialWork(searches));
            case TermSearch terms ->
                "%s, %s %s".formatted(detail, termsWanted(terms), String.join(", ", terms.terms()));
        };
    }

    private static String beginning(KeyRange keys) {
        Slice low = keys.low();
        return low == null ? "" : TokenKeys.decodeBeginning(low);
    }

    private static String termsWanted(TermSearch search) {
        int count = search.terms().size();
        if (count == 1) {
            return "the token";
        }
        return search.least() == count
                ? "all of the tokens"
                : search.least() == 1
                        ? "any of the tokens"
                        : "at least %,d of the %,d tokens".formatted(search.least(), count);
    }

    private static String spatialWork(@Nullable SearchMeter searches) {
        SearchWork work = searches == null ? SearchWork.NONE : searches.work();
        return work.equals(SearchWork.NONE)
                ? ""
                : "; %,d components, %,d of them outside, %,d pages, %,d groups, %,d entries looked at"
                        .formatted(
                                work.componentCount(),
                                work.outsideCount(),
                                work.pageCount(),
                                work.groupCount(),
                                work.entryCount());
    }

    /**
     * What a filter does, and once that is known, how many layers it ruled out, by which field.
     *
     * @param work null if nothing was read
     */
    private String passedOver(FilterPredicate filter, @Nullable LayerWork work) {
        if (filter.isNone()) {
            return "";
        }
        List<String> fields = query.source().filterFields();
        List<String> used = new ArrayList<>();
        List<String> counts = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            int field = i;
            if (!filter.ranges().get(i).isAll()
                    || filter.windows().stream().anyMatch(window -> window.field() == field)) {
                used.add(fields.get(i));
            }
            if (work != null && i < work.ruledOut().size() && work.ruledOut().get(i) > 0) {
                counts.add("%,d by %s".formatted(work.ruledOut().get(i), fields.get(i)));
            }
        }
        String detail = ", components by filter on " + String.join(", ", used);
        if (work == null || work.layerCount() == 0) {
            return detail;
        }
        return detail
                + "; %,d of %,d layers passed over%s"
                        .formatted(
                                work.ruledOutCount(),
                                work.layerCount(),
                                counts.isEmpty() ? "" : " (" + String.join(", ", counts) + ")");
    }

    String names(List<Integer> fields) {
        return String.join(
                ", ",
                fields.stream().map(field -> query.type().field(field).name()).toList());
    }
}
