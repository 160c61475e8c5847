package io.turbidite.ops.scan;

/** In which order of the primary key a scan hands records on. */
public enum KeyOrder {
    /** Partition after partition. */
    NONE,
    ASCENDING,
    DESCENDING;

    public boolean isOrdered() {
        return this != NONE;
    }

    /** For plans: {@code " in key order"}; empty where there is none. */
    public String suffix() {
        return switch (this) {
            case NONE -> "";
            case ASCENDING -> " in key order";
            case DESCENDING -> " in descending key order";
        };
    }
}
