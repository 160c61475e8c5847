package io.turbidite.ops.job;

import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.List;

/**
 * A stage of a graph: the operators that one worker runs, from exchange to exchange. {@link
 * JobStages} has them. <em>Immutable.</em>
 *
 * @param name of its last operator
 * @param partitions how many instances of it there are
 * @param inputs the connectors that lead into it, each from the last operator of another stage
 * @param output the connector that its rows go by; null: they are the result
 * @param sources the operators in it that read a dataset
 * @param keepingCount how many of its operators keep rows, and so need memory
 * @param type of its rows
 */
public record JobStage(
        String name,
        int partitions,
        List<JobConnector> inputs,
        @Nullable JobConnector output,
        List<JobOperator> sources,
        int keepingCount,
        RecordType type) {

    public JobStage {
        inputs = List.copyOf(inputs);
        sources = List.copyOf(sources);
    }
}
