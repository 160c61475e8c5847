package io.turbidite.lsm.dataset;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.lsm.component.DiskComponent;
import io.turbidite.lsm.component.PageOptions;
import io.turbidite.lsm.partition.GarbageEstimate;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.Maintenance;
import io.turbidite.lsm.schema.MergeRepair;
import io.turbidite.lsm.schema.TreeId;
import io.turbidite.lsm.strategy.advice.Facts;
import io.turbidite.lsm.strategy.advice.Facts.IndexFacts;
import io.turbidite.lsm.version.ComponentHandle;
import io.turbidite.lsm.version.DatasetCounts;
import io.turbidite.lsm.version.DatasetCounts.IndexReads;
import io.turbidite.lsm.version.Version;

import java.util.EnumMap;
import java.util.List;
import java.util.Map;

/**
 * Gathers what advice on a dataset goes by: counts that were kept, and what is on disk now.
 * Stateless.
 */
public final class MeasuredFacts {
    /** What an entry is taken to have where none is on disk. */
    private static final int ENTRY_BYTES_GUESSED = 32;

    private MeasuredFacts() {}

    /** What is on disk of a tree, of all partitions. */
    private static final class OnDisk {
        private final PageOptions pages;
        long components;
        long matter;
        long versions;
        long entries;
        long invalidEntries;
        long recordBytes;
        long keyBytes;

        /** Entries whose successors are on disk as well, and have met them in no merge yet. */
        long unmet;

        OnDisk(List<Partition> partitions, DatasetSchema schema, TreeId tree) {
            this.pages = schema.pages(tree);
            for (Partition partition : partitions) {
                Version pinned = partition.pin();
                try {
                    if (pinned.hasTree(tree)) {
                        pinned.tree(tree).forEach(this::add);
                    }
                    if (tree.isPrimary()) {
                        GarbageEstimate estimate = new GarbageEstimate();
                        estimate.refresh(pinned);
                        unmet += estimate.entries(pinned);
                    }
                } finally {
                    pinned.unpin();
                }
            }
        }

        private void add(ComponentHandle handle) {
            DiskComponent component = handle.component();
            components++;
            entries += component.entryCount();
            matter += component.matterCount();
            versions += component.versionCount();
            invalidEntries += handle.state().invalidEntries().count();
            recordBytes += component.space().recordPages();
            keyBytes += component.space().keyPages();
        }

        /** Entries that a version of a record has, 1 where none is on disk. */
        double entriesPerVersion() {
            return matter == 0 || versions == 0 ? 1 : (double) matter / versions;
        }

        double perPage(long bytes) {
            double entryBytes =
                    entries == 0 || bytes == 0 ? ENTRY_BYTES_GUESSED : (double) bytes / entries;
            return Math.max(1, pages.pageBytes() / entryBytes);
        }

        double pageCount(long bytes) {
            return (double) bytes / pages.pageBytes();
        }
    }

    /** Of a dataset now. */
    public static Facts of(OpenDataset dataset, StoreCore core) {
        return of(dataset.schema(), dataset.partitions(), KeptCounts.of(core, dataset));
    }

    private static Facts of(
            DatasetSchema schema, List<Partition> partitions, DatasetCounts counts) {
        OnDisk primary = new OnDisk(partitions, schema, TreeId.PRIMARY);
        List<IndexSchema> ready =
                schema.indexes().stream().filter(IndexSchema::isReady).toList();
        long returned = ready.stream()
                .mapToLong(index -> counts.index(index.id()).entries())
                .sum();
        double fetchShare = returned == 0 ? 1 : share(counts.reads().fetched(), returned);
        double count = partitions.size();
        return new Facts(
                schema.name(),
                writes(counts, primary),
                new Facts.Primary(
                        primary.components / count,
                        schema.components().bloom()
                                ? schema.components().bloomFalsePositiveRate()
                                : 1,
                        primary.pageCount(primary.keyBytes) / count,
                        primary.perPage(primary.keyBytes),
                        schema.repair() == MergeRepair.MERGE),
                schema.maintenance() == Maintenance.EAGER && !schema.filter().isEmpty(),
                fetchShare,
                ready.stream()
                        .map(index -> index(schema, index, partitions, counts, primary))
                        .toList());
    }

    private static Facts.Writes writes(DatasetCounts counts, OnDisk primary) {
        DatasetCounts.Flushes flushes = counts.flushes();
        DatasetCounts.Lookups lookups = counts.lookups();
        // writers may have looked while another index was eager: that tells of what they wrote
        // since only
        // if it is most of it
        boolean counted = lookups.lookedUp() > 0 && 2 * lookups.lookedUp() >= flushes.writes();
        double updates = counted
                ? share(lookups.found(), lookups.lookedUp())
                : share(flushes.superseded() + primary.unmet, flushes.writes());
        double amplification = 1 + (double) flushes.merged() / Math.max(1, flushes.writes());
        return new Facts.Writes(
                flushes.writes(), flushes.deletes(), updates, counted, amplification);
    }

    private static IndexFacts index(
            DatasetSchema schema,
            IndexSchema index,
            List<Partition> partitions,
            DatasetCounts counts,
            OnDisk primary) {
        OnDisk disk = new OnDisk(partitions, schema, index.tree());
        IndexReads reads = counts.index(index.id());
        double obsolete = 0;
        if (!index.describe().alwaysValid()) {
            DatasetCounts.Reads read = counts.reads();
            long living = disk.matter - disk.invalidEntries;
            long records = Math.max(0, primary.matter - primary.unmet);
            long current = Math.round(records * disk.entriesPerVersion());
            obsolete = read.validated() > 0
                    ? share(read.validated() - read.valid(), read.validated())
                    : share(Math.max(0, living - current), living);
        }
        return new IndexFacts(
                index.name(),
                index.maintenance(),
                refused(schema, index),
                disk.perPage(disk.recordBytes),
                disk.entriesPerVersion(),
                reads.searches(),
                reads.entries(),
                obsolete,
                index.maintenance() == Maintenance.AUTO
                        ? partitions.getFirst().work().repair(index.id())
                        : null);
    }

    /**
     * The strategies that the index could not be created with, by what its definition would say.
     */
    private static Map<Maintenance, String> refused(DatasetSchema schema, IndexSchema index) {
        Map<Maintenance, String> refused = new EnumMap<>(Maintenance.class);
        for (Maintenance strategy : Maintenance.values()) {
            try {
                var _ = schema.with(new IndexSchema(
                        index.id(),
                        index.name(),
                        index.kind(),
                        index.entryKeys(),
                        strategy,
                        index.unique(),
                        index.pages(),
                        index.state()));
            } catch (InvalidRequestException reason) {
                refused.put(strategy, String.valueOf(reason.getMessage()));
            }
        }
        return refused;
    }

    private static double share(long part, long whole) {
        return whole <= 0 ? 0 : Math.min(1, (double) part / whole);
    }
}
