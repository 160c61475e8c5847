package io.turbidite.bench.ycsb;

import java.util.Map;

/**
 * What an engine is asked to do. <em>Immutable.</em>
 *
 * @param key of the record, or the first one that a scan may give
 * @param rows most records of a scan
 * @param values by field: all ten of an insert, those that change of an update
 */
record Operation(Kind kind, String key, int rows, Map<String, String> values) {
    /** The kinds that YCSB knows, but deletes, which no core workload has. */
    enum Kind {
        READ,
        UPDATE,
        INSERT,
        SCAN,
        /** A read whose record is changed and written: one operation. */
        READ_MODIFY_WRITE
    }

    static Operation read(String key) {
        return new Operation(Kind.READ, key, 1, Map.of());
    }

    static Operation scan(String first, int rows) {
        return new Operation(Kind.SCAN, first, rows, Map.of());
    }

    static Operation update(String key, Map<String, String> values) {
        return new Operation(Kind.UPDATE, key, 1, values);
    }

    static Operation insert(String key, Map<String, String> values) {
        return new Operation(Kind.INSERT, key, 1, values);
    }

    /** This update, of a record that was read just before. */
    Operation ofWhatWasRead() {
        return new Operation(Kind.READ_MODIFY_WRITE, key, rows, values);
    }
}
