package io.turbidite.ops;

/** Where null and missing stand in an order, whatever its direction. */
public enum Nulls {
    FIRST,
    LAST
}
