package io.turbidite.ops.plan;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Limits;
import io.turbidite.core.NearestName;
import io.turbidite.core.StorageException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.key.KeyCodec;
import io.turbidite.core.key.KeyForm;
import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.scan.IndexSearch;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.Rectangle;
import io.turbidite.core.type.TypeKind;
import io.turbidite.ops.expr.FieldRange;
import io.turbidite.ops.scan.PrimaryRange;
import io.turbidite.ops.search.IndexRange;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/**
 * The ways in to the answer of a query, and the rule that picks one: the cheapest, by these steps.
 *
 * <ol>
 *   <li>Predicates that leave no value of some field, or a limit of 0: nothing is read.
 *   <li>Equalities on all of the primary key: a get.
 *   <li>Else, by cost:
 *       <ul>
 *         <li>with fetch, each R-tree whose field has a window, each inverted index whose field is
 *             asked for its tokens, and each B+-tree whose first field (or first few) has an
 *             equality or range;
 *         <li>with fetch, several of these together ({@link JoinChoice}); without, where their
 *             entries say all;
 *         <li>without fetch, whatever it has predicates on, an index whose entries hold all fields
 *             that a count needs and are always valid;
 *         <li>the primary scan, narrowed by predicates on the first primary key fields and by the
 *             filter.
 *       </ul>
 * </ol>
 *
 * <p>Costs are in records read by a scan ({@link AccessCost}). Where rows are wanted up to a limit
 * and in no order, only the part that fills it counts.
 *
 * <p>Where there is one way in alone nothing is estimated until somebody asks what it was thought
 * to cost: an estimate goes down the trees of every component, which costs more than a short query.
 * <em>Confined to one thread.</em>
 */
final class AccessChoice {
    private static final byte[] NOTHING = {};

    /** How probable it is that a limit is not reached. */
    private static final double LIMIT_RISK = 0.05;

    /** What a source tells that was closed, dropped or failed since. */
    static final long UNKNOWN_ROWS = -1;

    /**
     * A way in and its cost.
     *
     * @param rows records or entries that it is expected to read; {@link #UNKNOWN_ROWS}
     */
    record Costed(Access access, long rows, double cost) {}

    /**
     * What was estimated. <em>Immutable.</em>
     *
     * @param chosenRows records or entries that the chosen way in is expected to read
     * @param resultRows matching records, as far as can be told
     * @param choices all ways in with their costs, cheapest first
     */
    record Estimates(long chosenRows, long resultRows, List<Costed> choices) {}

    private final CheckedQuery query;
    private final Access chosen;
    private @Nullable Estimates estimates;

    private AccessChoice(CheckedQuery query, Access chosen, @Nullable Estimates estimates) {
        this.query = query;
        this.chosen = chosen;
        this.estimates = estimates;
    }

    /**
     * Chooses.
     *
     * @param wanted see {@link QueryRequest#access}
     * @param maySpill whether what does not fit the memory has somewhere to go
     */
    static AccessChoice of(
            CheckedQuery query, ReadView view, @Nullable String wanted, boolean maySpill) {
        if (query.conditions().contradictory()) {
            return only(query, new Access.Nothing("the predicates leave no value"));
        }
        if (query.conditions().hasDisjointWindows()) {
            return only(query, new Access.Nothing("the windows have no place in common"));
        }
        if (query.limit() == 0) {
            return only(query, new Access.Nothing("no row is wanted"));
        }
        byte[] whole = wanted == null ? wholeKey(query) : null;
        if (whole != null) {
            return gets(query, whole);
        }
        Narrowed key = narrow(query, query.source().primaryKey(), query.source().keyForm());
        return cheapest(query, view, wanted, key, maySpill);
    }

    /** The way in. */
    Access chosen() {
        return chosen;
    }

    /** What the ways in were thought to cost; where that did not matter, as it is now. */
    Estimates estimates() {
        Estimates known = estimates;
        if (known == null) {
            known = switch (chosen) {
                case Access.Nothing _ -> exactly(0);
                case Access.Get _ -> exactly(1);
                case Access.Scan scan -> ofScan(query, scan, rowsNow(scan));
                case Access.Fetch _,
                        Access.Entries _,
                        Access.JoinedFetch _,
                        Access.JoinedEntries _ ->
                    throw new IllegalStateException(chosen + " was chosen without estimates");
            };
            estimates = known;
        }
        return known;
    }

