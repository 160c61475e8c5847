package io.turbidite.lsm.engine;

import io.turbidite.core.scan.FilterPredicate;
import io.turbidite.core.scan.KeyRange;
import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.read.PartitionReads;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.RegionLayer;

/**
 * What regions have of records that retention has dropped. Nobody looks after it: nothing newer
 * tells a region that an entry is obsolete, and readers pass over it. Stateless.
 */
final class RegionGarbage {
    /** A region with so many entries for each record is built anew rather than given up. */
    private static final int ENTRIES_A_RECORD = 2;

    private RegionGarbage() {}

    /** Whether building the region of an index anew leaves half of its entries out, or more. */
    static boolean fills(OpenDataset dataset, Partition partition, IndexSchema index) {
        RegionLayer region = partition.version().region(index.tree());
        if (region == null || dataset.schema().retention() == null) {
            return false;
        }
        long records = PartitionReads.estimate(
                partition, TreeId.PRIMARY, KeyRange.all(), FilterPredicate.none());
        return region.handle().region().entryCount() >= ENTRIES_A_RECORD * records;
    }
}
