package io.turbidite.hashlog;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.hashlog.parse.FieldValues;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfFunction;
import io.turbidite.hashlog.psf.PsfFunctions;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Functions of users that throw: their record is refused, and everything else goes on. */
class FailingFunctionTest {
    private static final long SEED = Seeds.of("FailingFunctionTest");

    private static int deep(int depth) {
        return depth < 0 ? 0 : 1 + deep(depth + 1);
    }

    /** Fails on records whose field says how. */
    private static void fussy(FieldValues values, int[] fields, PsfFunction.Result result) {
        if (!values.kind(fields[0]).isText()) {
            result.integer(1);
            return;
        }
        switch (values.bytes(fields[0])[values.offset(fields[0])]) {
            case 'x' -> throw new IllegalStateException("no x");
            case 'd' -> result.integer(deep(0));
            case 'n' -> throw new NoClassDefFoundError("gone");
            case 'f' -> result.field(99);
            case 't' -> result.text(new byte[2], 1, 5);
            default -> result.field(fields[0]);
        }
    }

    private static LogBench bench() {
        return LogBench.simulated(
                SEED,
                null,
                LogBench.options()
                        .withFunctions(
                                new PsfFunctions(Map.of("fussy", FailingFunctionTest::fussy))));
    }

    private static List<String> find(LogBench bench, LogQuery query) {
        List<String> found = new ArrayList<>();
        try (LogCursor cursor = bench.log.find(query)) {
            while (cursor.next()) {
                found.add(LogState.text(cursor));
            }
        }
        return found;
    }

    @Test
    void a_function_that_fails_refuses_its_record_and_ingestion_goes_on() {
        try (LogBench bench = bench()) {
            bench.log.register("f", PsfDefinition.parse("function(fussy, v)"));
            bench.log.register("v", PsfDefinition.parse("field(v)"));
            List<RejectedRecord> refused = new ArrayList<>();
            try (IngestSession session = bench.log.openSession("s", 0, refused::add)) {
                var batch = LogBench.segment("""
                        {"v":"a"}
                        {"v":"x"}
                        {"v":"d"}
                        {"v":"n"}
                        {"v":"f"}
                        {"v":"t"}
                        {"v":"b"}""");
                assertThat(session.ingest(batch, 0, batch.byteSize())).isEqualTo(2);
                assertThat(session.serial()).isEqualTo(7);
                assertThat(session.rejectedCount()).isEqualTo(5);
            }
            assertThat(refused)
                    .hasSize(5)
                    .allMatch(r -> r instanceof RejectedRecord.FunctionFailed);
            assertThat(refused.getFirst().serial()).isEqualTo(2);
            assertThat(refused.getFirst().reason()).contains("function fussy").contains("no x");
            assertThat(find(bench, LogQuery.property("f", "b"))).containsExactly("{\"v\":\"b\"}");
            assertThat(find(bench, LogQuery.all())).hasSize(2);
        }
    }

    @Test
    void where_a_function_fails_in_a_scan_the_record_has_no_value() {
        try (LogBench bench = bench()) {
            try (IngestSession session = bench.log.openSession("s")) {
                var batch = LogBench.segment("{\"v\":\"x\"}\n{\"v\":\"b\"}\n{\"v\":3}\n");
                assertThat(session.ingest(batch, 0, batch.byteSize())).isEqualTo(3);
            }
            bench.log.register("f", PsfDefinition.parse("function(fussy, v)"));
            assertThat(find(bench, LogQuery.property("f", "b"))).containsExactly("{\"v\":\"b\"}");
            assertThat(find(bench, LogQuery.property("f", "1"))).containsExactly("{\"v\":3}");
            List<Long> found = new ArrayList<>();
            bench.log.findInParallel(
                    LogQuery.property("f", "b"), 2, () -> (address, segment, offset, length) -> {
                        synchronized (found) {
                            found.add(address);
                        }
                    });
            assertThat(found).hasSize(1);
        }
    }
}
