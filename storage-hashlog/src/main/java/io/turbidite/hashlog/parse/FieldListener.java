package io.turbidite.hashlog.parse;

/** Hears of each wanted field when it is found, and may then let go of others. */
public interface FieldListener {
    /** Whoever wants to hear nothing. */
    FieldListener NONE = (values, field) -> {};

    /**
     * {@code field} was found; {@link FieldValues#release} says that another is no longer needed,
     * which may let the parser stop.
     */
    void found(FieldValues values, int field);
}
