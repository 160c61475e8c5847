package io.turbidite.feeds.flow;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.bytes.Slice;
import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.SimClock;
import io.turbidite.core.sim.SimTasks;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.parse.LineFramer;
import io.turbidite.feeds.parse.RecordFramer;
import io.turbidite.feeds.parse.RecordFramer.Quotes;
import io.turbidite.feeds.source.SourcePosition;

import org.junit.jupiter.api.Test;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicReference;

class PipelineTest {
    /**
     * Sends the numbers below {@code count}, each as record and frame, and publishes full batches.
     */
    private static void send(Pipeline pipeline, int count) {
        StringBuilder text = new StringBuilder();
        for (int i = 0; i < count; i++) {
            text.append(i).append('\n');
        }
        ByteArrayInputStream in =
                new ByteArrayInputStream(text.toString().getBytes(StandardCharsets.UTF_8));
        RecordFramer framer = new LineFramer(in::read, Quotes.NONE, ',', 0, 1);
        Slice record = new Slice();
        Batch batch = begin(pipeline);
        while (framer.next()) {
            batch.add(
                    record.set(
                            framer.frame().segment(),
                            framer.frame().start(),
                            framer.frame().length()),
                    framer.frame());
            if (batch.isFull()) {
                batch.end(SourcePosition.of(0));
                pipeline.publish();
                batch = begin(pipeline);
            }
        }
        batch.move();
        batch.end(SourcePosition.of(count));
        pipeline.publish();
    }

    private static Batch begin(Pipeline pipeline) {
        Batch batch = pipeline.claim();
        batch.begin("a", null);
        return batch;
    }

    private static void collect(Batch batch, List<String> records) {
        Slice slice = new Slice();
        for (int i = 0; i < batch.recordCount(); i++) {
            records.add(batch.record(i, slice).toUtf8());
        }
    }

    private static void carriesAll(Tasks tasks, int count) {
        List<String> records = new ArrayList<>();
        List<Boolean> ends = new ArrayList<>();
        try (Pipeline pipeline =
                Pipeline.start(tasks, "test", FeedMeters.unseen(Clock.system()), batch -> {
                    collect(batch, records);
                    ends.add(batch.position().number() == count);
                    return true;
                })) {
            send(pipeline, count);
            pipeline.drain();
        }
        assertThat(records).hasSize(count);
        for (int i = 0; i < count; i++) {
            assertThat(records.get(i)).isEqualTo(Integer.toString(i));
        }
        assertThat(ends.indexOf(true)).isEqualTo(ends.size() - 1);
    }

    @Test
    void everyRecordArrivesOnceInOrderOnThreads() {
        try (Tasks tasks = ThreadTasks.create("pipeline-test")) {
            carriesAll(tasks, 100_000);
        }
    }

    @Test
    void everyRecordArrivesOnceInOrderInSimulation() {
        try (Tasks tasks = new SimTasks(Seeds.of("PipelineTest"), new SimClock())) {
            carriesAll(tasks, 20_000);
            carriesAll(tasks, 0);
        }
    }

    /** The bug: a producer that had rested went on by another thread, and the ring refused it. */
    @Test
    void aProducerMayGoOnByAnotherThread() throws InterruptedException {
        List<String> records = new ArrayList<>();
        try (Tasks tasks = ThreadTasks.create("pipeline-test");
                Pipeline pipeline =
                        Pipeline.start(tasks, "test", FeedMeters.unseen(Clock.system()), batch -> {
                            collect(batch, records);
                            return true;
                        })) {
            for (int i = 0; i < 3; i++) {
                AtomicReference<Throwable> failure = new AtomicReference<>();
                Thread producer = new Thread(() -> send(pipeline, 1_000));
                producer.setUncaughtExceptionHandler((_, e) -> failure.set(e));
                producer.start();
                producer.join();
                assertThat(failure).hasValue(null);
            }
            pipeline.drain();
        }
        assertThat(records).hasSize(3_000);
    }

    @Test
    void theFirstFailureEndsTheFlowAndReachesTheProducer() {
        try (Tasks tasks = new SimTasks(3, new SimClock())) {
            List<String> records = new ArrayList<>();
            IllegalStateException failure = new IllegalStateException("full");
            try (Pipeline pipeline =
                    Pipeline.start(tasks, "test", FeedMeters.unseen(Clock.system()), batch -> {
                        if (!records.isEmpty()) {
                            throw failure;
                        }
                        collect(batch, records);
                        return true;
                    })) {
                assertThatThrownBy(() -> {
                            send(pipeline, 50_000);
                            pipeline.drain();
                        })
                        .isSameAs(failure);
                assertThat(records).hasSize(512);
                assertThatThrownBy(pipeline::drain).isSameAs(failure);
                assertThat(records).hasSize(512);
            }
        }
    }

    @Test
    void aBatchThatIsPutOffComesAgainInItsOrder() {
        try (Tasks tasks = new SimTasks(4, new SimClock())) {
            List<String> records = new ArrayList<>();
            int[] calls = {0};
            try (Pipeline pipeline =
                    Pipeline.start(tasks, "test", FeedMeters.unseen(Clock.system()), batch -> {
                        if (calls[0]++ % 3 != 0) {
                            return false;
                        }
                        collect(batch, records);
                        return true;
                    })) {
                send(pipeline, 10_000);
                pipeline.drain();
            }
            assertThat(records).hasSize(10_000);
            assertThat(records.get(9_999)).isEqualTo("9999");
            assertThat(calls[0]).isGreaterThan(2 * 20);
        }
    }

    @Test
    void aHugeRecordGrowsABatchForOnceOnly() {
        Batch batch = new Batch();
        batch.begin("a", null);
        int hugeLength = 4 << 20;
        byte[] huge = new byte[hugeLength + 1];
        huge[hugeLength] = '\n';
        RecordFramer framer =
                new LineFramer(new ByteArrayInputStream(huge)::read, Quotes.NONE, ',', 0, 1);
        assertThat(framer.next()).isTrue();
        batch.add(new Slice().set(framer.frame().segment(), 0, hugeLength), framer.frame());
        assertThat(batch.isFull()).isTrue();
        assertThat(batch.byteCount()).isEqualTo(8 << 20);
        batch.clear();
        assertThat(batch.byteCount()).isZero();
        batch.begin("a", null);
        batch.add(Slice.of(new byte[7]), framer.frame());
        assertThat(batch.record(0, new Slice()).segment().byteSize()).isLessThan(1 << 20);
    }
}
