package io.turbidite.feeds.cluster.change;

import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.catalog.IndexDefinition;
import io.turbidite.core.scan.IndexDescription;
import io.turbidite.core.type.Field;
import io.turbidite.core.type.RecordType;
import io.turbidite.core.type.TypeKind;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.Change.PartitionMoved;

import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Changes for tests. */
public final class Changes {
    private Changes() {}

    /** A dataset with nested fields, a filter, options and an index. */
    public static DatasetDefinition dataset(String name, int partitions) {
        return new DatasetDefinition(
                name,
                RecordType.of(List.of(
                        Field.parse("id", "int64"),
                        Field.parse("at", "datetime"),
                        Field.nested("user", List.of(Field.parse("lang", "string?")), true),
                        Field.array("tags", TypeKind.STRING, true))),
                List.of("id"),
                List.of("at"),
                partitions,
                Map.of("maintenance", "validation"),
                List.of(index("by_lang")));
    }

    /** An index of {@link #dataset}. */
    public static IndexDefinition index(String name) {
        return index(name, false);
    }

    static IndexDefinition index(String name, boolean unique) {
        return new IndexDefinition(
                name,
                IndexDescription.Kind.BTREE,
                List.of("user.lang"),
                unique,
                Map.of("maintenance", "eager"),
                IndexDefinition.READY);
    }

    /** One of each kind and some more, in an order that fits. */
    static List<Change> all() {
        return List.of(
                new NodeAdded("n1"),
                new NodeAdded("n2"),
                new DatasetCreated(
                        dataset("Trips", 3),
                        new TreeMap<>(Map.of("n1", List.of(0, 2), "n2", List.of(1)))),
                new IndexCreated("Trips", index("by_two")),
                new PartitionMoved("Trips", 2, "n1", "n2"),
                new IndexDropped("Trips", "by_lang"),
                new DatasetCreated(dataset("Other", 1), new TreeMap<>(Map.of("n2", List.of(0)))),
                new DatasetDropped("Other"));
    }
}
