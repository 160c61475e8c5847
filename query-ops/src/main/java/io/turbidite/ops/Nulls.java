package io.turbidite.ops;

/** Where null and missing stand in an order, whatever its direction. */
public enum Nulls {
    /** Before all values. */
    FIRST,
    /** Behind all values. */
    LAST
}
