package io.turbidite.ops.plan;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Circle;
import io.turbidite.core.geo.Place;
import io.turbidite.core.index.TokenKeys;
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
import io.turbidite.ops.expr.Column;
import io.turbidite.ops.fetch.LookupMeter;
import io.turbidite.ops.intersect.Intersection;
import io.turbidite.ops.intersect.JoinedRanges;
import io.turbidite.ops.run.RunOptions;
import io.turbidite.ops.scan.KeyOrder;
import io.turbidite.ops.search.IndexRange;
import io.turbidite.ops.search.SearchMeter;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The steps of a way in, for people: what each is about, and once it is done, what it took.
 * <em>Confined to one thread.</em>
 */
final class WayInSteps {
    private final CheckedQuery query;
    private final ReadView view;
    private final RunOptions options;
    private final AccessChoice choice;
    private final WayInMeters meters;

    WayInSteps(
            CheckedQuery query,
            ReadView view,
            RunOptions options,
            AccessChoice choice,
            WayInMeters meters) {
        this.query = query;
        this.view = view;
        this.options = options;
        this.choice = choice;
        this.meters = meters;
    }

    /** The steps of the way in, from the one that hands on matching records down to the storage. */
    List<PlanStep> all() {
        List<PlanStep> steps = new ArrayList<>();
        String predicates = query.conditions().toString();
        long rows = choice.estimates().resultRows();
        long estimate = choice.estimates().chosenRows();
        if (!query.columns().isEmpty()) {
            String columns =
                    String.join(", ", query.columns().stream().map(Column::name).toList());
            steps.add(new PlanStep("project", columns, rows, meters.selected));
        }
        String select = meters.lookups != null ? "re-check" : "select";
        if (!predicates.isEmpty()) {
            steps.add(new PlanStep(select, predicates, rows, meters.selected));
        }
        switch (choice.chosen()) {
            case Access.Nothing(String reason) ->
                steps.add(new PlanStep("nothing", reason, 0, meters.read));
            case Access.Get _ ->
                steps.add(new PlanStep(
                        "get", String.join(", ", query.source().primaryKey()), 1, meters.read));
            case Access.Scan scan -> {
                if (view instanceof PlannedRows input) {
                    steps.addAll(PlanStep.below(input.plan().steps()));
                } else {
                    steps.add(new PlanStep("scan", scanDetail(scan), estimate, meters.read)
                            .over(meters.scanned.work()));
                }
            }
            case Access.Fetch(var range, var _) -> addFetch(range, "", estimate, steps);
            case Access.InOrder(var range, var walk) -> {
                KeyOrder order = walk.descending() ? KeyOrder.DESCENDING : KeyOrder.ASCENDING;
                addFetch(range, order.suffix(), estimate, steps);
            }
            case Access.Entries(var range) ->
                steps.add(new PlanStep(
                                "search",
                                searchDetail(range, meters.searches),
                                estimate,
                                meters.read)
                        .over(searched(meters.searches)));
            case Access.JoinedFetch(var ranges) -> {
                steps.add(new PlanStep(
                                "fetch",
                                fetchDetail(ranges.isByTimestamp(), ranges.filter()),
                                estimate,
                                meters.fetched)
                        .over(fetched()));
                addJoin(ranges, estimate, steps);
            }
            case Access.JoinedEntries(var ranges) -> addJoin(ranges, estimate, steps);
            case Access.Either either ->
                steps.add(new PlanStep("either", eitherDetail(either), estimate, meters.fetched)
                        .over(fetched()));
        }
        return steps;
    }

    private void addFetch(IndexRange range, String order, long estimate, List<PlanStep> steps) {
        steps.add(new PlanStep(
                        "fetch",
                        fetchDetail(!range.index().alwaysValid(), range.filter()),
                        estimate,
                        meters.fetched)
                .over(fetched()));
        steps.add(new PlanStep("sort-distinct", "primary keys", estimate, meters.distinct));
        steps.add(new PlanStep(
                        "search",
                        searchDetail(range, meters.searches) + order,
                        estimate,
                        meters.read)
                .over(searched(meters.searches)));
    }

    private void addJoin(JoinedRanges join, long estimate, List<PlanStep> steps) {
        Intersection.Meters joined = meters.ofJoin();
        steps.add(new PlanStep("intersect", joinDetail(join, joined), estimate, joined.left()));
        for (int i = 0; i < join.ranges().size(); i++) {
            IndexRange range = join.ranges().get(i);
            steps.add(new PlanStep(
                            "search",
                            searchDetail(range, joined.searches().get(i)),
                            join.estimated().get(i),
                            joined.searched().get(i))
                    .over(searched(joined.searches().get(i))));
        }
    }

    /** What lookups took; their pages are told apart from their layers. */
    private LayerWork fetched() {
        LookupMeter lookups = meters.lookups;
        return lookups == null
                ? LayerWork.NONE
                : lookups.layers().plus(new LayerWork(0, lookups.work().pageCount(), List.of()));
    }

    /** What a search took: of a tree of boxes its own counts have the pages. */
    private static LayerWork searched(@Nullable SearchMeter searches) {
        return searches == null
                ? LayerWork.NONE
                : searches.layers().plus(new LayerWork(0, searches.work().pageCount(), List.of()));
    }