    private Estimates exactly(long rows) {
        return new Estimates(rows, rows, List.of(new Costed(chosen, rows, rows)));
    }

    /**
     * Records that the only way in, a scan, would visit now: the query's own moment may be over.
     */
    private long rowsNow(Access.Scan scan) {
        try (ReadView now = query.source().openView()) {
            return now.estimateScan(scan.range().keys(), scan.range().filter());
        } catch (StorageException e) {
            return UNKNOWN_ROWS; // closed, dropped or failed since: the answer is there, its
            // estimate is not
        }
    }

    /** The primary key, if equalities leave one value of each of its fields; else null. */
    private static byte @Nullable [] wholeKey(CheckedQuery query) {
        List<String> fields = query.source().primaryKey();
        byte[] key = null;
        for (int i = 0; i < fields.size(); i++) {
            FieldRange range = query.conditions().range(query.type().indexOf(fields.get(i)));
            byte[] single =
                    range == null ? null : range.in(query.source().keyForm()).single();
            if (single == null) {
                return null;
            }
            key = key == null ? single : join(key, single);
        }
        return key;
    }

    private static AccessChoice gets(CheckedQuery query, byte[] whole) {
        if (whole.length == 0 || whole.length > Limits.KEY_BYTES_MAX) {
            return only(query, new Access.Nothing("no primary key is so long"));
        }
        return only(query, new Access.Get(whole, query.source().primaryKey()));
    }

    /** A way in that nothing is set against. */
    private static AccessChoice only(CheckedQuery query, Access access) {
        return new AccessChoice(query, access, null);
    }

    private static AccessChoice cheapest(
            CheckedQuery query,
            ReadView view,
            @Nullable String wanted,
            Narrowed key,
            boolean maySpill) {
        FilterPredicate filter = filter(query);
        Access.Scan scan = new Access.Scan(
                new PrimaryRange(key.range(), filter), query.primaryKeyOrder(), key.decided());
        List<Access> others = new ArrayList<>(2);
        List<IndexDescription> indexes = view.indexes();
        for (IndexDescription index : indexes) {
            if (index.kind() == IndexDescription.Kind.RTREE) {
                window(query, index, filter).ifPresent(others::add);
                around(query, index, filter).ifPresent(others::add);
                nearest(query, index, filter).ifPresent(others::add);
            }
            if (index.kind() == IndexDescription.Kind.INVERTED) {
                addTerms(query, index, filter, others);
            }
            if (index.kind() == IndexDescription.Kind.BTREE && index.multiValued()) {
                addElements(query, index, filter, others);
                continue;
            }
            if (index.kind() != IndexDescription.Kind.BTREE) {
                continue;
            }
            boolean entriesDo = entriesSuffice(query, index);
            Narrowed narrowed = narrow(query, index.fields(), index.keyForm());
            if (entriesDo || narrowed.fieldCount() > 0) {
                IndexRange range = new IndexRange(
                        index, narrowed.range(), filter, narrowed.narrowed(), narrowed.isExact());
                others.add(entriesDo ? new Access.Entries(range) : new Access.Fetch(range));
            }
        }
        if (others.isEmpty() && (wanted == null || wanted.equals(QueryRequest.SCAN))) {
            return only(query, scan);
        }
        return choose(query, view, wanted, scan, others, indexes, maySpill);
    }

