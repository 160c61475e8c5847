package io.turbidite.lsm.read;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.scan.SearchWork;
import io.turbidite.lsm.partition.Partition;
import io.turbidite.lsm.schema.IndexSchema;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What Bloom filters of tokens save, of each inverted index that was searched: made when that
 * happens first. <em>Thread-safe.</em>
 */
final class TokenMeter {
    private final Meters meters;
    private final Map<Index, IndexMeter> indexes = new ConcurrentHashMap<>();

    private record Index(int datasetId, int index) {}

    private record IndexMeter(Counter asked, Counter passed) {}

    private TokenMeter(Meters meters) {
        this.meters = meters;
    }

    /** Adds what a search for tokens asked of components. */
    static void add(Partition partition, IndexSchema index, SearchWork work) {
        if (work.componentCount() == 0) {
            return;
        }
        TokenMeter meter = partition.core().meters().once(TokenMeter.class, TokenMeter::new);
        int dataset = partition.schema().id();
        String name = partition.schema().name();
        IndexMeter ofIndex = meter.indexes.computeIfAbsent(new Index(dataset, index.id()), _ -> {
            Meters scope = meter.meters.scope("dataset", name).scope("index", index.name());
            return new IndexMeter(
                    scope.counter("token.components"), scope.counter("token.components.passed"));
        });
        ofIndex.asked.add(work.componentCount());
        ofIndex.passed.add(work.outsideCount());
    }
}
