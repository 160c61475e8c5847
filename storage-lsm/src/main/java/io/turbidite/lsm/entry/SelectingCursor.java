package io.turbidite.lsm.entry;

/**
 * Shows some of the entries of another cursor, those that {@link #isShown} says, in both
 * directions.
 */
public interface SelectingCursor extends ForwardingCursor {
    /** Whether the entry that {@link #entries} stands on is one of those. */
    boolean isShown();

    @Override
    default boolean next() {
        while (entries().next()) {
            if (isShown()) {
                return true;
            }
        }
        return false;
    }

    @Override
    default boolean previous() {
        while (entries().previous()) {
            if (isShown()) {
                return true;
            }
        }
        return false;
    }
}
