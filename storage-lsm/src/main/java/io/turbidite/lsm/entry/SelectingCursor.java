package io.turbidite.lsm.entry;

/**
 * Shows some of the entries of another cursor, those that {@link #isShown} says, in both
 * directions.
 */
public interface SelectingCursor extends ForwardingCursor {
    /** Whether the entry that {@link #entries} stands on is one of those. */
    boolean isShown();

    /**
     * Leaves of the entries behind that one those in front of the first that is not shown; none
     * where that is known only of the entry that {@link #entries} stands on.
     */
    default void cutToShown(EntriesAhead ahead) {
        ahead.clear();
    }

    @Override
    default void showAhead(EntriesAhead ahead) {
        entries().showAhead(ahead);
        if (ahead.count() > 0) {
            cutToShown(ahead);
        }
    }

    @Override
    default void skip(int count) {
        entries().skip(count);
    }

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