    /**
     * The ways in by a B+-tree on the elements of an array. It has no entry for a record without
     * elements, so it answers only where a predicate wants one. Each predicate is a search of its
     * own: another element may meet the next one.
     */
    private static void addElements(
            CheckedQuery query, IndexDescription index, FilterPredicate filter, List<Access> to) {
        RecordType type = query.type();
        int each = index.fields().stream()
                .mapToInt(type::indexOf)
                .filter(type::isEach)
                .findFirst()
                .orElseThrow();
        List<FieldRange> ranges = query.conditions().rangesOf(each);
        if (ranges.isEmpty() && groupsBy(query, each) && fieldsAreIn(query, index)) {
            Narrowed narrowed = narrow(query, index.fields(), index.keyForm(), null);
            to.add(new Access.Entries(new IndexRange(
                    index, narrowed.range(), filter, narrowed.narrowed(), narrowed.isExact())));
        }
        for (FieldRange range : ranges) {
            Narrowed narrowed = narrow(query, index.fields(), index.keyForm(), range);
            if (narrowed.fieldCount() == 0) {
                continue;
            }
            // of two elements in a range a record has two entries, and is counted once
            boolean once = ranges.size() == 1 && range.single() != null;
            boolean counts = query.kind() == CheckedQuery.Kind.COUNT
                    || (query.kind() == CheckedQuery.Kind.GROUPS && !groupsBy(query, each));
            boolean entriesDo = counts && once && fieldsAreIn(query, index);
            IndexRange search = new IndexRange(
                    index, narrowed.range(), filter, narrowed.narrowed(), narrowed.isExact());
            Access access = entriesDo ? new Access.Entries(search) : new Access.Fetch(search);
            if (!to.contains(access)) {
                to.add(access);
            }
        }
    }

    /** Whether the rows are groups with a part for each element of an array. */
    private static boolean groupsBy(CheckedQuery query, int each) {
        return query.kind() == CheckedQuery.Kind.GROUPS && query.fields().contains(each);
    }

    /** The way in by an R-tree, if there is a window on its field. */
    private static Optional<Access> window(
            CheckedQuery query, IndexDescription index, FilterPredicate filter) {
        String field = index.fields().getFirst();
        if (isOnSphere(query, field)) {
            return sphericWindow(query, index, filter);
        }
        SpatialKind spatial = spatialKind(query, field);
        // a rectangle may meet two windows and not what they have in common
        Rectangle bounds = spatial == SpatialKind.POINT
                ? query.conditions().window(field)
                : query.conditions().anyWindow(field);
        if (bounds == null) {
            return Optional.empty();
        }
        IndexSearch search = new IndexSearch.Window(spatial, bounds);
        IndexRange range = new IndexRange(index, search, filter, List.of(), true);
        boolean isWhole =
                spatial == SpatialKind.POINT || query.conditions().predicates().size() == 1;
        boolean entriesDo =
                countsEntries(query, field) && isWhole && query.conditions().onlyWindows(field);
        return Optional.of(entriesDo ? new Access.Entries(range) : new Access.Fetch(range));
    }

    /** The way in by an R-tree of longitudes and latitudes, if there is a window on them. */
    private static Optional<Access> sphericWindow(
            CheckedQuery query, IndexDescription index, FilterPredicate filter) {
        String field = index.fields().getFirst();
        List<List<Rectangle>> windows = query.conditions().sphericWindows(field);
        if (windows.isEmpty()) {
            return Optional.empty();
        }
        IndexSearch search = new IndexSearch.SphericWindow(windows.getFirst());
        IndexRange range = new IndexRange(index, search, filter, List.of(), true);
        boolean entriesDo = countsEntries(query, field) && isOnlyPredicate(query);
        return Optional.of(entriesDo ? new Access.Entries(range) : new Access.Fetch(range));
    }

    private static boolean isOnSphere(CheckedQuery query, String field) {
        return query.type().field(query.type().indexOf(field)).kind() == TypeKind.LONLAT;
    }

    private static boolean isOnlyPredicate(CheckedQuery query) {
        return query.conditions().predicates().size() == 1 && query.conditions().testCount() == 0;
    }

    /** The way in by an R-tree, if there is a circle on its field. */
    private static Optional<Access> around(
            CheckedQuery query, IndexDescription index, FilterPredicate filter) {
        String field = index.fields().getFirst();
        List<Circle> circles = query.conditions().circles(field);
        if (circles.isEmpty()) {
            return Optional.empty();
        }
        IndexSearch search = new IndexSearch.Around(spatialKind(query, field), circles.getFirst());
        IndexRange range = new IndexRange(index, search, filter, List.of(), true);
        return Optional.of(
                isOnlyPredicate(query) && countsEntries(query, field)
                        ? new Access.Entries(range)
                        : new Access.Fetch(range));
    }

