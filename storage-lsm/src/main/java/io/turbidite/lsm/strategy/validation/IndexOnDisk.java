package io.turbidite.lsm.strategy.validation;

import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.Version;

import java.util.List;

/**
 * What is on disk of an index and its primary, all partitions together. <em>Confined to one
 * thread.</em>
 */
final class IndexOnDisk {
    long entries;

    /** Entries of the index that are known to be invalid too, and the versions that they are of. */
    private long indexMatter;

    private long indexVersions;
    long primaryEntries;
    long versions;

    /** Versions whose successor is in another component. */
    long unmet;

    long uncheckedBytes;
    long keyBytes;

    IndexOnDisk(List<Partition> partitions, TreeId index, long horizon) {
        for (Partition partition : partitions) {
            Version pinned = partition.pinUnlessDropped();
            if (pinned != null) {
                try {
                    partition.garbage().refresh(pinned);
                    add(partition, pinned, index, horizon);
                } finally {
                    pinned.unpin();
                }
            }
        }
    }

    private void add(Partition partition, Version pinned, TreeId index, long horizon) {
        if (!pinned.hasTree(index)) {
            return;
        }
        List<ComponentHandle> primary = pinned.tree(TreeId.PRIMARY);
        for (ComponentHandle handle : primary) {
            long keys = handle.component().space().keyPages();
            keyBytes += keys > 0 ? keys : handle.component().space().recordPages();
            primaryEntries += handle.component().entryCount();
            versions += matter(handle);
        }
        unmet += partition.garbage().entries(pinned);
        for (ComponentHandle handle : pinned.tree(index)) {
            entries += matter(handle) - handle.state().invalidEntries().count();
            indexMatter += matter(handle);
            indexVersions += handle.component().versionCount();
        }
        long newest = primary.isEmpty() ? 0 : primary.getFirst().state().maxTimestamp();
        for (ComponentHandle handle :
                RepairWork.unchecked(pinned, index, Math.min(horizon, newest))) {
            uncheckedBytes += handle.state().bytes();
        }
    }

    /** Entries without a record: those beyond what the records there are have. */
    long obsolete() {
        long records = Math.max(0, versions - unmet);
        long current = indexVersions == 0
                ? records
                : Math.round((double) records * indexMatter / indexVersions);
        return Math.max(0, entries - current);
    }

    private static long matter(ComponentHandle handle) {
        return handle.component().matterCount();
    }
}
