package io.turbidite.ops.sql;

import org.apache.calcite.rel.type.RelDataType;
import org.apache.calcite.rel.type.RelDataTypeFactory;
import org.apache.calcite.schema.impl.AbstractTable;
import org.apache.calcite.sql.type.SqlTypeName;

import java.util.List;

/** A dataset as the validator sees it. <em>Immutable.</em> */
final class DatasetTable extends AbstractTable {
    private final SourceAndView readable;

    /** The fields that a statement asks for and nobody declares: columns behind the others. */
    private final List<OpenFields.Path> open;

    DatasetTable(SourceAndView readable, List<OpenFields.Path> open) {
        this.readable = readable;
        this.open = List.copyOf(open);
    }

    SourceAndView readable() {
        return readable;
    }

    List<OpenFields.Path> open() {
        return open;
    }

    @Override
    public RelDataType getRowType(RelDataTypeFactory typeFactory) {
        RelDataType declared = Types.row(
                typeFactory, readable.source().type(), readable.source().primaryKey());
        if (open.isEmpty()) {
            return declared;
        }
        RelDataTypeFactory.Builder row = typeFactory.builder();
        row.addAll(declared.getFieldList());
        for (OpenFields.Path path : open) {
            row.add(
                    path.column(),
                    typeFactory.createTypeWithNullability(
                            typeFactory.createSqlType(SqlTypeName.ANY), true));
        }
        return row.build();
    }
}