    /** The way in by an R-tree, if the nearest of its values are wanted. */
    private static Optional<Access> nearest(
            CheckedQuery query, IndexDescription index, FilterPredicate filter) {
        CheckedQuery.Near near = query.near();
        String field = index.fields().getFirst();
        if (near == null || !near.name().equals(field)) {
            return Optional.empty();
        }
        IndexSearch search = new IndexSearch.Nearest(spatialKind(query, field), near.place());
        return Optional.of(
                new Access.Fetch(new IndexRange(index, search, filter, List.of(), true)));
    }

    private static SpatialKind spatialKind(CheckedQuery query, String field) {
        TypeKind kind = query.type().field(query.type().indexOf(field)).kind();
        return kind.isPoint() ? SpatialKind.POINT : SpatialKind.RECTANGLE;
    }

    /** Whether rows are counts that an R-tree's entries have all that is needed for. */
    private static boolean countsEntries(CheckedQuery query, String field) {
        return query.kind() == CheckedQuery.Kind.COUNT
                || (query.kind() == CheckedQuery.Kind.CELLS
                        && query.type().field(query.cellField()).name().equals(field));
    }

    /** An inverted index answers what is asked of its tokens. */
    private static void addTerms(
            CheckedQuery query, IndexDescription index, FilterPredicate filter, List<Access> to) {
        for (IndexSearch search : TextChoice.searches(query.conditions(), index)) {
            IndexRange range = new IndexRange(index, search, filter, index.fields(), false);
            boolean entriesDo = query.kind() == CheckedQuery.Kind.COUNT
                    && TextChoice.saysAll(range, query.conditions());
            to.add(entriesDo ? new Access.Entries(range) : new Access.Fetch(range));
        }
    }

    private static AccessChoice choose(
            CheckedQuery query,
            ReadView view,
            @Nullable String wanted,
            Access.Scan scan,
            List<Access> others,
            List<IndexDescription> indexes,
            boolean maySpill) {
        FilterPredicate filter = scan.range().filter();
        long scanRows = view.estimateScan(scan.range().keys(), filter);
        ResultRows result = ResultRows.ofScan(query, scanRows);
        long[] rows = new long[others.size()];
        List<JoinChoice.Counted> joinable = new ArrayList<>(rows.length);
        for (int i = 0; i < rows.length; i++) {
            IndexRange range = range(others.get(i));
            rows[i] = view.estimateSearch(range.index().name(), range.search(), filter);
            Set<String> used = Set.copyOf(range.narrowed());
            result = result.better(ResultRows.of(query, rows[i], used, List.of(range)));
            if (JoinChoice.isJoinable(range)) {
                joinable.add(new JoinChoice.Counted(range, rows[i]));
            }
        }
        List<JoinChoice.Joined> joins = List.of();
        if (joinable.size() > 1) {
            long all = scan.range().keys().isAll()
                    ? scanRows
                    : view.estimateScan(KeyRange.all(), filter);
            JoinChoice join = new JoinChoice(query, joinable, all, maySpill);
            joins = join.joins(wanted);
            for (JoinChoice.Joined joined : joins) {
                result = result.better(ResultRows.of(
                        query, joined.rows(), joined.narrowed(), joined.ranges().ranges()));
            }
        }
        boolean hasHidden = others.stream().anyMatch(AccessChoice::isEntriesOfValid)
                && hidesLayers(view, filter);
        List<Costed> costed = new ArrayList<>();
        costed.add(costed(query, scan, scanRows, result.rows(), scanRows, hasHidden));
        for (int i = 0; i < rows.length; i++) {
            costed.add(costed(query, others.get(i), rows[i], result.rows(), scanRows, hasHidden));
        }
        for (JoinChoice.Joined joined : joins) {
            costed.add(new Costed(
                    joined.access(),
                    joined.rows(),
                    joined.cost(part(query, joined.access(), result.rows()))));
        }
        costed.sort(Comparator.comparingDouble(Costed::cost));
        Costed chosen = wanted == null ? costed.getFirst() : find(query, wanted, costed, indexes);
        return new AccessChoice(
                query,
                chosen.access(),
                new Estimates(chosen.rows(), result.rows(), List.copyOf(costed)));
    }

