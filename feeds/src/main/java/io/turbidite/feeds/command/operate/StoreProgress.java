package io.turbidite.feeds.command.operate;

import io.turbidite.core.meter.Counter;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.StoreAccess;
import io.turbidite.feeds.command.common.WatchedProgress;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreDescription.DatasetDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;
import io.turbidite.lsm.check.StoredFormat;
import io.turbidite.lsm.check.Verifier;
import io.turbidite.lsm.schema.Maintenance;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Predicate;
import java.util.function.ToLongFunction;
import java.util.stream.Stream;

/** How far long work on a store is, by its figures. Static, without state. */
final class StoreProgress {
    private StoreProgress() {}

    /** A bar for a whole check, which goes through each component twice. */
    static WatchedProgress verifying(StoreAccess stores, Console console, Store store) {
        Counter bytes = store.meters().counter(Verifier.BYTES);
        long before = bytes.sum();
        long total = 2 * sum(store, dataset -> true, index -> true, ComponentDescription::bytes);
        return stores.progress(console, "verify", () -> bytes.sum() - before, () -> total);
    }

    /** A bar for an upgrade, by what merges have read. */
    static WatchedProgress upgrading(StoreAccess stores, Console console, Store store) {
        Counter bytes = store.meters().counter("merge.bytes.read");
        long before = bytes.sum();
        long total = store.formats().stream()
                .filter(StoredFormat::isOutdated)
                .mapToLong(StoredFormat::bytes)
                .sum();
        return stores.progress(console, "upgrade", () -> bytes.sum() - before, () -> total);
    }

    /** A bar for the repair of a dataset, or of one index of it. */
    static WatchedProgress repairing(
            Console console, Store store, String dataset, @Nullable String name) {
        Counter checked = store.meters().counter("repair.entries.checked");
        long before = checked.sum();
        long total = sum(
                store,
                one -> one.name().equals(dataset),
                index -> name == null
                        ? !index.maintenance().equals(Maintenance.EAGER.label())
                        : index.name().equals(name),
                ComponentDescription::entries);
        return WatchedProgress.ofEntries(
                console, "repair " + dataset, () -> checked.sum() - before, () -> total);
    }

    /** A bar for a copy into a directory. */
    static WatchedProgress copying(
            StoreAccess stores, Console console, String task, Path to, long bytes) {
        return stores.progress(console, task, () -> bytes(to), () -> bytes);
    }

    /** What the files of a directory take; what can't be seen counts as nothing. */
    static long bytes(Path directory) {
        long bytes = 0;
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path file : (Iterable<Path>) files::iterator) {
                bytes += Files.isRegularFile(file) ? Files.size(file) : 0;
            }
        } catch (IOException | UncheckedIOException changing) {
            return bytes; // it is a bar, and looks again in a moment
        }
        return bytes;
    }

    /** Adds something up over components. */
    static long sum(
            Store store,
            Predicate<DatasetDescription> datasets,
            Predicate<IndexDescription> indexes,
            ToLongFunction<ComponentDescription> figure) {
        return store.describe().datasets().stream()
                .filter(datasets)
                .flatMap(dataset -> dataset.partitions().stream())
                .flatMap(partition -> partition.indexes().stream())
                .filter(indexes)
                .flatMap(index -> index.components().stream())
                .mapToLong(figure)
                .sum();
    }
}
