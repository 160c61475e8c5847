package io.turbidite.ops;

/**
 * A direction. Null and missing are below every value: they come first ascending, last descending,
 * unless {@link Nulls} says something else.
 */
public enum Order {
    /** From the least to the greatest. */
    ASC,
    /** From the greatest to the least. */
    DESC
}