    private static String joinDetail(JoinedRanges join, Intersection.Meters joined) {
        StringBuilder detail = new StringBuilder("primary keys");
        if (join.isByTimestamp()) {
            detail.append(" and versions");
        }
        detail.append(" that all have");
        long sorted = joined.kept().rows();
        if (sorted > 0) {
            detail.append("; ").append(counted(sorted, "entry", "entries")).append(" sorted");
        }
        return detail.toString();
    }

    private static String eitherDetail(Access.Either either) {
        Map<String, Integer> counts = new LinkedHashMap<>();
        for (Access way : either.ways()) {
            if (!(way instanceof Access.Nothing)) {
                counts.merge(Access.Either.name(way), 1, Integer::sum);
            }
        }
        List<String> parts = new ArrayList<>();
        counts.forEach((name, count) -> parts.add(
                name.equals(Access.Either.PRIMARY)
                        ? counted(count, "range", "ranges") + " of the primary key"
                        : counted(count, "search", "searches") + " of " + name + ", then fetch"));
        return "records that belong to one of the terms: " + String.join("; ", parts);
    }

    /** What was chosen for the lookups, and once they are done, what they took. */
    private String fetchDetail(boolean hasTimestamps, FilterPredicate filter) {
        FetchOptions chosen = SourceBuilder.fetchOptions(hasTimestamps, filter);
        StringBuilder detail = new StringBuilder("records, layer by layer for ")
                .append(chosen.batchBytes() >> 10)
                .append(" KiB of keys at a time");
        if (chosen.pruning() != Pruning.NONE) {
            detail.append(", no layers older than the candidate or checked for it");
        }
        if (options.tasks() != null && options.lookupWorkers() > 0 && readsAlone()) {
            detail.append(", up to ")
                    .append(counted(options.lookupWorkers(), "worker", "workers"))
                    .append(" beside");
        }
        LookupMeter lookups = meters.lookups;
        FetchWork work = lookups == null ? FetchWork.NONE : lookups.work();
        if (work.keyCount() > 0) {
            detail.append("; ")
                    .append(counted(work.bloomTestCount(), "Bloom test", "Bloom tests"))
                    .append(", ")
                    .append(counted(work.layerVisitCount(), "layer", "layers"))
                    .append(String.format(
                            Locale.ROOT,
                            " entered, %,d of them with cursors that remember, ",
                            work.statefulVisitCount()))
                    .append(counted(work.searchCount(), "search", "searches"))
                    .append(" on ")
                    .append(counted(work.pageCount(), "page", "pages"));
            if (work.missCount() > 0) {
                detail.append(String.format(Locale.ROOT, ", %,d of them read", work.missCount()));
            }
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
        detail.append(counted(partitions, "partition", "partitions"));
        if (!scan.range().keys().isAll()) {
            detail.append(", a range of ")
                    .append(String.join(", ", query.source().primaryKey()));
        }
        if (!scan.range().filter().isNone()) {
            detail.append(passedOver(scan.range().filter(), meters.scanned.work()));
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
            case IndexSearch.Newest _ ->
                "%s, newest first%s".formatted(detail, regionWork(searches));
            case TermSearch terms ->
                "%s, %s %s%s"
                        .formatted(
                                detail,
                                termsWanted(terms),
                                String.join(", ", terms.terms()),
                                tokenWork(searches));
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
                        : String.format(
                                Locale.ROOT,
                                "at least %,d of the %,d tokens",
                                search.least(),
                                count);
    }

    /** How many components lack a token, for each of the tokens. */
    private static String tokenWork(@Nullable SearchMeter searches) {
        SearchWork work = searches == null ? SearchWork.NONE : searches.work();
        return work.outsideCount() == 0
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; %,d of %s passed over, without the token",
                        work.outsideCount(),
                        counted(work.componentCount(), "component", "components"));
    }

    private static String regionWork(@Nullable SearchMeter searches) {
        SearchWork work = searches == null ? SearchWork.NONE : searches.work();
        return work.equals(SearchWork.NONE)
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; %s, %s, %,d of them stale, %s of 256 bytes",
                        counted(work.groupCount(), "group", "groups"),
                        counted(work.entryCount(), "entry", "entries"),
                        work.staleCount(),
                        counted(work.blockCount(), "block", "blocks"));
    }

    private static String spatialWork(@Nullable SearchMeter searches) {
        SearchWork work = searches == null ? SearchWork.NONE : searches.work();
        return work.equals(SearchWork.NONE)
                ? ""
                : String.format(
                        Locale.ROOT,
                        "; %s, %,d of them outside, %s, %s, %s looked at",
                        counted(work.componentCount(), "component", "components"),
                        work.outsideCount(),
                        counted(work.pageCount(), "page", "pages"),
                        counted(work.groupCount(), "group", "groups"),
                        counted(work.entryCount(), "entry", "entries"));
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
                counts.add(String.format(
                        Locale.ROOT, "%,d by %s", work.ruledOut().get(i), fields.get(i)));
            }
        }
        String detail = ", components by filter on " + String.join(", ", used);
        if (work == null || work.layerCount() == 0) {
            return detail;
        }
        return detail
                + String.format(
                        Locale.ROOT,
                        "; %,d of %,d layers passed over%s",
                        work.ruledOutCount(),
                        work.layerCount(),
                        counts.isEmpty() ? "" : " (" + String.join(", ", counts) + ")");
    }

    private static String counted(long count, String one, String many) {
        return String.format(Locale.ROOT, "%,d %s", count, count == 1 ? one : many);
    }
}
