package io.turbidite.lsm.read;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.scan.FetchWork;

/**
 * What batched lookups do. <em>Thread-safe.</em>
 */
public record FetchMeter(
        Counter keys, Counter bloomTests, Counter layers, Counter searches, Counter pages) {
    /** Those of a store. */
    public static FetchMeter of(Meters meters) {
        return meters.once(
                FetchMeter.class,
                made -> new FetchMeter(
                        made.counter("lookup.keys"),
                        made.counter("lookup.bloom.tests"),
                        made.counter("lookup.layers"),
                        made.counter("lookup.searches"),
                        made.counter("lookup.pages")));
    }

    /** A lookup has ended. */
    void add(FetchWork work) {
        keys.add(work.keyCount());
        bloomTests.add(work.bloomTestCount());
        layers.add(work.layerVisitCount());
        searches.add(work.searchCount());
        pages.add(work.pageCount());
    }
}
