package io.turbidite.ops.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.job.JobConnector;
import io.turbidite.ops.job.JobFixture;
import io.turbidite.ops.job.JobStage;
import io.turbidite.ops.run.Rows;
import io.turbidite.ops.run.RunOptions;

import org.apache.hyracks.api.comm.IFrameWriter;
import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.value.ISerializerDeserializer;
import org.apache.hyracks.api.dataflow.value.RecordDescriptor;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.junit.jupiter.api.Test;

import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;

/** A task without an engine: what it tells its readers, and what it ends with. */
class StageTaskTest {
    private static final RecordType TYPE =
            RecordType.builder().field("a", "int64").build();

    private static final RecordDescriptor FIELDS =
            new RecordDescriptor(new ISerializerDeserializer<?>[1]);

    /** What the readers are told. */
    private final List<String> told = new ArrayList<>();

    /** What the readers of the inputs say. */
    private final InputEnds ends = new InputEnds();

    private boolean isClosed;
    private boolean failsToClose;
    private boolean hasNoMemory;
    private boolean pauses;

    /** Reads both inputs to their ends, and gives nothing. */
    private final class Both implements Rows {
        private final List<Rows> inputs;

        Both(StageTask task) {
            inputs = List.of(task.input("left"), task.input("right"));
        }

        @Override
        public boolean next() {
            for (Rows input : inputs) {
                while (input.next()) {
                    // nothing is made of it
                }
            }
            return false;
        }

        @Override
        public boolean isPaused() {
            return pauses || inputs.stream().anyMatch(Rows::isPaused);
        }

        @Override
        public RecordView row() {
            throw new AssertionError("there is none");
        }

        @Override
        public void close() {
            isClosed = true;
            if (failsToClose) {
                throw new UnsupportedOperationException("not to be closed");
            }
        }
    }

    private StageTask task(Runnable end) throws HyracksDataException {
        JobStage stage = new JobStage(
                "both",
                1,
                List.of(
                        JobConnector.roundRobin("left", "both"),
                        JobConnector.roundRobin("right", "both")),
                null,
                List.of(),
                0,
                TYPE);
        StageTask task = new StageTask(
                context(),
                stage,
                List.of(TYPE, TYPE),
                0,
                "node 'n', stage 'both'",
                new StageTask.Life(Both::new, end));
        task.setOutputFrameWriter(0, new Readers(), FIELDS);
        task.initialize();
        task.getInputFrameWriter(0).open();
        task.getInputFrameWriter(1).open();
        return task;
    }

    private IHyracksTaskContext context() {
        return (IHyracksTaskContext) Proxy.newProxyInstance(
                StageTaskTest.class.getClassLoader(),
                new Class<?>[] {IHyracksTaskContext.class},
                (_, method, _) -> switch (method.getName()) {
                    case "getSharedObject" -> ends;
                    case "getInitialFrameSize" -> JobMaker.FRAME_BYTES;
                    case "allocateFrame" -> {
                        if (hasNoMemory) {
                            throw new OutOfMemoryError("frames");
                        }
                        yield ByteBuffer.allocate(JobMaker.FRAME_BYTES);
                    }
                    default -> throw new UnsupportedOperationException(method.getName());
                });
    }

    private final class Readers implements IFrameWriter {
        @Override
        public void open() {
            told.add("open");
        }

        @Override
        public void nextFrame(ByteBuffer buffer) {
            told.add("frame");
        }

        @Override
        public void fail() {
            told.add("fail");
        }

        @Override
        public void close() {
            told.add("close");
        }
    }

    private void end(StageTask task, int input) throws HyracksDataException {
        ends.reached();
        task.getInputFrameWriter(input).close();
    }

    @Test
    void inputs_that_end_end_the_task() throws HyracksDataException {
        StageTask task = task(() -> told.add("end"));
        end(task, 0);
        assertThat(told).containsExactly("open");
        end(task, 1);
        task.deinitialize();
        assertThat(told).containsExactly("open", "close", "end");
        assertThat(isClosed).isTrue();
    }

    /** The engine has a task end well whose second input was cut off. */
    @Test
    void an_input_that_is_cut_off_fails_the_task_even_if_it_is_the_second() throws Exception {
        StageTask task = task(() -> {});
        task.getInputFrameWriter(1).fail();
        task.getInputFrameWriter(1).close();
        end(task, 0);
        assertThat(told).containsExactly("open", "fail");
        assertThatThrownBy(task::deinitialize)
                .hasMessageContaining("{{IllegalStateException|node 'n', stage 'both'|an input");
        assertThat(isClosed).isTrue();
    }

