package io.turbidite.ops.plan;

import io.turbidite.ops.fetch.LookupMeter;
import io.turbidite.ops.frame.LayerMeter;
import io.turbidite.ops.frame.OperatorMeter;
import io.turbidite.ops.intersect.Intersection;
import io.turbidite.ops.intersect.JoinedRanges;
import io.turbidite.ops.search.SearchMeter;

import org.jspecify.annotations.Nullable;

import java.util.Objects;

/** What the operators of a way in count. <em>Thread-safe</em>, as the meters are. */
final class WayInMeters {
    final OperatorMeter read = new OperatorMeter();
    final LayerMeter scanned = new LayerMeter();
    final OperatorMeter selected = new OperatorMeter();
    final OperatorMeter distinct;
    final OperatorMeter fetched;

    /** Of records that are fetched, else null. */
    final @Nullable LookupMeter lookups;

    /** Of one index, else null. */
    final @Nullable SearchMeter searches;

    /** Of several indexes together, else null. */
    final Intersection.@Nullable Meters joined;

    WayInMeters(Access access) {
        boolean isFetch = access instanceof Access.Fetch
                || access instanceof Access.InOrder
                || access instanceof Access.JoinedFetch
                || access instanceof Access.Either;
        this.distinct = isFetch ? new OperatorMeter() : OperatorMeter.NONE;
        this.fetched = isFetch ? new OperatorMeter() : OperatorMeter.NONE;
        this.lookups = isFetch ? new LookupMeter() : null;
        this.searches = isFetch || access instanceof Access.Entries ? new SearchMeter() : null;
        this.joined = switch (access) {
            case Access.JoinedFetch(var ranges) -> metersOf(ranges);
            case Access.JoinedEntries(var ranges) -> metersOf(ranges);
            case Access.Nothing _,
                    Access.Get _,
                    Access.Scan _,
                    Access.Fetch _,
                    Access.InOrder _,
                    Access.Entries _,
                    Access.Either _ -> null;
        };
    }

    private static Intersection.Meters metersOf(JoinedRanges join) {
        return new Intersection.Meters(
                join.ranges().stream().map(_ -> new OperatorMeter()).toList(),
                join.ranges().stream().map(_ -> new SearchMeter()).toList(),
                new OperatorMeter(),
                new OperatorMeter());
    }

    /**
     * That of the step whose time is that of the way in: what is selected and projected is so where
     * records lie.
     */
    OperatorMeter lowest(Access access) {
        return switch (access) {
            case Access.Fetch _, Access.InOrder _, Access.JoinedFetch _, Access.Either _ -> fetched;
            case Access.Nothing _,
                    Access.Get _,
                    Access.Scan _,
                    Access.Entries _,
                    Access.JoinedEntries _ -> read;
        };
    }

    /** Of one index that is searched. */
    SearchMeter ofSearch() {
        return Objects.requireNonNull(searches, "no index is searched");
    }

    /** Of records that are fetched. */
    LookupMeter ofLookups() {
        return Objects.requireNonNull(lookups, "nothing is fetched");
    }

    /** Of several indexes together. */
    Intersection.Meters ofJoin() {
        return Objects.requireNonNull(joined, "nothing is joined");
    }
}
