package io.turbidite.ops.join;

/** Where a source has its join from. <em>Confined to one thread at a time.</em> */
public interface JoinOpener extends AutoCloseable {
    /** The join; asked once. */
    HashJoin open();

    /** Whether it is known that there is nothing to open: others have it all. */
    default boolean hasNothing() {
        return false;
    }

    /** Releases what was never opened; once more does no harm. */
    @Override
    default void close() {}
}
