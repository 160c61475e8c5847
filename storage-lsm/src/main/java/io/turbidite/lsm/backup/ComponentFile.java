package io.turbidite.lsm.backup;

import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.ManifestState.TreeState;
import io.turbidite.lsm.version.StoreFiles;

import java.util.ArrayList;
import java.util.List;

/**
 * A component file that a manifest names. <em>Immutable.</em>
 *
 * @param header whose it is
 * @param bytes its size
 */
record ComponentFile(ComponentHeader header, long bytes) {
    /** All component files of a store, in the order in which its manifest has them. */
    static List<ComponentFile> allOf(ManifestState state) {
        List<ComponentFile> files = new ArrayList<>();
        for (DatasetState dataset : state.datasets()) {
            for (int p = 0; p < dataset.partitions().size(); p++) {
                for (TreeState tree : dataset.partitions().get(p).trees()) {
                    for (ComponentState component : tree.components()) {
                        ComponentHeader header = new ComponentHeader(
                                state.storeId(),
                                component.fileId(),
                                dataset.schema().id(),
                                p,
                                tree.indexId());
                        files.add(new ComponentFile(header, component.bytes()));
                    }
                }
            }
        }
        return files;
    }

    static long bytes(List<ComponentFile> files) {
        return files.stream().mapToLong(ComponentFile::bytes).sum();
    }

    String name() {
        return StoreFiles.component(header.fileId());
    }
}
