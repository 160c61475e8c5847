package io.turbidite.lsm.backup;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.lsm.component.ComponentHeader;
import io.turbidite.lsm.partition.Substrate;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.ManifestState;
import io.turbidite.lsm.version.ManifestState.ComponentState;
import io.turbidite.lsm.version.ManifestState.DatasetState;
import io.turbidite.lsm.version.ManifestState.PartitionState;
import io.turbidite.lsm.version.ManifestState.TreeState;
import io.turbidite.lsm.version.StoreFiles;

import java.util.HashMap;
import java.util.Map;

/**
 * Copies an open store into an empty directory while writers go on. The copy is a store: all datasets as
 * they were at one timestamp, nothing later, no half batch.
 *
 * <ol>
 *   <li>Mark the directory as incomplete.
 *   <li>Cut the store: close all gates, note the last timestamp drawn, pin every partition's components
 *       and memory layers, open the gates. Make the log durable up to there.
 *   <li>Write what the memory layers held at the timestamp as components, then let the memory go.
 *   <li>Link or copy the disk components; each new file is checked from end to end, each link is opened.
 *   <li>Write the manifest, take the mark away.
 * </ol>
 *
 * A crash before the last step leaves a directory that says INCOMPLETE; any other failure leaves it empty.
 */
public final class Backup {
    private Backup() {}

    /**
     * Makes a backup.
     *
     * @param target an empty directory
     * @throws InvalidRequestException if it is not empty, or {@code mode} wants links and there can't be
     *     any; it is left as it was
     * @throws io.turbidite.core.CorruptionException if a component is damaged
     */
    public static BackupReport write(Substrate substrate, Disk target, CopyMode mode) {
        TargetDirectory directory = new TargetDirectory(target);
        directory.prepare();
        boolean complete = false;
        try (StoreCut cut = StoreCut.take(substrate);
                ComponentCopies copies = new ComponentCopies(target, substrate.cache())) {
            ManifestState image = cut.writeMemory(target);
            int linked = 0;
            int copied = 0;
            Map<Long, ComponentHeader> written = headers(image);
            for (ComponentHandle handle : cut.components()) {
                substrate.health().checkReadable();
                ComponentHeader header = handle.component().header();
                written.remove(header.fileId());
                if (link(substrate.disk(), target, handle, mode)) {
                    copies.open(header).close();
                    linked++;
                } else {
                    copies.copy(substrate.disk(), header);
                    copied++;
                }
            }
            written.values().forEach(copies::check);
            directory.complete(image);
            complete = true;
            BackupReport report = new BackupReport(
                    cut.timestamp(),
                    cut.wallMicros(),
                    linked,
                    copied,
                    written.size(),
                    bytes(image));
            substrate.events().backedUp(report.timestamp(), linked, copied, report.bytes());
            return report;
        } finally {
            if (!complete) {
                directory.abandon();
            }
        }
    }

    private static boolean link(Disk source, Disk target, ComponentHandle handle, CopyMode mode) {
        if (mode == CopyMode.COPY) {
            return false;
        }
        String name = StoreFiles.component(handle.state().fileId());
        boolean linked = source.link(name, target, name);
        if (!linked && mode == CopyMode.LINK) {
            throw new InvalidRequestException(
                    "%s can't have hard links to %s: it is another file system; copy instead"
                            .formatted(target.description(), source.description()));
        }
        return linked;
    }

    /** Whose each component file of a store is, by file id. */
    static Map<Long, ComponentHeader> headers(ManifestState state) {
        Map<Long, ComponentHeader> headers = new HashMap<>();
        for (DatasetState dataset : state.datasets()) {
            for (int p = 0; p < dataset.partitions().size(); p++) {
                for (TreeState tree : dataset.partitions().get(p).trees()) {
                    for (ComponentState component : tree.components()) {
                        long fileId = component.fileId();
                        headers.put(
                                fileId,
                                new ComponentHeader(
                                        state.storeId(),
                                        fileId,
                                        dataset.schema().id(),
                                        p,
                                        tree.indexId()));
                    }
                }
            }
        }
        return headers;
    }

    static long bytes(ManifestState state) {
        long bytes = 0;
        for (DatasetState dataset : state.datasets()) {
            for (PartitionState partition : dataset.partitions()) {
                for (TreeState tree : partition.trees()) {
                    bytes += tree.components().stream()
                            .mapToLong(ComponentState::bytes)
                            .sum();
                }
            }
        }
        return bytes;
    }
}
