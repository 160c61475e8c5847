package io.turbidite.hashlog.scan;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.sim.Seeds;
import io.turbidite.hashlog.IngestSession;
import io.turbidite.hashlog.LogBench;
import io.turbidite.hashlog.chain.ChainWalk;
import io.turbidite.hashlog.chain.Property;
import io.turbidite.hashlog.log.LogOptions;
import io.turbidite.hashlog.log.LogReader;
import io.turbidite.hashlog.log.LogShape;

import org.junit.jupiter.api.Test;

class AdaptiveReadAheadTest {
    private static final long SEED = Seeds.of("AdaptiveReadAheadTest");
    private static final LogShape SHAPE = new LogShape(1 << 20, 4, 4);
    private static final int EVENTS = 30_000;

    /** 12 MiB, most of it on disk only; every event has type t0, every 3,000th is rare. */
    private static LogBench filled() {
        LogBench bench = LogBench.simulated(
                SEED, LogBench.disk(SEED), LogBench.options().withLog(LogOptions.of(SHAPE)));
        bench.register("type");
        bench.register("rare");
        try (IngestSession session = bench.log.openSession("s")) {
            for (int i = 0; i < EVENTS; i++) {
                String rare = i % 3_000 == 0 ? "\"rare\":\"yes\"," : "";
                var batch = LogBench.segment(
                        "{\"type\":\"t0\",%s\"text\":\"%s\"}\n".formatted(rare, "x".repeat(300)));
                session.ingest(batch, 0, batch.byteSize());
            }
            session.awaitDurable();
        }
        return bench;
    }

    private record Reads(int records, long blocks, int reads) {}

    private static Reads walk(LogBench bench, Property property) {
        int[] reads = {0};
        try (LogReader reader =
                LogReader.open(bench.log.log(), "test", (byteCount, nanos) -> reads[0]++)) {
            reader.protect();
            ChainWalk walk = bench.log.walk(reader, property);
            walk.start(bench.log.log().begin());
            int records = 0;
            while (walk.next()) {
                records++;
                reader.refresh();
            }
            return new Reads(records, reader.blocksRead(), reads[0]);
        }
    }

    @Test
    void a_dense_chain_is_read_in_large_windows_and_once() {
        try (LogBench bench = filled()) {
            Reads dense = walk(bench, Property.ofText(0, "t0"));
            assertThat(dense.records()).isEqualTo(EVENTS);
            long blocks = bench.log.log().head() / LogShape.BLOCK_BYTES;
            assertThat(dense.blocks()).isLessThan(blocks + blocks / 20);
            assertThat(dense.reads()).isLessThan(40);
        }
    }

    @Test
    void a_sparse_chain_reads_little_more_than_its_records() {
        try (LogBench bench = filled()) {
            Reads sparse = walk(bench, Property.ofText(1, "yes"));
            assertThat(sparse.records()).isEqualTo(EVENTS / 3_000);
            assertThat(sparse.blocks()).isLessThanOrEqualTo(2L * sparse.records());
        }
    }
}
