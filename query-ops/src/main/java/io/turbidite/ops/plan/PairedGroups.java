package io.turbidite.ops.plan;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.aggregate.BoundAggregates;
import io.turbidite.ops.aggregate.PairTuples;
import io.turbidite.ops.aggregate.PairTuples.Origin;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.TupleWriter;
import io.turbidite.ops.join.PairField;
import io.turbidite.ops.join.PairSource;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * Groups of the rows of an inner join, where all that is grouped by and aggregated are fields as
 * they are: they are taken from both rows of a pair where these lie. Static, without state.
 */
final class PairedGroups {
    private PairedGroups() {}

    /**
     * Gives the pairs of a join to a collector of groups; null where rows must be made.
     *
     * @param query without conditions on the rows
     */
    static @Nullable FrameSource source(CheckedQuery query, JoinPlan join, TupleWriter collector) {
        JoinPlan.Pairs pairs = query.cellField() >= 0 ? null : join.pairs();
        if (pairs == null) {
            return null;
        }
        List<Origin> keys = new ArrayList<>();
        for (GroupField group : query.groups()) {
            if (group.expression() != null
                    || !add(group.field(), query.type(), pairs.fields(), keys)) {
                return null;
            }
        }
        List<Origin> arguments = new ArrayList<>();
        for (BoundAggregates.Argument argument : query.aggregates().arguments()) {
            if (argument.expression() != null
                    || !add(argument.field(), query.type(), pairs.fields(), arguments)) {
                return null;
            }
        }
        PairTuples maker = query.aggregates().isEmpty()
                ? PairTuples.ofKeys(pairs.left(), pairs.right(), keys)
                : PairTuples.of(pairs.left(), pairs.right(), keys, query.aggregates(), arguments);
        return new PairSource(pairs.opener(), maker, collector, pairs.timer());
    }

    /** Whether it is known where a field comes from: what lies in another one is not. */
    private static boolean add(
            int field, RecordType type, List<PairField> fields, List<Origin> origins) {
        if (type.isEach(field) || type.parent(field) != RecordType.TOP) {
            return false;
        }
        for (PairField one : fields) {
            if (one.target() == field) {
                origins.add(new Origin(one.isOfLeft(), one.field()));
                return true;
            }
        }
        return false;
    }
}
