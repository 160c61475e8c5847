package io.turbidite.ops.search;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.Box;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.ops.expr.CellGrid;

import org.jspecify.annotations.Nullable;

/**
 * Reads the entries of an R-tree or an inverted index, all of which match: tuples without fields,
 * to be counted, or the cells that points are in. <em>Confined to one thread.</em>
 */
public final class EntryCells implements EntryTuples {
    private static final Slice[] COUNTED = {};

    private final @Nullable CellGrid grid;
    private final Box point = new Box();
    private final ByteSink sink = new ByteSink(16, 16);
    private final Slice[] tuple = {new Slice()};

    /**
     * @param grid null to count alone
     */
    public EntryCells(@Nullable CellGrid grid) {
        this.grid = grid;
    }

    @Override
    public int tupleFieldCount() {
        return grid == null ? 0 : 1;
    }

    @Override
    public Slice[] tuple(Slice secondaryKey, Slice primaryKey) {
        if (grid == null) {
            return COUNTED;
        }
        SpatialKind.POINT.decode(secondaryKey, 0, point);
        grid.append(point.minX(), point.minY(), sink.clear());
        sink.asSlice(tuple[0]);
        return tuple;
    }
}
