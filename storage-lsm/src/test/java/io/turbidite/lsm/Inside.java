package io.turbidite.lsm;

import io.turbidite.lsm.background.BackgroundWork;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.write.Write;

import java.util.List;

/** What tests look at behind the API, which shows none of it. Static, without state. */
public final class Inside {
    private Inside() {}

    public static StoreCore core(Store store) {
        return store.core();
    }

    public static BackgroundWork background(Store store) {
        return store.background();
    }

    public static long watermark(Store store) {
        return store.watermark();
    }

    /** Whether nothing is left of what writers and readers take. */
    public static boolean holdsNothing(Store store) {
        return store.holdsNothing();
    }

    public static OpenDataset opened(Dataset dataset) {
        return dataset.opened();
    }

    public static DatasetSchema schema(Dataset dataset) {
        return dataset.schema();
    }

    public static List<Partition> partitions(Dataset dataset) {
        return dataset.partitions();
    }

    /** The one of a key with this hash. */
    public static Partition partition(Dataset dataset, long keyHash) {
        return dataset.partition(keyHash);
    }

    public static Store store(Dataset dataset) {
        return dataset.store();
    }

    /** A batch that writes what is handed in. */
    public static WriteBatch batch(Store store, Write write) {
        return new WriteBatch(store, write);
    }

    public static Write write(WriteBatch batch) {
        return batch.write();
    }
}
