package io.turbidite.lsm.check;

import io.turbidite.core.bytes.ByteSink;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.geo.SpatialKind;
import io.turbidite.core.key.KeySpec;
import io.turbidite.core.record.RecordView;
import io.turbidite.lsm.btree.TreeCursor;
import io.turbidite.lsm.component.ComponentFilter;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.schema.DatasetSchema;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * Whether the filter of a primary's component is as wide as its records' values: what is outside
 * would be passed over. <em>Confined to one thread.</em>
 */
final class FilterCheck {
    private final List<KeySpec> fields;
    private final @Nullable SpatialKind[] kinds;
    private final RecordView record;
    private final ByteSink sink = new ByteSink(64, 1 << 20);
    private final Slice encoded = new Slice();

    FilterCheck(DatasetSchema schema) {
        this.fields = schema.filter();
        this.kinds = ComponentFilter.kinds(fields);
        this.record = new RecordView(schema.type());
    }

    /** What is wrong; null if nothing is. */
    @Nullable
    String check(DiskComponent component) {
        if (fields.isEmpty()) {
            return null;
        }
        try (TreeCursor cursor = component.cursor()) {
            while (cursor.next()) {
                String wrong = cursor.isAntimatter() ? null : check(component, cursor.value());
                if (wrong != null) {
                    return wrong;
                }
            }
        }
        return null;
    }

    private @Nullable String check(DiskComponent component, Slice value) {
        record.wrap(value);
        for (int i = 0; i < fields.size(); i++) {
            KeySpec field = fields.get(i);
            boolean isAbsent = field.hasNullOrMissing(record);
            if (!isAbsent) {
                sink.clear();
                field.append(record, sink);
                sink.asSlice(encoded);
            }
            if (!component.filter().holds(i, kinds[i], isAbsent ? null : encoded)) {
                return "%s: the filter on %s does not hold a record's value, so searches pass over the component"
                        .formatted(component.name(), field.fields().getFirst());
            }
        }
        return null;
    }
}
