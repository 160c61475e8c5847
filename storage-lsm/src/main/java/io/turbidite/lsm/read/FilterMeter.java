package io.turbidite.lsm.read;

import io.turbidite.core.meter.Counter;
import io.turbidite.core.meter.Meters;
import io.turbidite.core.scan.LayerWork;
import io.turbidite.lsm.schema.DatasetSchema;
import io.turbidite.lsm.schema.IndexSchema;
import io.turbidite.lsm.schema.TreeId;

import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * What filters save, of each index that was searched with one: made when that happens first.
 * <em>Thread-safe.</em>
 */
final class FilterMeter {
    /** The index tag of the primary, which no index can be called. */
    private static final String PRIMARY = "*primary*";

    private final Meters meters;
    private final Map<Tree, TreeMeter> trees = new ConcurrentHashMap<>();

    private record Tree(int datasetId, TreeId tree) {}

    /**
     * Of one tree.
     *
     * @param ruledOut for each filter field
     */
    private record TreeMeter(Counter considered, List<Counter> ruledOut) {
        void add(LayerWork work) {
            considered.add(work.layerCount());
            for (int field = 0; field < work.ruledOut().size(); field++) {
                ruledOut.get(field).add(work.ruledOut().get(field));
            }
        }
    }

    private FilterMeter(Meters meters) {
        this.meters = meters;
    }

    static FilterMeter of(Meters meters) {
        return meters.once(FilterMeter.class, FilterMeter::new);
    }

    void add(DatasetSchema schema, TreeId tree, LayerWork work) {
        trees.computeIfAbsent(new Tree(schema.id(), tree), _ -> meter(schema, tree))
                .add(work);
    }

    private TreeMeter meter(DatasetSchema schema, TreeId tree) {
        IndexSchema index = schema.index(tree);
        Meters ofTree = meters.scope("dataset", schema.name())
                .scope("index", index == null ? PRIMARY : index.name());
        return new TreeMeter(
                ofTree.counter("filter.layers"),
                schema.filterFields().stream()
                        .map(field -> ofTree.scope("filter", field).counter("filter.layers.passed"))
                        .toList());
    }
}
