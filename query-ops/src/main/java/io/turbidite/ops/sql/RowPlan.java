package io.turbidite.ops.sql;

import io.turbidite.core.type.RecordType;
import io.turbidite.ops.Relation;
import io.turbidite.ops.expr.Predicate;

import org.apache.calcite.rel.type.RelDataTypeField;
import org.apache.calcite.sql.type.SqlTypeName;
import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * The rows of a statement that changes: planned once, compiled for each moment. <em>Immutable.</em>
 */
record RowPlan(Planned planned) {
    /**
     * The rows at a moment.
     *
     * @param only the records of the dataset that is changed that are looked at; empty: all
     */
    Relation at(MomentViews moment, List<Predicate> only, @Nullable Object[] checked) {
        return planned.relation(named -> moment.at(named, only), checked);
    }

    RecordType type() {
        return planned.rowType();
    }

    int columnCount() {
        return planned.root().fields.size();
    }

    /** The place of a column among the fields of rows. */
    int field(int column) {
        return type().memberOf(RecordType.TOP, type().declared().get(column).name());
    }

    /** Whether a column is always null. */
    boolean isNull(int column) {
        List<RelDataTypeField> fields = planned.root().validatedRowType.getFieldList();
        return fields.get(column).getType().getSqlTypeName() == SqlTypeName.NULL;
    }
}
