package io.turbidite.ops.sql;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.schema.impl.AbstractTable;

/** A dataset as the validator sees it. <em>Immutable.</em> */
final class DatasetTable extends AbstractTable {
    private final SourceAndView readable;

    DatasetTable(SourceAndView readable) {
        this.readable = readable;
    }

    SourceAndView readable() {
        return readable;
    }

    @Override
    public RelDataType getRowType(RelDataTypeFactory typeFactory) {
        return Types.row(
                typeFactory, readable.source().type(), readable.source().primaryKey());
    }
}
