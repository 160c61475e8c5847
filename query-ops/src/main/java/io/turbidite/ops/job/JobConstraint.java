package io.turbidite.ops.job;

import io.turbidite.ops.expr.Given;

import java.util.List;

/**
 * Says which partitions of its dataset an instance of a source reads; otherwise they are dealt out.
 * <em>Immutable.</em>
 *
 * @param operator a source
 * @param partition which of its instances, from 0
 * @param reads partitions of the dataset; all instances together read each of them once
 */
public record JobConstraint(String operator, int partition, List<Integer> reads) {
    public JobConstraint {
        Given.notNull(operator, "the operator of a constraint");
        reads = List.copyOf(Given.notNull(reads, "the partitions of a constraint"));
    }
}