    private static boolean isEntriesOfValid(Access access) {
        return access instanceof Access.Entries(var range) && range.index().alwaysValid();
    }

    /** Whether the filter passes over some layer, with what it would say of those below. */
    private static boolean hidesLayers(ReadView view, FilterPredicate filter) {
        return !filter.isNone()
                && view.estimateScan(KeyRange.all(), filter)
                        < view.estimateScan(KeyRange.all(), FilterPredicate.none());
    }

    private static IndexRange range(Access access) {
        return switch (access) {
            case Access.Fetch(IndexRange range) -> range;
            case Access.Entries(IndexRange range) -> range;
            case Access.Scan _,
                    Access.Get _,
                    Access.Nothing _,
                    Access.JoinedFetch _,
                    Access.JoinedEntries _ ->
                throw new IllegalStateException(access + " is no search of one index");
        };
    }

    /** Of a scan that nothing else was set against. */
    private static Estimates ofScan(CheckedQuery query, Access scan, long scanRows) {
        long resultRows = scanRows == UNKNOWN_ROWS
                ? UNKNOWN_ROWS
                : ResultRows.ofScan(query, scanRows).rows();
        return new Estimates(
                scanRows,
                resultRows,
                List.of(costed(
                        query,
                        scan,
                        Math.max(0, scanRows),
                        Math.max(0, resultRows),
                        scanRows,
                        false)));
    }

    /**
     * @param of records that a scan would read
     * @param hasHidden whether the filter passes over layers
     */
    private static Costed costed(
            CheckedQuery query,
            Access access,
            long rows,
            long resultRows,
            long of,
            boolean hasHidden) {
        boolean isNearest = access instanceof Access.Fetch fetch && fetch.isNearest();
        // of all entries, which are what was counted, those that are expected to do
        long read = isNearest
                ? Math.min(
                        rows,
                        Math.max(query.limit(), Math.round(rows * part(query, access, resultRows))))
                : rows;
        return new Costed(access, read, cost(query, access, rows, resultRows, of, hasHidden));
    }

    private static double cost(
            CheckedQuery query,
            Access access,
            long rows,
            long resultRows,
            long of,
            boolean hasHidden) {
        double ofRows = switch (access) {
            case Access.Fetch(var range) ->
                AccessCost.entries(range, (double) rows)
                        + AccessCost.fetches((double) rows, (double) of);
            case Access.Entries(var range) ->
                AccessCost.entries(range, (double) rows)
                        + validations(range, (double) rows, (double) of, hasHidden);
            case Access.Scan _,
                    Access.Get _,
                    Access.Nothing _,
                    Access.JoinedFetch _,
                    Access.JoinedEntries _ -> rows;
        };
        return AccessCost.OPEN + ofRows * part(query, access, resultRows);
    }

    /** Entries of an always valid index are doubtful behind layers that the filter passes over. */
    private static double validations(IndexRange range, double rows, double of, boolean hasHidden) {
        return range.index().alwaysValid()
                ? hasHidden ? AccessCost.fetches(rows, of) : 0
                : AccessCost.validations(rows);
    }

    /**
     * How much of the rows is read before there are enough. Where some are read in vain there may
     * be fewer in the end than are wanted, or they may come last: that risk counts, or a scan would
     * look cheap by a limit that it never reaches.
     */
    private static double part(CheckedQuery query, Access access, long resultRows) {
        boolean isNearest = access instanceof Access.Fetch fetch && fetch.isNearest();
        boolean inOrder = isNearest
                || (query.order().isEmpty() && query.near() == null)
                || (access instanceof Access.Scan scan && scan.order().isOrdered());
        boolean stopsEarly = query.kind() == CheckedQuery.Kind.ROWS && query.hasLimit() && inOrder;
        if (!stopsEarly) {
            return 1;
        }
        double part = Math.min(1, (double) query.limit() / Math.max(1, resultRows));
        return isNearest || isRowEach(query, access) ? part : part + LIMIT_RISK * (1 - part);
    }

