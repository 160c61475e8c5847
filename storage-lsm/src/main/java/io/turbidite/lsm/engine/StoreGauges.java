package io.turbidite.lsm.engine;

import io.turbidite.core.log.WriteAheadLog;
import io.turbidite.core.meter.Meters;
import io.turbidite.lsm.background.BackgroundWork;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.partition.PartitionRegistry;
import io.turbidite.lsm.partition.Substrate;
import io.turbidite.lsm.version.Trash;

/**
 * What is read off an open store whenever somebody looks: its gauges and the log's totals.
 * Stateless.
 */
final class StoreGauges {
    private StoreGauges() {}

    /** Names them all; the log must be attached. */
    static void register(Meters meters, PartitionRegistry partitions, BackgroundWork background) {
        Substrate substrate = partitions.substrate();
        meters.gauge("memory.unflushed.bytes", () -> substrate.account().unflushedBytes());
        meters.gauge(
                "bitmap.kills.bytes", () -> substrate.bitmaps().invalidations().bytesUsed());
        meters.gauge("cursors.open", () -> openCursorCount(partitions));
        meters.gauge("components.quarantined", () -> substrate.quarantine().count());
        meters.gauge("merge.backlog.bytes", background::mergeBytesLeft);
        meters.gauge("merge.backlog.components", background::componentsBehind);
        meters.gauge("merge.pace.bytes", background::mergeBytesPerSecond);
        meters.gauge("deferred.garbage.percent", () -> garbagePercent(partitions));
        meters.gauge("trash.bytes", () -> Trash.Item.bytes(substrate.trash().items()));
        WriteAheadLog log = substrate.log();
        meters.gauge("write.amplification.percent", () -> writeAmplificationPercent(meters, log));
        meters.gauge("log.bytes", log::bytes);
        meters.total("log.records", () -> log.statistics().recordCount());
        meters.total("log.batches", () -> log.statistics().batchCount());
        meters.total("log.bytes.written", () -> log.statistics().writtenBytes());
        meters.total("log.syncs", () -> log.statistics().syncCount());
        meters.total("log.waits", () -> log.statistics().waitCount());
        meters.total("log.segments.created", () -> log.statistics().createdCount());
        meters.total("log.bytes.zero", () -> log.statistics().zeroBytes());
        meters.total("log.refuges", () -> log.statistics().refugeCount());
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
        long brought = meters.counter("write.bytes").sum();
        long written = meters.counter("flush.bytes").sum()
                + meters.counter("merge.bytes.written").sum()
                + log.statistics().writtenBytes();
        return brought == 0 ? 0 : 100 * written / brought;
    }
}
