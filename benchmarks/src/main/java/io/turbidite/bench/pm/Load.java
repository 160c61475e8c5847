package io.turbidite.bench.pm;

/** The paper's loads: which records are written, under which secondary keys. */
enum Load {
    /** Each record once. */
    INSERT("insert", false, false, false),
    /** Each record once and as many updates of any, shuffled. */
    UNIFORM("upsert Uniform", true, false, false),
    /** Some records are updated much more often than others. */
    SKEWED_PRI("upsert Skewed-Pri", true, true, false),
    /** Some secondary keys have much more records than others. */
    SKEWED_SEC("upsert Skewed-Sec", true, false, true);

    private final String label;
    private final boolean updates;
    private final boolean skewsRecords;
    private final boolean skewsKeys;

    Load(String label, boolean updates, boolean skewsRecords, boolean skewsKeys) {
        this.label = label;
        this.updates = updates;
        this.skewsRecords = skewsRecords;
        this.skewsKeys = skewsKeys;
    }

    String label() {
        return label;
    }

    boolean updates() {
        return updates;
    }

    boolean skewsRecords() {
        return skewsRecords;
    }

    boolean skewsKeys() {
        return skewsKeys;
    }
}
