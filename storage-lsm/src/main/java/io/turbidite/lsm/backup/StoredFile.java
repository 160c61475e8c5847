package io.turbidite.lsm.backup;

import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.strategy.bitmap.ValidityBitmapOwner;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.ManifestState.TreeState;
import io.turbidite.lsm.version.StoreFiles;

import java.util.ArrayList;
import java.util.List;

/** A file that a manifest names. <em>Immutable.</em> */
public sealed interface StoredFile {
    /**
     * All files of a store that are whole, in the order in which its manifest has them; a bitmap
     * behind its component. Those of components in quarantine are in no copy: a copy that has them
     * would pass for one to restore from.
     */
    static List<StoredFile> allOf(ManifestState state) {
        return allOf(state, false);
    }

    /** The names of the components in quarantine. */
    static List<String> quarantined(ManifestState state) {
        return allOf(state, true).stream()
                .filter(Component.class::isInstance)
                .map(StoredFile::name)
                .toList();
    }

    private static List<StoredFile> allOf(ManifestState state, boolean quarantined) {
        List<StoredFile> files = new ArrayList<>();
        for (DatasetState dataset : state.datasets()) {
            for (int p = 0; p < dataset.partitions().size(); p++) {
                for (TreeState tree : dataset.partitions().get(p).trees()) {
                    for (ComponentState component : tree.components()) {
                        if (component.quarantine().isEmpty() == quarantined) {
                            continue;
                        }
                        ComponentHeader header = new ComponentHeader(
                                state.storeId(),
                                component.fileId(),
                                dataset.schema().id(),
                                p,
                                tree.tree().number());
                        add(files, header, component);
                    }
                }
            }
        }
        return files;
    }

    private static void add(
            List<StoredFile> files, ComponentHeader header, ComponentState component) {
        files.add(new Component(header, component.bytes()));
        if (!component.invalidEntries().isNone()) {
            ValidityBitmapOwner owner = new ValidityBitmapOwner(
                    header.storeId(), component.bitmapFileId(), component.fileId());
            files.add(new InvalidEntries(owner, component.invalidEntries().bytes()));
        }
    }

    /** The bytes of all files together. */
    static long bytes(List<StoredFile> files) {
        return files.stream().mapToLong(StoredFile::bytes).sum();
    }

    /** Its number; names it in the store. */
    long fileId();

    /** Its path below the directory of the store. */
    String name();

    /** Its size. */
    long bytes();

    /**
     * A component.
     *
     * @param header whose it is
     */
    record Component(ComponentHeader header, long bytes) implements StoredFile {
        @Override
        public long fileId() {
            return header.fileId();
        }

        @Override
        public String name() {
            return StoreFiles.component(header.fileId());
        }
    }

    /**
     * The invalid entries of a component.
     *
     * @param owner whose they are
     */
    record InvalidEntries(ValidityBitmapOwner owner, long bytes) implements StoredFile {
        @Override
        public long fileId() {
            return owner.fileId();
        }

        @Override
        public String name() {
            return StoreFiles.bitmap(owner.fileId());
        }
    }
}
