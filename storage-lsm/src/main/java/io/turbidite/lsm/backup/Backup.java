package io.turbidite.lsm.backup;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.Undo;
import io.turbidite.core.file.Disk;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.version.ManifestState;

import java.util.List;
import java.util.Set;

/**
 * Copies an open store into an empty directory while writers go on. The copy is a store: all
 * datasets as they were at one timestamp, nothing later, no half batch.
 *
 * <ol>
 *   <li>Mark the directory as incomplete.
 *   <li>Cut the store: close all gates, note the last timestamp drawn, pin every partition's
 *       components and memory layers, open the gates. Make the log durable up to there.
 *   <li>Write what the memory layers held at the timestamp as components, then let the memory go.
 *   <li>Link or copy the files of the disk components; each new file is checked from end to end,
 *       each link is opened.
 *   <li>Write the manifest, take the mark away.
 * </ol>
 *
 * A crash before the last step leaves a directory that says INCOMPLETE; any other failure leaves it
 * empty.
 */
public final class Backup {
    private Backup() {}

    /**
     * Makes a backup.
     *
     * @param target an empty directory
     * @throws InvalidRequestException if it is not empty, or {@code mode} wants links and there
     *     can't be any; it is left as it was
     * @throws io.turbidite.core.CorruptionException if a component is damaged
     */
    public static BackupReport write(PartitionRegistry partitions, Disk target, CopyMode mode) {
        StoreCore core = partitions.core();
        TargetDirectory directory = new TargetDirectory(target);
        directory.prepare();
        try (Undo undo = Undo.of(directory::abandon);
                StoreCut cut = StoreCut.take(partitions);
                ComponentCopies copies = new ComponentCopies(target, core.cache())) {
            ManifestState image = cut.writeMemory(target);
            int linked = 0;
            int copied = 0;
            int written = 0;
            List<StoredFile> files = StoredFile.allOf(image);
            Set<Long> held = cut.fileIds();
            for (StoredFile file : files) {
                core.health().checkReadable();
                if (!held.contains(file.fileId())) {
                    copies.check(file);
                    written++;
                } else if (link(core.disk(), target, file, mode)) {
                    copies.checkQuickly(file);
                    linked++;
                } else {
                    copies.copy(core.disk(), file);
                    copied++;
                }
            }
            directory.complete(image);
            undo.keep();
            BackupReport report = new BackupReport(
                    cut.timestamp(),
                    cut.wallMicros(),
                    linked,
                    copied,
                    written,
                    StoredFile.bytes(files),
                    StoredFile.quarantined(image));
            BackupMeter meter = BackupMeter.of(core.meters());
            meter.count().increment();
            meter.bytes().add(report.bytes());
            core.events().backedUp(report.timestamp(), linked, copied, report.bytes());
            return report;
        }
    }

    private static boolean link(Disk source, Disk target, StoredFile file, CopyMode mode) {
        if (mode == CopyMode.COPY) {
            return false;
        }
        boolean linked = source.link(file.name(), target, file.name());
        if (!linked && mode == CopyMode.LINK) {
            throw new InvalidRequestException(
                    "%s can't have hard links to %s: it is another file system; copy instead"
                            .formatted(target.description(), source.description()));
        }
        return linked;
    }
}
