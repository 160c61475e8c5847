package io.turbidite.ops.sql;

/** How many records a statement has changed so far. <em>Confined to one thread.</em> */
final class ChangedCount {
    private long count;

    void add(long more) {
        count += more;
    }

    long count() {
        return count;
    }
}
