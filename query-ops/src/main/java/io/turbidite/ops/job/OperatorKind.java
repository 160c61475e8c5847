package io.turbidite.ops.job;

import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.List;

/** What operators of one kind take, check and give. <em>Immutable.</em> */
interface OperatorKind {
    /** Inputs that any operator of the graph may have. */
    int INPUTS_MAX = 64;

    /** The settings that it knows. */
    List<String> settings();

    default int inputsMin() {
        return 1;
    }

    default int inputsMax() {
        return 1;
    }

    /** Whether it gives rows; all do but the result. */
    default boolean hasOutput() {
        return true;
    }

    /** Whether it reads a dataset, and so goes by constraints. */
    default boolean isSource() {
        return false;
    }

    /** Whether it gives nothing before it has read all of an input. */
    default boolean blocks(int input) {
        return false;
    }

    /** Whether it keeps rows, and so needs memory. */
    default boolean keepsRows() {
        return false;
    }

    /** Checks the settings, and gives the type of the rows. */
    RecordType type(Settings settings, List<RecordType> inputs, JobParts parts);

    /**
     * Refuses an operator that would give a wrong answer on several partitions.
     *
     * @param inputs how each input comes
     */
    default void checkPartitions(Settings settings, List<Layout> inputs) {
        // most work row by row
    }

    /** How its rows lie. */
    default Layout layout(Settings settings, List<Layout> inputs, RecordType type) {
        return Layout.NONE;
    }

    /** In a few words, for drawings. */
    default String detail(Settings settings) {
        return "";
    }

    /**
     * How the rows of an operator lie, as far as it is known. <em>Immutable.</em>
     *
     * @param order fields that each partition is sorted by: {@code f} or {@code f:desc}
     * @param hashedBy fields whose equal values are on one partition; null: of no fields it is
     *     known
     * @param isOnAll whether each partition has all rows
     */
    record Layout(List<String> order, @Nullable List<String> hashedBy, boolean isOnAll) {
        static final Layout NONE = new Layout(List.of(), null, false);

        /** What is left of it where rows have other fields. */
        Layout within(RecordType type) {
            int kept = 0;
            while (kept < order.size() && type.indexOf(fieldOf(order.get(kept))) >= 0) {
                kept++;
            }
            List<String> key = hashedBy;
            if (key != null && !key.stream().allMatch(field -> type.indexOf(field) >= 0)) {
                key = null;
            }
            return new Layout(List.copyOf(order.subList(0, kept)), key, isOnAll);
        }

        Layout sortedBy(List<String> newOrder) {
            return new Layout(List.copyOf(newOrder), hashedBy, isOnAll);
        }

        static String fieldOf(String ordered) {
            return isDescending(ordered)
                    ? ordered.substring(0, ordered.length() - ":desc".length())
                    : ordered;
        }

        static boolean isDescending(String ordered) {
            return ordered.endsWith(":desc");
        }
    }
}
