package io.turbidite.ops;

/**
 * A direction. Null and missing are below every value: they come first ascending, last descending.
 */
public enum Order {
    ASC,
    DESC
}
