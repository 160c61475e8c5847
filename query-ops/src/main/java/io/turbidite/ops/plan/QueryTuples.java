package io.turbidite.ops.plan;

import io.turbidite.core.key.KeySpec;
import io.turbidite.core.scan.Source;
import io.turbidite.core.text.TextQuery;
import io.turbidite.ops.expr.Distances;
import io.turbidite.ops.expr.FieldKey;
import io.turbidite.ops.expr.NewestFirst;
import io.turbidite.ops.expr.NullsAbove;
import io.turbidite.ops.expr.OrderKey;
import io.turbidite.ops.expr.Projection;
import io.turbidite.ops.expr.StreamKey;
import io.turbidite.ops.expr.TokenCountKey;
import io.turbidite.ops.expr.TupleMaker;
import io.turbidite.ops.expr.Tuples;
import io.turbidite.ops.group.GroupRows;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * What is made of a query's records for its sort and its groups, and of the groups for its reader:
 * each call makes a maker for one branch. <em>Confined to one thread.</em>
 */
final class QueryTuples {
    private final CheckedQuery query;

    QueryTuples(CheckedQuery query) {
        this.query = query;
    }

    /** Rows behind what they are ordered by. */
    TupleMaker ordered() {
        Distances distances = query.distances();
        if (distances != null) {
            return Tuples.ordered(List.of(distances), last(), rows());
        }
        List<OrderKey> keys = query.order().stream().map(this::orderKey).toList();
        int before = query.ordersBeforeEach();
        return before < 0
                ? Tuples.ordered(keys, last(), rows())
                : Tuples.orderedOfEach(keys, last(), before, rows());
    }

    /**
     * What equal rows are ordered by: the primary key, from the record, so that the stream need not
     * stand on it. Rows of plans have none, and the stream numbers them.
     */
    private @Nullable OrderKey last() {
        Source source = query.source();
        if (source.primaryKey().isEmpty()) {
            return StreamKey.KEY;
        }
        KeySpec key =
                KeySpec.of(query.type(), source.primaryKey(), "primary key", source.keyForm());
        // where one value has two keys, records that are equal in all of its fields are two
        return !key.isAmbiguous() && orderedBy().containsAll(key.fields()) ? null : key::append;
    }

    /** The fields by whose values the rows are ordered. */
    private List<String> orderedBy() {
        return query.order().stream()
                .filter(by -> !by.isNewest() && by.tokens() == null)
                .map(CheckedQuery.Order::name)
                .toList();
    }

    private TupleMaker rows() {
        Projection projection = query.newProjection();
        return projection == null ? Tuples.wholeRecord() : projection;
    }

    private OrderKey orderKey(CheckedQuery.Order by) {
        if (by.isNewest()) {
            return NewestFirst.KEY;
        }
        TextQuery tokens = by.tokens();
        if (tokens != null) {
            return new TokenCountKey(by.index(), tokens, by.descending());
        }
        return by.nullsAbove()
                ? new NullsAbove(
                        by.index(), new FieldKey(query.type(), by.index(), false), by.descending())
                : new FieldKey(query.type(), by.index(), by.descending());
    }

    /** Group keys, and what aggregates need. */
    TupleMaker grouped() {
        TupleMaker keys = query.grid() == null
                ? query.newGroupKeys()
                : Tuples.cell(query.cellField(), query.grid());
        return query.aggregates().isEmpty() ? keys : query.aggregates().maker(keys);
    }

    /** The rows of groups. */
    GroupRows groupRows() {
        return query.grid() == null
                ? GroupRows.ofFields(query.groupFields(), query.groupParts(), query.aggregates())
                : GroupRows.ofCells(query.grid(), query.groupParts(), query.aggregates());
    }
}
