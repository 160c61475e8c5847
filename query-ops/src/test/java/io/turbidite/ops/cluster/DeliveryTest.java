package io.turbidite.ops.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.RecordView;
import io.turbidite.core.type.RecordType;
import io.turbidite.ops.job.HostedJobException;
import io.turbidite.ops.run.RunOptions;

import org.apache.hyracks.api.dataflow.IOperatorNodePushable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.util.List;
import java.util.Map;

/** The end of a result is told when its rows have ended, and at no other time. */
class DeliveryTest {
    private final Delivery delivery = new Delivery(
            new RecordView(RecordType.builder().field("a", "int64").build()),
            RunOptions.defaults());

    @Test
    void rows_that_have_ended_end_the_result() throws Exception {
        InputEnds ends = new InputEnds();
        IOperatorNodePushable task = delivery.task(ends);
        ends.reached();
        task.getInputFrameWriter(0).close();
        task.deinitialize();
        delivery.finished(null);
        assertThat(delivery.next()).isFalse();
    }

    /** The engine closes a task's input whatever its reader met. */
    @Test
    void rows_that_are_closed_before_their_end_fail_the_job() throws Exception {
        IOperatorNodePushable task = delivery.task(new InputEnds());
        task.getInputFrameWriter(0).close();
        assertThatThrownBy(task::deinitialize).hasMessageContaining("the rows were cut off");
        delivery.finished(null);
        assertThatThrownBy(delivery::next).isInstanceOf(HostedJobException.class);
    }

    /** Tasks that end still have views open, and rows in memory. */
    @Test
    void a_reader_that_goes_waits_for_the_tasks_of_a_job_that_has_failed() throws Exception {
        delivery.failed(new IllegalStateException("first"));
        Thread reader = Thread.ofPlatform().start(delivery::close);
        reader.join(300);
        assertThat(reader.isAlive()).isTrue();
        delivery.finished(null);
        reader.join(10_000);
        assertThat(reader.isAlive()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(strings = {"door", "controller"})
    void the_names_of_what_is_in_the_controllers_process_are_not_for_nodes(String name) {
        List<Placement.Node> nodes = List.of(new Placement.Node(name, Map.of()));
        assertThatThrownBy(() -> new Placement(nodes))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("can't be named '" + name);
    }
}
