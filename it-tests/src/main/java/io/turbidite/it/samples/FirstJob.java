package io.turbidite.it.samples;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.bytes.Slice;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.lsm.Store;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.job.JobConnector;
import io.turbidite.ops.job.JobGraph;
import io.turbidite.ops.job.JobOperator;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.job.RowOperator;

import org.jspecify.annotations.Nullable;

import java.io.OutputStream;
import java.util.List;
import java.util.Map;

/** The example of a job with an operator of its own. */
public final class FirstJob {
    private FirstJob() {}

    /** Passes on every n-th row. */
    public static final class EveryNth implements RowOperator {
        // begin operator
        private final Slice row = new Slice();
        private long every;
        private long seen;
        private boolean isReady;

        @Override
        public RecordType type(List<RecordType> inputs, Map<String, Object> settings) {
            if (!(settings.get("every") instanceof Long n) || n < 1) {
                throw new InvalidRequestException("'every' must be a whole number of 1 or more");
            }
            every = n;
            return inputs.getFirst();
        }

        @Override
        public void row(int input, RecordView given) {
            isReady = seen++ % every == 0;
            given.record(row);
        }

        @Override
        public @Nullable Slice next() {
            boolean was = isReady;
            isReady = false;
            return was ? row : null;
        }

        @Override
        public void close() {
            // it holds nothing
        }
        // end operator
    }

    /** Prints how many flights of a sample go where; returns the number of lines. */
    public static long destinations(Store store, OutputStream out) {
        // begin job
        JobParts parts = JobParts.of(store.datasets()).withOperator("every-nth", EveryNth::new);
        JobGraph graph = JobGraph.builder(parts)
                .add(JobOperator.of("flights", "scan")
                        .with("dataset", "Flights")
                        .on(2))
                .add(JobOperator.of("some", "every-nth").with("every", 10).on(2))
                .add(JobOperator.of("groups", "group")
                        .with("by", List.of("dest"))
                        .on(2))
                .add(JobOperator.of("out", "result"))
                .connect(JobConnector.oneToOne("flights", "some"))
                .connect(JobConnector.hash("some", "groups", "dest"))
                .connect(JobConnector.merging("groups", "out", "dest"))
                .build();
        try (QueryResult rows = JobQuery.of(graph).run()) {
            return rows.forEachJson(out);
        }
        // end job
    }
}
