package io.turbidite.ops.aggregate;

/**
 * An aggregate that takes columns: its states are numbers, and those of many groups lie in one
 * array, each as the words that {@link Accumulator} has of it. <em>Confined to one thread.</em>
 */
interface ColumnAccumulator {
    /**
     * Partial: takes rows, in their order, as {@link Accumulator#add} takes each.
     *
     * @param states of all groups
     * @param places where the states of each row's group begin
     * @param from the first row, as the columns count them
     * @param to behind the last one
     */
    void addAll(long[] states, int[] places, int from, int to, ArgumentColumns arguments);

    /** Whether it takes the arguments that it is for as columns have them. */
    default boolean takesColumns() {
        return true;
    }
}
