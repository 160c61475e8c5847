package io.turbidite.ops.plan;

import io.turbidite.core.scan.IndexSearch;
import io.turbidite.ops.expr.Alternatives;
import io.turbidite.ops.intersect.JoinedRanges;
import io.turbidite.ops.scan.KeyOrder;
import io.turbidite.ops.scan.PrimaryRange;
import io.turbidite.ops.search.IndexRange;
import io.turbidite.ops.search.IndexWalk;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** A way in: how a query gets at the records or entries that it needs. <em>Immutable.</em> */
sealed interface Access {
    /**
     * Fields of which the way in gives what all equalities and ranges leave, and nothing else:
     * these need no look at the records.
     */
    default List<String> decided() {
        return List.of();
    }

    /** The way in, in a few words. */
    String describe();

    /** No row can come out, so nothing is read. */
    record Nothing(String reason) implements Access {
        @Override
        public String describe() {
            return "nothing: " + reason;
        }
    }

    /**
     * The record with one primary key.
     *
     * @param key encoded
     * @param decided the key's fields
     */
    @SuppressWarnings("ArrayRecordComponent") // one of two equal ones is as good as the other
    record Get(byte[] key, List<String> decided) implements Access {
        @Override
        public String describe() {
            return "get by primary key";
        }
    }

    /**
     * A scan of the primary index.
     *
     * @param order across partitions
     * @param decided the first fields of the key, those that the range is made of
     */
    record Scan(PrimaryRange range, KeyOrder order, List<String> decided) implements Access {
        @Override
        public String describe() {
            return (range.keys().isAll() ? "primary scan" : "primary range scan")
                    + (range.filter().isNone() ? "" : " with filter")
                    + order.suffix();
        }
    }

    /**
     * A search of an index and the records that it leads to.
     *
     * @param ofEach whether it gives the newest few records of each key, and no more than it must
     */
    record Fetch(IndexRange range, boolean ofEach) implements Access {
        Fetch(IndexRange range) {
            this(range, false);
        }

        @Override
        public String describe() {
            String order = isNearest()
                    ? ", nearest first"
                    : isNewest() ? ", newest first" : ofEach ? ", newest of each" : "";
            return "index %s%s, then fetch".formatted(range.index().name(), order);
        }

        /** Whether it gives records from the nearest to a place on, and no more than it must. */
        boolean isNearest() {
            return range.search() instanceof IndexSearch.Nearest;
        }

        /** Whether it gives records from the newest on, and no more than it must. */
        boolean isNewest() {
            return range.search() instanceof IndexSearch.Newest;
        }

        /** Whether it looks at the records itself, to stop when there are enough. */
        boolean looksAtRecords() {
            return isNearest() || isNewest() || ofEach;
        }
    }

    /** The entries of an index in key order as far as they are wanted, and their records. */
    record InOrder(IndexRange range, IndexWalk walk) implements Access {
        @Override
        public String describe() {
            KeyOrder order = walk.descending() ? KeyOrder.DESCENDING : KeyOrder.ASCENDING;
            return "index %s%s, then fetch".formatted(range.index().name(), order.suffix());
        }
    }

    /** What searches of several indexes have in common, and the records that it leads to. */
    record JoinedFetch(JoinedRanges ranges) implements Access {
        @Override
        public String describe() {
            return "indexes %s, then fetch".formatted(ranges.names(" and "));
        }
    }

    /**
     * Each term of a condition with {@code or} by its own way, one after the other.
     *
     * @param ways for each term a get, a scan of a range, a search of an index, or nothing
     */
    record Either(Alternatives terms, List<Access> ways) implements Access {
        /** The name that a search of the primary index has among those of indexes. */
        static final String PRIMARY = "primary";

        @Override
        public String describe() {
            return String.format(Locale.ROOT, "each of %,d terms by %s", ways.size(), name());
        }

        /** The indexes in the order of their first use. */
        String name() {
            return ways.stream()
                    .filter(way -> !(way instanceof Nothing))
                    .map(Either::name)
                    .distinct()
                    .collect(Collectors.joining(QueryRequest.OR));
        }

        /** What a way goes by. */
        static String name(Access way) {
            return way instanceof Fetch fetch ? fetch.range().index().name() : PRIMARY;
        }
    }

    /** What entries of several indexes have in common, validated by timestamps if need be. */
    record JoinedEntries(JoinedRanges ranges) implements Access {
        @Override
        public String describe() {
            return "indexes %s only%s"
                    .formatted(
                            ranges.names(" and "),
                            ranges.isByTimestamp() ? ", validated by timestamp" : "");
        }
    }

    /** The entries of an index alone, validated by their timestamps if they may be obsolete. */
    record Entries(IndexRange range) implements Access {
        @Override
        public String describe() {
            return range.index().alwaysValid()
                    ? "index %s only".formatted(range.index().name())
                    : "index %s only, validated by timestamp"
                            .formatted(range.index().name());
        }
    }
}
