package io.turbidite.ops.plan;

import io.turbidite.ops.expr.CellGrid;

import java.util.Objects;

/** What a group step is about, for people. Stateless. */
final class GroupText {
    private GroupText() {}

    /** Of groups, cells or aggregates. */
    static String of(CheckedQuery query) {
        String groups = query.grid() != null ? cells(query) : query.groupNames();
        if (query.aggregates().isEmpty()) {
            return "count by " + groups;
        }
        return groups.isEmpty()
                ? query.aggregates().toString()
                : "%s by %s".formatted(query.aggregates(), groups);
    }

    private static String cells(CheckedQuery query) {
        CellGrid grid = Objects.requireNonNull(query.grid());
        return "cells of %s by %s from %s,%s over %s"
                .formatted(
                        grid.dx(),
                        grid.dy(),
                        grid.originX(),
                        grid.originY(),
                        query.type().field(query.cellField()).name());
    }
}