    /** Whether each record or entry that is read is a row. */
    private static boolean isRowEach(CheckedQuery query, Access access) {
        return switch (access) {
            case Access.Fetch(var range) ->
                range.index().alwaysValid()
                        && range.isExact()
                        && query.conditions().isDecidedBy(range.narrowed());
            case Access.Scan scan -> query.conditions().isDecidedBy(scan.decided());
            case Access.Get _, Access.Nothing _ -> true;
            case Access.Entries _, Access.JoinedFetch _, Access.JoinedEntries _ -> false;
        };
    }

    private static Costed find(
            CheckedQuery query,
            String wanted,
            List<Costed> costed,
            List<IndexDescription> indexes) {
        for (Costed way : costed) {
            boolean found = switch (way.access()) {
                case Access.Scan _ -> wanted.equals(QueryRequest.SCAN);
                case Access.Fetch(var range) -> wanted.equals(range.index().name());
                case Access.Entries(var range) -> wanted.equals(range.index().name());
                case Access.JoinedFetch(var ranges) -> JoinChoice.isNamed(ranges, wanted);
                case Access.JoinedEntries(var ranges) -> JoinChoice.isNamed(ranges, wanted);
                case Access.Get _, Access.Nothing _ -> false;
            };
            if (found) {
                return way;
            }
        }
        List<String> names = indexes.stream().map(IndexDescription::name).toList();
        for (String name : wanted.split(QueryRequest.AND, -1)) {
            if (!names.contains(name)) {
                throw new InvalidRequestException("there is no index '%s' on %s; there are %s%s"
                        .formatted(
                                name, query.source().name(), names, NearestName.hint(name, names)));
            }
        }
        throw new InvalidRequestException(
                wanted.contains(QueryRequest.AND)
                        ? "one of the indexes %s has no equality or range on its first field in this query, and no window, distance, word or other token"
                                .formatted(wanted)
                        : "index '%s' has no equality or range on its first field in this query, and no window, distance, word or other token"
                                .formatted(wanted));
    }

    /**
     * What equalities and ranges leave of a composite key.
     *
     * @param prefix the values of the first fields, where equalities leave one each
     * @param last what a range leaves of the field behind them; null: anything
     * @param narrowed the fields that took part, the first ones
     * @param isExact whether what is left of the key has no other values of these fields
     * @param whole whether all fields have one value each
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared as a whole
    private record Narrowed(
            byte[] prefix,
            @Nullable KeyRange last,
            List<String> narrowed,
            boolean isExact,
            boolean whole) {
        int fieldCount() {
            return narrowed.size();
        }

        List<String> decided() {
            return isExact ? narrowed : List.of();
        }

        KeyRange range() {
            if (last != null) {
                return prefix.length == 0 ? last : behind(prefix, last);
            }
            return prefix.length == 0 ? KeyRange.all() : KeyRange.startingWith(prefix);
        }
    }

    private static Narrowed narrow(CheckedQuery query, List<String> fields, KeyForm form) {
        return narrow(query, fields, form, null);
    }

    /**
     * @param element of the elements of an array what is searched; null if none of the fields is
     *     one, or anything
     */
    private static Narrowed narrow(
            CheckedQuery query, List<String> fields, KeyForm form, @Nullable FieldRange element) {
        byte[] prefix = NOTHING;
        boolean isExact = true;
        for (int i = 0; i < fields.size(); i++) {
            int field = query.type().indexOf(fields.get(i));
            FieldRange wanted =
                    query.type().isEach(field) ? element : query.conditions().range(field);
            if (wanted == null) {
                return new Narrowed(prefix, null, fields.subList(0, i), isExact, false);
            }
            isExact &= !form.isAmbiguous(query.type().field(field).kind());
            FieldRange range = wanted.in(form);
            byte[] single = range.single();
            if (single == null) {
                return new Narrowed(
                        prefix, range.range(), fields.subList(0, i + 1), isExact, false);
            }
            prefix = i == 0 ? single : join(prefix, single);
        }
        return new Narrowed(prefix, null, fields, isExact, true);
    }

