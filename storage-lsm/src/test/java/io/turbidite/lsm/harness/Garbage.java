package io.turbidite.lsm.harness;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.core.scan.ReadView;
import io.turbidite.core.scan.ValidSearch;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Inside;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;
import io.turbidite.lsm.schema.IndexSchema;

import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

/** What lies in the components of an index, and what it answers; for tests of strategies. */
public final class Garbage {
    private Garbage() {}

    public static IndexDescription describe(Store store, Dataset dataset, String index) {
        return store.describe().datasets().stream()
                .filter(there -> there.name().equals(dataset.name()))
                .flatMap(there -> there.partitions().stream())
                .flatMap(partition -> partition.indexes().stream())
                .filter(there -> there.name().equals(index))
                .findFirst()
                .orElseThrow();
    }

    /** Entries on disk, obsolete ones and anti-matter too. */
    public static long entries(Store store, Dataset dataset, String index) {
        return describe(store, dataset, index).components().stream()
                .mapToLong(ComponentDescription::entries)
                .sum();
    }

    /**
     * Valid entries as an index-only search shows them: by primary key the secondary key's first
     * field.
     */
    public static Map<Long, Object> valid(Dataset dataset, ReadView view, String index) {
        IndexSchema schema =
                Objects.requireNonNull(Inside.schema(dataset).catalog().find(index));
        TreeMap<Long, Object> found = new TreeMap<>();
        for (int p = 0; p < view.partitionCount(); p++) {
            try (ValidSearch entries = ValidSearch.open(
                    view, p, schema.describe(), KeyRange.all(), FilterPredicate.none())) {
                while (entries.next()) {
                    Long id = (Long) Objects.requireNonNull(dataset.primaryKeySpec()
                            .decode(entries.primaryKey(), 0)
                            .getFirst());
                    found.put(
                            id,
                            String.valueOf(schema.fieldKey()
                                    .decode(entries.secondaryKey(), 0)
                                    .getFirst()));
                }
            }
        }
        return found;
    }

    public static Map<Long, Object> valid(Dataset dataset, String index) {
        try (ReadView view = dataset.openView()) {
            return valid(dataset, view, index);
        }
    }
}
