package io.turbidite.lsm.engine;

import io.turbidite.lsm.dataset.OpenDataset;
import io.turbidite.lsm.indexbuild.RegionBuild;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.RegionState;
import io.turbidite.lsm.version.ManifestState.TreeState;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/** What a change of a schema makes of the manifest. Stateless. */
final class SchemaEdits {
    private SchemaEdits() {}

    /** What was flushed while the regions were built goes into them now. */
    static ManifestState withRegions(
            ManifestState state, DatasetSchema ready, List<RegionBuild> regions) {
        ManifestState changed = state;
        for (RegionBuild region : regions) {
            int number = region.partition().number();
            PartitionState before = changed.partition(ready.id(), number);
            // those that an index had before it was built anew have no index any more; those of a
            // disabled one say that it is to be built
            List<RegionState> others = before.regions().stream()
                    .filter(other -> ready.catalog().all().stream()
                            .anyMatch(index -> index.tree().equals(other.tree())))
                    .toList();
            changed = changed.withPartition(
                    ready.id(), number, before.withRegions(others).with(region.catchUp()));
        }
        return changed;
    }

    /** Under the manifest's lock, so that the versions' disk components stay what they are. */
    static ManifestState withTrees(
            ManifestState state, OpenDataset dataset, DatasetSchema ready, IndexSchema index) {
        DatasetState before = Objects.requireNonNull(state.find(ready.id()));
        List<PartitionState> partitions = new ArrayList<>();
        for (Partition partition : dataset.partitions()) {
            PartitionState after = before.partitions().get(partition.number());
            for (TreeId tree : index.treeIds()) {
                List<ComponentState> components = partition.components(tree).stream()
                        .map(ComponentHandle::state)
                        .toList();
                after = after.with(new TreeState(tree, components));
            }
            partitions.add(after);
        }
        return state.withReplaced(new DatasetState(ready, partitions, before.counts()));
    }

    /** The manifest keeps the names of an index's regions, so that an opening builds them anew. */
    static ManifestState withRegionsToBuild(
            ManifestState state, DatasetSchema after, IndexSchema index) {
        ManifestState changed = withoutTrees(state, after, index);
        for (int i = 0; i < after.partitions(); i++) {
            RegionState before = state.partition(after.id(), i).region(index.tree());
            if (before != null) {
                changed = changed.withPartition(
                        after.id(), i, changed.partition(after.id(), i).with(before.through(0)));
            }
        }
        return changed;
    }

    /** The dataset with another schema, without the trees and regions of an index. */
    static ManifestState withoutTrees(ManifestState state, DatasetSchema after, IndexSchema index) {
        DatasetState before = Objects.requireNonNull(state.find(after.id()));
        return state.withReplaced(new DatasetState(
                after,
                before.partitions().stream()
                        .map(partition -> partition.without(index))
                        .toList(),
                before.counts().withoutIndex(index.id())));
    }
}
