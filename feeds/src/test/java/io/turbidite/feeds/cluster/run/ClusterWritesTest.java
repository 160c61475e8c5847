package io.turbidite.feeds.cluster.run;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.record.RecordWriter;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.ClusterWriteException;
import io.turbidite.feeds.cluster.ClusterWriteException.OnNode;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.ClusterMap.PlacedDataset;
import io.turbidite.feeds.cluster.run.WriteCodec.Outcome;
import io.turbidite.feeds.cluster.run.WriteCodec.Write;
import io.turbidite.feeds.cluster.run.WriteCodec.Written;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;

/** What became of a write is told, or that nobody knows. */
class ClusterWritesTest {
    private static final Duration LONG = Duration.ofSeconds(60);

    @TempDir
    Path home;

    private final Tasks tasks = ThreadTasks.create("writes");
    private ClusterOfStores cluster;
    private ClusterWrites writes;

    @BeforeEach
    void start() {
        cluster = new ClusterOfStores(home, 2, 1, UnaryOperator.identity());
        ControllerRun controller = cluster.controller();
        controller.change(
                DatasetCreated.inTurn(StoreSchemaTest.trips("Trips", 4), controller.map()), LONG);
        controller.awaitAll(LONG);
        writes = over(LONG, (_, _) -> {});
    }

    @AfterEach
    void end() {
        cluster.close();
        tasks.close();
    }

    private ClusterWrites over(Duration patience, Post post) {
        return new ClusterWrites(cluster.controller(), post, tasks, Clock.system(), patience);
    }

    private PlacedDataset placed() {
        return Objects.requireNonNull(cluster.controller().map().datasets().get("Trips"));
    }

    private byte[] trip(long id) {
        return new RecordWriter(placed().definition().type())
                .write(Map.of("id", id, "city", "Ulm"))
                .toByteArray();
    }

    private ClusterWrites.Batch batch(String... nodes) {
        Map<String, List<byte[]>> byNode = new TreeMap<>();
        for (String node : nodes) {
            byNode.put(node, List.of(trip(byNode.size())));
        }
        return new ClusterWrites.Batch("Trips", placed(), false, byNode);
    }

    /** Answers as a node does. */
    private void answer(String node, byte[] message, Outcome outcome) {
        Write write = (Write) WriteCodec.decode(message);
        writes.arrived(node, WriteCodec.encode(new Written(write.id(), outcome, "")));
    }

    @Test
    void where_no_answer_comes_it_is_not_known() {
        writes = over(Duration.ofSeconds(1), (node, message) -> {
            if (node.equals("n2")) {
                answer(node, message, Outcome.APPLIED);
            }
        });
        assertThatThrownBy(() -> writes.write(batch("n1", "n2")))
                .isInstanceOf(ClusterWriteException.class)
                .hasMessage("dataset 'Trips': not all nodes have written: node 'n1': 1 record not"
                        + " known (no answer within 1 s); node 'n2': 1 record applied")
                .isInstanceOfSatisfying(
                        ClusterWriteException.class,
                        told -> assertThat(told.nodes())
                                .containsExactly(
                                        new OnNode(
                                                "n1",
                                                1,
                                                ClusterWriteException.Outcome.NOT_KNOWN,
                                                "no answer within 1 s"),
                                        new OnNode(
                                                "n2",
                                                1,
                                                ClusterWriteException.Outcome.APPLIED,
                                                "")));
    }

    @Test
    void another_node_s_answer_is_none() {
        writes =
                over(Duration.ofSeconds(1), (_, message) -> answer("n2", message, Outcome.APPLIED));
        assertThatThrownBy(() -> writes.write(batch("n1")))
                .isInstanceOf(ClusterWriteException.class)
                .hasMessageContaining("1 record not known");
    }

    @Test
    void a_node_that_leaves_before_its_answer_is_not_waited_for() {
        writes = over(LONG, (node, _) -> writes.left(node));
        assertThatThrownBy(() -> writes.write(batch("n1")))
                .isInstanceOf(ClusterWriteException.class)
                .hasMessageContaining("1 record not known (it has left)");
    }

    @Test
    void what_is_for_a_node_that_is_away_is_not_applied() {
        assertThatThrownBy(() -> writes.write(batch("n9")))
                .isInstanceOf(ClusterWriteException.class)
                .hasMessage("dataset 'Trips': not all nodes have written:"
                        + " node 'n9': 1 record not applied (it is away)");
    }

    @Test
    void records_of_a_dataset_that_has_been_replaced_go_nowhere() {
        ClusterWrites.Batch before = batch("n1");
        ControllerRun controller = cluster.controller();
        controller.change(new DatasetDropped("Trips"), LONG);
        assertThatThrownBy(() -> writes.write(before))
                .isInstanceOf(ClusterWriteException.class)
                .hasMessageContaining("1 record not applied (the dataset is another one now)");
    }

    @Test
    void what_was_made_for_another_state_is_sent_once_more() {
        Outcome[] answers = {Outcome.STALE, Outcome.APPLIED};
        int[] sent = {0};
        writes = over(LONG, (node, message) -> answer(node, message, answers[sent[0]++]));
        writes.write(batch("n1"));
        assertThat(sent[0]).isEqualTo(2);
    }

    @Test
    void a_write_that_comes_twice_is_done_once_and_answered_alike() throws Exception {
        BlockingQueue<byte[]> answers = new LinkedBlockingQueue<>();
        try (NodeWrites node = new NodeWrites(
                "n1",
                cluster.store("n1"),
                cluster.node("n1"),
                answers::add,
                new NodeWrites.Turning(tasks, Clock.system()))) {
            Write write = new Write(
                    Objects.requireNonNull(
                            cluster.controller().stamped().stamps().get("n1")),
                    7,
                    "Trips",
                    false,
                    List.of(trip(1)));
            for (int i = 0; i < 2; i++) {
                node.arrived(WriteCodec.encode(write));
                assertThat(WriteCodec.decode(Objects.requireNonNull(
                                answers.poll(LONG.toSeconds(), TimeUnit.SECONDS))))
                        .isEqualTo(new Written(7, Outcome.APPLIED, ""));
            }
            node.arrived(WriteCodec.encode(
                    new Write(write.stamp(), 8, "Trips", false, write.records())));
            Written taken = (Written) WriteCodec.decode(
                    Objects.requireNonNull(answers.poll(LONG.toSeconds(), TimeUnit.SECONDS)));
            assertThat(taken.outcome()).isEqualTo(Outcome.NOT_APPLIED);
            assertThat(taken.why()).contains("primary key");
        }
        assertThat(cluster.store("n1").dataset("Trips").get(1L)).containsEntry("city", "Ulm");
    }

    @Test
    void a_damaged_message_is_refused() {
        byte[] message = WriteCodec.encode(new Written(1, Outcome.APPLIED, ""));
        for (int i = 0; i < message.length; i++) {
            byte[] damaged = message.clone();
            damaged[i] ^= 1;
            assertThatThrownBy(() -> WriteCodec.decode(damaged))
                    .isInstanceOf(InvalidRequestException.class);
        }
    }
}
