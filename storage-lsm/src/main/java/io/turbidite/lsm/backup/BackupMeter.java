package io.turbidite.lsm.backup;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;

/**
 * The backups that a store has made. <em>Thread-safe.</em>
 */
public record BackupMeter(Counter count, Counter bytes) {
    /** Those of a store. */
    public static BackupMeter of(Meters meters) {
        return meters.once(
                BackupMeter.class,
                made -> new BackupMeter(
                        made.counter("backup.count"), made.counter("backup.bytes")));
    }
}
