package io.turbidite.ops.join;

/** Which rows a join gives. A key with a null in it equals no key. */
public enum JoinKind {
    /** Each pair of a left and a right row that meet. */
    INNER,
    /** These, and each left row without a right one, with null in its place. */
    LEFT,
    /** These, and each right row without a left one. */
    FULL,
    /** Each left row that has a right one, once. */
    SEMI,
    /** Each left row that has none. */
    ANTI,
    /**
     * As {@link #ANTI}, but a null may be equal to anything: none where a right row has one, and no
     * left row with one unless there are no right rows at all.
     */
    NOT_IN;

    /** Whether rows have fields of both sides. */
    public boolean hasPairs() {
        return this == INNER || this == LEFT || this == FULL;
    }

    boolean givesUnmatched() {
        return this != INNER && this != SEMI;
    }
}
