package io.turbidite.ops.join;

/** Which rows a join gives. A key with a null in it equals no key. */
public enum JoinKind {
    /** Each pair of a left and a right row with equal keys. */
    INNER,
    /** These, and each left row without a right one, with null in its place. */
    LEFT,
    /** Each left row that has a right one, once. */
    SEMI,
    /** Each left row that has none. */
    ANTI;

    boolean hasPairs() {
        return this == INNER || this == LEFT;
    }

    boolean givesUnmatched() {
        return this == LEFT || this == ANTI;
    }
}