    /** The range of a last field, behind the values of those before it. */
    private static KeyRange behind(byte[] prefix, KeyRange range) {
        Slice low = range.low();
        Slice high = range.high();
        return KeyRange.of(
                low == null ? prefix : join(prefix, low.toByteArray()),
                high == null ? KeyRange.successor(prefix) : join(prefix, high.toByteArray()));
    }

    private static byte[] join(byte[] first, byte[] second) {
        byte[] joined = Arrays.copyOf(first, first.length + second.length);
        System.arraycopy(second, 0, joined, first.length, second.length);
        return joined;
    }

    /** What the query knows of the filter fields. */
    private static FilterPredicate filter(CheckedQuery query) {
        List<String> fields = query.source().filterFields();
        if (fields.isEmpty() || query.conditions().predicates().isEmpty()) {
            return FilterPredicate.none();
        }
        List<KeyRange> ranges = new ArrayList<>();
        List<FilterPredicate.Window> windows = new ArrayList<>();
        for (int i = 0; i < fields.size(); i++) {
            int field = query.type().indexOf(fields.get(i));
            FieldRange range = query.conditions().range(field);
            ranges.add(
                    range == null
                            ? KeyRange.all()
                            : range.in(query.source().keyForm()).range());
            TypeKind kind = query.type().field(field).kind();
            if (kind.isSpatial()) {
                addWindows(query, i, field, windows);
            }
        }
        FilterPredicate filter = new FilterPredicate(ranges, windows);
        return filter.isNone() ? FilterPredicate.none() : filter;
    }

    /** What windows, and an equality with a point, say of a filter field. */
    private static void addWindows(
            CheckedQuery query, int filterField, int field, List<FilterPredicate.Window> to) {
        String name = query.type().field(field).name();
        SpatialKind spatial = spatialKind(query, name);
        for (Circle circle : query.conditions().circles(name)) {
            // all of them must be met, as each window must
            if (circle.windows().size() == 1) {
                to.add(new FilterPredicate.Window(
                        filterField, spatial, circle.windows().getFirst()));
            }
        }
        if (query.type().field(field).kind() == TypeKind.RECTANGLE) {
            for (Rectangle window : query.conditions().windows(name)) {
                to.add(new FilterPredicate.Window(filterField, SpatialKind.RECTANGLE, window));
            }
            return;
        }
        if (isOnSphere(query, name)) {
            for (List<Rectangle> parts : query.conditions().sphericWindows(name)) {
                if (parts.size() == 1) {
                    to.add(new FilterPredicate.Window(filterField, spatial, parts.getFirst()));
                }
            }
        }
        Rectangle common = isOnSphere(query, name) ? null : query.conditions().window(name);
        if (common != null) {
            to.add(new FilterPredicate.Window(filterField, SpatialKind.POINT, common));
        }
        FieldRange range = query.conditions().range(field);
        byte[] single = range == null || range.absent() ? null : range.single();
        if (single != null) {
            double x = KeyCodec.coordinate(Slice.of(single), 0);
            double y = KeyCodec.coordinate(Slice.of(single), 1);
            to.add(new FilterPredicate.Window(
                    filterField, SpatialKind.POINT, new Rectangle(x, y, x, y)));
        }
    }

    /** Whether entries of the index can answer the query without the records. */
    private static boolean entriesSuffice(CheckedQuery query, IndexDescription index) {
        boolean counts =
                query.kind() == CheckedQuery.Kind.COUNT || query.kind() == CheckedQuery.Kind.GROUPS;
        return counts && !index.multiValued() && fieldsAreIn(query, index);
    }

    /** Whether entries have all fields that counts and their predicates, all ranges, need. */
    private static boolean fieldsAreIn(CheckedQuery query, IndexDescription index) {
        if (!query.conditions().onlyRanges()) {
            return false;
        }
        for (int field : query.fieldsNeeded()) {
            String name = query.type().field(field).name();
            if (!index.fields().contains(name) && !query.source().primaryKey().contains(name)) {
                return false;
            }
        }
        return true;
    }
}
