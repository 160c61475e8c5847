package io.turbidite.ops.job;

import io.turbidite.ops.expr.Given;

import java.util.List;
import java.util.Locale;

/**
 * How rows go from an operator's output to another one's input. <em>Immutable.</em>
 *
 * @param kind which rows go to which partition
 * @param from the operator that gives them
 * @param output which of its outputs; most operators have one, 0
 * @param to the operator that takes them
 * @param input which of its inputs, from 0
 * @param fields of a hash connector its key; of a merging one the order, {@code f} or {@code
 *     f:desc}; of others none
 */
public record JobConnector(
        Kind kind, String from, int output, String to, int input, List<String> fields) {
    /** Which rows go where. */
    public enum Kind {
        /** Partition i to partition i, by the same worker. */
        ONE_TO_ONE,
        /** By the hash of a key: equal keys meet on one partition. */
        HASH,
        /** Every row to every partition. */
        BROADCAST,
        /** Sorted partitions into one, which is sorted too. */
        MERGING,
        /** To each in turn. */
        ROUND_ROBIN;

        /** As JSON writes it. */
        public String label() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    public JobConnector {
        Given.notNull(kind, "the kind of a connector");
        Given.notNull(from, "where a connector comes from");
        Given.notNull(to, "where a connector leads");
        fields = List.copyOf(Given.notNull(fields, "the fields of a connector"));
    }

    /** Each worker to the one of the same number. */
    public static JobConnector oneToOne(String from, String to) {
        return of(Kind.ONE_TO_ONE, from, to);
    }

    /** Rows with the same key to the same worker. */
    public static JobConnector hash(String from, String to, String... key) {
        return of(Kind.HASH, from, to, key);
    }

    /** Each row to all workers. */
    public static JobConnector broadcast(String from, String to) {
        return of(Kind.BROADCAST, from, to);
    }

    /** All rows to one worker, in order; each sender has them in that order already. */
    public static JobConnector merging(String from, String to, String... order) {
        return of(Kind.MERGING, from, to, order);
    }

    /** Frames to all workers in turn. */
    public static JobConnector roundRobin(String from, String to) {
        return of(Kind.ROUND_ROBIN, from, to);
    }

    private static JobConnector of(Kind kind, String from, String to, String... fields) {
        return new JobConnector(kind, from, 0, to, 0, List.of(fields));
    }

    /** The same into another input. */
    public JobConnector into(int inputPort) {
        return new JobConnector(kind, from, output, to, inputPort, fields);
    }

    /** The same out of another output. */
    public JobConnector outOf(int outputPort) {
        return new JobConnector(kind, from, outputPort, to, input, fields);
    }

    /** As messages name it. */
    @Override
    public String toString() {
        return "%s connector from '%s' to '%s'".formatted(kind.label(), from, to);
    }
}
