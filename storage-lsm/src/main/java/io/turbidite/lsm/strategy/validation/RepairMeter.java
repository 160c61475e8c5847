package io.turbidite.lsm.strategy.validation;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Latency;
import io.turbidite.core.meter.Meters;
import io.turbidite.lsm.schema.RepairCounts;

/**
 * What repairs do, and how often an index under auto has another placement of repair.
 * <em>Thread-safe.</em>
 */
public record RepairMeter(
        Counter checked,
        Counter spared,
        Counter searched,
        Counter marked,
        Counter keyPages,
        Counter moves,
        Latency time) {
    /** Those of a store. */
    public static RepairMeter of(Meters meters) {
        return meters.once(
                RepairMeter.class,
                made -> new RepairMeter(
                        made.counter("repair.entries.checked"),
                        made.counter("repair.entries.spared"),
                        made.counter("repair.entries.searched"),
                        made.counter("repair.entries.marked"),
                        made.counter("repair.key.pages"),
                        made.counter("repair.moves"),
                        made.latency("repair.time")));
    }

    /** A component was checked, or what a merge makes of several. */
    void add(RepairCounts counts) {
        checked.add(counts.checked());
        spared.add(counts.spared());
        searched.add(counts.searched());
        marked.add(counts.marked());
        keyPages.add(counts.keyPages());
        time.record(counts.nanos());
    }
}
