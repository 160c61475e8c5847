package io.turbidite.lsm.version;

import io.turbidite.core.key.KeySpec;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.merge.MergePolicySpec;
import io.turbidite.lsm.schema.BitmapHandover;
import io.turbidite.lsm.schema.DatasetOptions;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexCatalog;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;

import java.util.List;

/** A dataset of a key alone: what versions are of is not what their tests are about. */
final class SmallestSchema {
    private static final RecordType TYPE =
            RecordType.builder().field("id", "int64").build();

    static final DatasetSchema SCHEMA = new DatasetSchema(
            1,
            1,
            "T",
            TYPE,
            KeySpec.of(TYPE, List.of("id"), "primary key"),
            List.of(),
            IndexCatalog.of("T", List.of(), 1),
            1,
            new DatasetOptions(
                    Maintenance.EAGER,
                    MergePolicySpec.parse("no-merge"),
                    ComponentOptions.primary(),
                    null,
                    MergeRepair.MERGE,
                    BitmapHandover.SIDE_FILE));

    private SmallestSchema() {}
}