    /** The engine closes an input whose reader was thrown an Error, or was ordered to end. */
    @Test
    void an_input_that_is_closed_before_its_end_is_cut_off() throws Exception {
        StageTask task = task(() -> {});
        end(task, 0);
        task.getInputFrameWriter(1).close();
        assertThat(told).containsExactly("open", "fail");
        assertThatThrownBy(task::deinitialize).hasMessageContaining("an input was cut off");
        assertThat(isClosed).isTrue();
    }

    /** On the thread by which the engine gives work to its node. */
    @Test
    void a_task_without_memory_for_its_output_fails_and_not_its_node() {
        hasNoMemory = true;
        assertThatThrownBy(() -> task(() -> {}))
                .isInstanceOf(HyracksDataException.class)
                .hasMessageContaining("{{OutOfMemoryError|node 'n', stage 'both'|frames}}");
    }

    /** The same thread may read another input when it has read one. */
    @Test
    void an_end_is_that_of_one_input() throws Exception {
        StageTask task = task(() -> {});
        ends.reached();
        task.getInputFrameWriter(1).close();
        task.getInputFrameWriter(0).close();
        assertThat(told).containsExactly("open", "fail");
        assertThatThrownBy(task::deinitialize).hasMessageContaining("an input was cut off");
    }

    @Test
    void a_task_that_was_stopped_before_its_inputs_came_does_not_end_well() throws Exception {
        StageTask task = task(() -> {});
        assertThatThrownBy(task::deinitialize).hasMessageContaining("an input was cut off");
        assertThat(told).containsExactly("open", "fail", "close");
    }

    @Test
    void a_stage_that_waits_for_inputs_that_have_ended_fails() throws Exception {
        pauses = true;
        StageTask task = task(() -> {});
        end(task, 0);
        assertThatThrownBy(() -> end(task, 1))
                .hasMessageContaining("although all its inputs have ended");
        assertThat(told).containsExactly("open", "fail");
        assertThatThrownBy(task::deinitialize).hasMessageContaining("although all its inputs");
    }

    /** An exception of another class would not be read by the controller, and told to nobody. */
    @Test
    void what_fails_to_close_is_told_as_text_and_readers_are_told() throws Exception {
        failsToClose = true;
        StageTask task = task(() -> {});
        assertThatThrownBy(() -> task.getInputFrameWriter(1).fail())
                .isInstanceOf(HyracksDataException.class)
                .hasMessageContaining("{{UnsupportedOperationException|");
        assertThat(told).containsExactly("open", "fail");
        assertThatThrownBy(task::deinitialize).isInstanceOf(HyracksDataException.class);
        told.clear();
        StageTask stopped = task(() -> {});
        assertThatThrownBy(stopped::deinitialize)
                .isInstanceOf(HyracksDataException.class)
                .hasMessageContaining("{{UnsupportedOperationException|");
        assertThat(told).containsExactly("open", "fail", "close");
    }

    @Test
    void what_fails_at_the_very_end_fails_the_task() throws Exception {
        StageTask task = task(() -> {
            throw new UnsupportedOperationException("views");
        });
        end(task, 0);
        end(task, 1);
        assertThatThrownBy(task::deinitialize)
                .hasMessageContaining("{{UnsupportedOperationException|node 'n', stage 'both'|v");
    }

    /** The options of a node have a stop of the embedder's. */
    @Test
    void the_stop_of_a_node_stops_its_tasks() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        HostedJob job = HostedJob.of(
                JobFixture.groups(JobFixture.parts(2_000), 2, 1).toJson(),
                List.of(),
                JobFixture.parts(2_000),
                RunOptions.defaults().withStop(stop::get));
        for (boolean isStopped : new boolean[] {false, true}) {
            stop.set(isStopped);
            StageTask task = job.task(
                    context(),
                    "n",
                    new HostedJob.Work(
                            "flights", 0, _ -> new HostedJob.Share(List.of(0, 1), 4), 0, 9));
            task.setOutputFrameWriter(0, new Readers(), FIELDS);
            if (isStopped) {
                assertThatThrownBy(task::initialize)
                        .hasMessageContaining("{{CancellationException|");
                assertThatThrownBy(task::deinitialize)
                        .hasMessageContaining("{{CancellationException|");
            } else {
                task.initialize();
                task.deinitialize();
                assertThat(told).contains("frame");
            }
        }
        job.close();
    }
}
