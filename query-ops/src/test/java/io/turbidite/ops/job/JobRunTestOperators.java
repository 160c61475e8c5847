package io.turbidite.ops.job;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;

import org.jspecify.annotations.Nullable;

import java.util.List;
import java.util.Map;

/** Operators of an embedder's own, for tests. */
final class JobRunTestOperators {
    private JobRunTestOperators() {}

    /** Gives each row as it is. */
    static class Passing implements RowOperator {
        private final Slice row = new Slice();
        private boolean isThere;

        @Override
        public RecordType type(List<RecordType> inputs, Map<String, Object> settings) {
            return inputs.getFirst();
        }

        @Override
        public void row(int input, RecordView given) {
            given.record(row);
            isThere = true;
        }

        @Override
        public @Nullable Slice next() {
            if (!isThere) {
                return null;
            }
            isThere = false;
            return row;
        }

        /** The row that was taken last. */
        Slice shown() {
            return row;
        }

        @Override
        public void close() {
            isThere = false;
        }
    }
}
