package io.turbidite.lsm.engine;

import io.turbidite.core.log.WriteAheadLog;
import io.turbidite.core.meter.Meters;
import io.turbidite.lsm.background.BackgroundWork;
import io.turbidite.lsm.backup.BackupMeter;
import io.turbidite.lsm.flush.FlushMeter;
import io.turbidite.lsm.indexbuild.LoadMeter;
import io.turbidite.lsm.merge.run.MergeMeter;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.StoreCore;
import io.turbidite.lsm.partition.VersionLease;
import io.turbidite.lsm.read.FetchMeter;
import io.turbidite.lsm.schedule.WriterMeter;
import io.turbidite.lsm.ship.ShipmentMeter;
import io.turbidite.lsm.strategy.bitmap.run.BitmapMeter;
import io.turbidite.lsm.strategy.deferred.DeferredMeter;
import io.turbidite.lsm.strategy.deletedkey.DeletedKeyMerge;
import io.turbidite.lsm.strategy.validation.RepairMeter;
import io.turbidite.lsm.strategy.validation.ValidationMeter;
import io.turbidite.lsm.version.Trash;

/**
 * The instruments of an open store. All are there from its opening on, those of work that is never
 * done too. The rooms count what they do in their own; the gauges and the log's totals are read off
 * the store whenever somebody looks. Stateless.
 */
final class StoreMeters {
    private StoreMeters() {}

    /** Names them all; the log must be attached. */
    static void register(
            Meters meters,
            PartitionRegistry partitions,
            BackgroundWork background,
            EngineOptions options) {
        registerRooms(meters);
        meters.bound("writeMemoryBytes", options.writeMemoryBytes());
        meters.bound("logBytesMax", options.logBytesMax());
        meters.bound("backlogComponentsMax", options.background().backlogComponentsMax());
        registerGauges(meters, partitions, background);
    }

    private static void registerRooms(Meters meters) {
        WriterMeter.of(meters);
        FlushMeter.of(meters);
        MergeMeter.of(meters);
        FetchMeter.of(meters);
        VersionLease.letGoCount(meters);
        ValidationMeter.of(meters);
        RepairMeter.of(meters);
        BitmapMeter.of(meters);
        DeferredMeter.of(meters);
        DeletedKeyMerge.removedCount(meters);
        LoadMeter.of(meters);
        BackupMeter.of(meters);
        ShipmentMeter.of(meters);
    }

    private static void registerGauges(
            Meters meters, PartitionRegistry partitions, BackgroundWork background) {
        StoreCore core = partitions.core();
        meters.gauge("memory.unflushed.bytes", () -> core.account().unflushedBytes());
        meters.gauge("bitmap.kills.bytes", () -> core.bitmaps().invalidations().bytesUsed());
        meters.gauge("cursors.open", () -> openCursorCount(partitions));
        // a registry may ask a store that was closed, which has no components any more
        meters.gauge(
                "components.quarantined",
                () -> core.health().isClosed() ? 0 : core.quarantine().count());
        meters.gauge("merge.backlog.bytes", background::mergeBytesLeft);
        meters.gauge("merge.backlog.components", background::componentsBehind);
        meters.gauge("merge.pace.bytes", background::mergeBytesPerSecond);
        meters.gauge("deferred.garbage.percent", () -> garbagePercent(partitions));
        meters.gauge("trash.bytes", () -> Trash.Item.bytes(core.trash().items()));
        WriteAheadLog log = core.log();
        meters.gauge("write.amplification.percent", () -> writeAmplificationPercent(meters, log));
        meters.gauge("log.bytes", log::bytes);
        meters.total("log.records", () -> log.statistics().recordCount());
        meters.total("log.batches", () -> log.statistics().batchCount());
        meters.total("log.bytes.written", () -> log.statistics().writtenBytes());
        meters.total("log.syncs", () -> log.statistics().syncCount());
        meters.total("log.waits", () -> log.statistics().waitCount());
        meters.total("log.segments.made", () -> log.statistics().createdCount());
        meters.total("log.bytes.zero", () -> log.statistics().zeroBytes());
        meters.total("log.refuges", () -> log.statistics().reserveUseCount());
    }

    private static long openCursorCount(PartitionRegistry partitions) {
        return partitions.all().stream().mapToLong(Partition::openCursorCount).sum();
    }

    /** Obsolete entries for each hundred, in the deferred index that has most of them. */
    private static long garbagePercent(PartitionRegistry partitions) {
        double most = 0;
        for (Partition partition : partitions.all()) {
            most = Math.max(most, partition.garbage().largestShare());
        }
        return Math.round(100 * most);
    }

    /** Bytes that flush, merge and log have written for each hundred that writers brought. */
    private static long writeAmplificationPercent(Meters meters, WriteAheadLog log) {
        long brought = WriterMeter.of(meters).bytes().sum();
        long written = FlushMeter.of(meters).bytes().sum()
                + MergeMeter.of(meters).bytesWritten().sum()
                + log.statistics().writtenBytes();
        return brought == 0 ? 0 : 100 * written / brought;
    }
}
