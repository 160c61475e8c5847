package io.turbidite.ops.window;

import io.turbidite.core.type.RecordType;

import java.util.List;

/**
 * How rows come: by partition, and within it in an order. <em>Immutable.</em>
 *
 * @param partition the fields that the rows of a partition have in common
 * @param order the fields that rows which are equal in the order have in common, too
 */
public record WindowOrder(List<String> partition, List<String> order) {
    /** Copies its lists. */
    public WindowOrder {
        partition = List.copyOf(partition);
        order = List.copyOf(order);
    }

    KeyChange partitions(RecordType type) {
        return new KeyChange(type, partition);
    }

    KeyChange peers(RecordType type) {
        return new KeyChange(type, order);
    }
}
