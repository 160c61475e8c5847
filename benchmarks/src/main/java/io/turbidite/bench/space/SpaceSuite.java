package io.turbidite.bench.space;

import io.turbidite.bench.report.Report;
import io.turbidite.feeds.Feed;
import io.turbidite.feeds.FeedDefinition;
import io.turbidite.feeds.FeedDefinition.DatasetPart;
import io.turbidite.feeds.FeedDefinition.IndexPart;
import io.turbidite.feeds.FeedProgress;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreDescription.ComponentDescription;
import io.turbidite.lsm.StoreDescription.DatasetDescription;
import io.turbidite.lsm.StoreDescription.IndexDescription;
import io.turbidite.lsm.StoreDescription.PartitionDescription;
import io.turbidite.lsm.component.ComponentOptions;
import io.turbidite.lsm.component.ComponentSpace;
import io.turbidite.lsm.component.Compression;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import java.util.zip.GZIPInputStream;

/**
 * Loads a feed once for each compression, flushes, and adds up what lies on disk, part by part, as
 * bytes for each byte of the source's text (CSV, uncompressed). The source must be one gzip file.
 */
public final class SpaceSuite {
    private final FeedDefinition definition;
    private final Path directory;
    private final long sourceBytes;
    private final Report report;

    /**
     * @param feed the feed definition to load
     * @param directory for the stores; emptied
     */
    public SpaceSuite(Path feed, Path directory) throws IOException {
        this.definition = FeedDefinition.load(feed);
        this.directory = directory;
        this.sourceBytes = textBytes(definition.source().resolved());
        List<String> labels =
                Arrays.stream(Compression.values()).map(Compression::label).toList();
        this.report = new Report("Disk space of the flights, all indexes included", labels)
                .setting("data", "%s, %,d bytes of CSV".formatted(feed.getFileName(), sourceBytes))
                .setting("figure", "bytes on disk for each byte of CSV, after load and flush")
                .setting("machine", Report.machine())
                .setting("command", "./turbidite bench space");
    }

    public Report run() throws IOException {
        for (Compression compression : Compression.values()) {
            Path store = directory.resolve("space-" + compression.label());
            delete(store);
            load(store, compression);
            delete(store);
        }
        return report;
    }

    private void load(Path directoryOfStore, Compression compression) throws IOException {
        FeedDefinition changed = with(compression);
        Files.createDirectories(directoryOfStore);
        Map<String, Long> parts = new TreeMap<>();
        try (Store store = Store.open(directoryOfStore, changed.storeOptions())) {
            Feed feed = Feed.open(changed, store);
            feed.run(FeedProgress.none());
            store.datasets().forEach(Dataset::flush);
            for (DatasetDescription dataset : store.describe().datasets()) {
                dataset.partitions().forEach(partition -> add(parts, dataset.name(), partition));
            }
        }
        long sum = parts.values().stream().mapToLong(Long::longValue).sum();
        parts.forEach((part, bytes) -> add(part, compression, bytes));
        add("all components", compression, sum);
        add("log of the closed store", compression, bytesOf(directoryOfStore.resolve("log")));
        add("the whole directory", compression, bytesOf(directoryOfStore));
    }

    private void add(String part, Compression compression, long bytes) {
        report.add(part, compression.label(), (double) bytes / sourceBytes);
    }

    private static void add(
            Map<String, Long> parts, String dataset, PartitionDescription partition) {
        for (IndexDescription index : partition.indexes()) {
            String name = dataset + " " + index.name();
            for (ComponentDescription component : index.components()) {
                ComponentSpace space = component.space();
                parts.merge(name + ": record pages", space.recordPages(), Long::sum);
                parts.merge(name + ": key pages", space.keyPages(), Long::sum);
                parts.merge(name + ": Bloom filter", space.bloom(), Long::sum);
                long rest =
                        component.bytes() - space.recordPages() - space.keyPages() - space.bloom();
                parts.merge(name + ": interiors, header, contents", rest, Long::sum);
            }
        }
        parts.values().removeIf(bytes -> bytes == 0);
    }

    private FeedDefinition with(Compression compression) {
        DatasetPart dataset = definition.dataset();
        ComponentOptions components = dataset.options().components().withCompression(compression);
        List<IndexPart> indexes = new ArrayList<>();
        for (IndexPart index : dataset.indexes()) {
            indexes.add(new IndexPart(
                    index.name(),
                    index.kind(),
                    index.on(),
                    index.unique(),
                    index.maintenance(),
                    index.pages().withCompression(compression),
                    index.parameters()));
        }
        DatasetPart changed = new DatasetPart(
                dataset.name(),
                dataset.type(),
                dataset.primaryKey(),
                dataset.filters(),
                dataset.partitions(),
                dataset.options().toBuilder().components(components).build(),
                indexes);
        return new FeedDefinition(
                definition.feed(),
                changed,
                definition.source(),
                definition.format(),
                definition.transforms(),
                definition.shape(),
                definition.policy(),
                definition.workers(),
                definition.mode(),
                definition.storeOptions(),
                definition.origin());
    }

    private static long textBytes(Path gzip) throws IOException {
        try (InputStream text = new GZIPInputStream(Files.newInputStream(gzip), 1 << 16)) {
            long bytes = 0;
            byte[] buffer = new byte[1 << 16];
            for (int read = text.read(buffer); read >= 0; read = text.read(buffer)) {
                bytes += read;
            }
            return bytes;
        }
    }

    private static long bytesOf(Path path) throws IOException {
        try (Stream<Path> files = Files.walk(path)) {
            long bytes = 0;
            for (Path file : files.filter(Files::isRegularFile).toList()) {
                bytes += Files.size(file);
            }
            return bytes;
        }
    }

    private static void delete(Path path) throws IOException {
        if (Files.exists(path)) {
            try (Stream<Path> files = Files.walk(path)) {
                for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
