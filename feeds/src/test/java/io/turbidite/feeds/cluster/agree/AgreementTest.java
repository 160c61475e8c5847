package io.turbidite.feeds.cluster.agree;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.sim.Fault;
import io.turbidite.core.sim.FaultScript;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.sim.OperationKind;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.feeds.cluster.agree.ControllerLog.Outcome;
import io.turbidite.feeds.cluster.agree.Message.Prepare;
import io.turbidite.feeds.cluster.agree.Message.Unfit;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.Changes;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

import java.util.ArrayDeque;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import java.util.Set;
import java.util.function.Predicate;
import java.util.stream.IntStream;

/** What a controller and its nodes say of one another when something does not fit. */
@LeaksOnPurpose("processes end with files open")
class AgreementTest {
    private static final String NAME = "CHANGES";
    private static final long CLUSTER = 0xC1;

    private record Letter(String from, String to, Message message) {}

    private final SimDisk disk = new SimDisk(1, Profile.STRICT);
    private final Map<String, SimDisk> disks = new HashMap<>();
    private final Map<String, NodeLog> nodes = new HashMap<>();
    private final Queue<Letter> mail = new ArrayDeque<>();
    private final Mail ours = (to, message) -> mail.add(new Letter(Mail.CONTROLLER, to, message));
    private Predicate<Letter> comes = letter -> true;
    private long processCount;
    private ControllerLog controller = ControllerLog.create(disk, NAME, CLUSTER, 1);

    @BeforeEach
    void twoNodes() {
        for (String name : new String[] {"n1", "n2"}) {
            controller.propose(new NodeAdded(name), ours);
            deliver();
            open(name, CLUSTER);
            deliver();
        }
        assertThat(controller.map().nodes()).containsExactly("n1", "n2");
    }

    private NodeLog open(String name, long clusterId) {
        SimDisk own = disks.computeIfAbsent(name, any -> new SimDisk(2, Profile.STRICT));
        NodeLog log = NodeLog.open(
                own, NAME, clusterId, new SimSchema(own, name, SimBug.NONE), ++processCount);
        nodes.put(name, log);
        log.again((to, message) -> mail.add(new Letter(name, to, message)));
        return log;
    }

    private NodeLog node(String name) {
        return Objects.requireNonNull(nodes.get(name));
    }

    private void deliver() {
        for (Letter letter = mail.poll(); letter != null; letter = mail.poll()) {
            if (comes.test(letter)) {
                deliver(letter);
            }
        }
    }

    private void deliver(Letter letter) {
        if (letter.to().equals(Mail.CONTROLLER)) {
            controller.receive(letter.from(), letter.message(), ours);
        } else if (nodes.containsKey(letter.to())) {
            node(letter.to())
                    .receive(
                            letter.message(),
                            (to, message) -> mail.add(new Letter(letter.to(), to, message)));
        }
    }

    private void again() {
        nodes.forEach((name, node) ->
                node.again((to, message) -> mail.add(new Letter(name, to, message))));
        controller.again(ours);
        deliver();
    }

    private Change dataset(String name) {
        return DatasetCreated.inTurn(Changes.dataset(name, 4), controller.map());
    }

    private String refusal() {
        return controller.outcome() instanceof Outcome.Refused refused ? refused.why() : "none";
    }

    @Test
    void a_change_is_recorded_when_all_have_prepared_it() {
        controller.propose(dataset("Trips"), ours);
        assertThat(controller.outcome()).isInstanceOf(Outcome.UnderWay.class);
        comes = letter -> !(letter.message() instanceof Message.Entries);
        deliver();
        assertThat(controller.outcome()).isEqualTo(new Outcome.Recorded(3));
        assertThat(controller.behind()).containsExactly("n1", "n2");
        comes = letter -> true;
        again();
        assertThat(controller.behind()).isEmpty();
        assertThat(node("n2").map()).isEqualTo(controller.map());
    }

    @Test
    void a_change_needs_all_nodes_and_is_the_only_one() {
        controller.propose(dataset("Trips"), ours);
        assertThatThrownBy(() -> controller.propose(dataset("Other"), ours))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("can't create dataset 'Other': create dataset 'Trips' is under way");
        deliver();
        controller.lost("n2");
        assertThatThrownBy(() -> controller.propose(dataset("Other"), ours))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessage("can't create dataset 'Other': a change needs all nodes, and n2 is"
                        + " away");
        controller.lost("n1");
        assertThatThrownBy(() -> controller.propose(dataset("Other"), ours))
                .hasMessageContaining("n1, n2 are away");
        assertThatThrownBy(() -> controller.propose(new DatasetDropped("Gone"), ours))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("there is no dataset of this name");
    }

    @Test
    void what_one_node_can_not_do_is_not_recorded_and_left_nowhere() {
        controller.propose(dataset("Trips"), ours);
        deliver();
        // see SimSchema: n2 can't, n1 can
        String bad = IntStream.range(0, 100)
                .mapToObj(i -> "i" + i)
                .filter(name -> (name + "n2").hashCode() % 4 == 0)
                .findFirst()
                .orElseThrow();
        controller.propose(new IndexCreated("Trips", Changes.index(bad)), ours);
        deliver();
        assertThat(refusal()).isEqualTo("node 'n2': a record has a key that is too long");
        assertThat(controller.number()).isEqualTo(3);
        assertThat(disks.values()).noneMatch(own -> own.exists("unseen"));
    }

    @Test
    void a_change_that_takes_too_long_is_given_up() {
        comes = letter -> !(letter.message() instanceof Message.Prepared);
        controller.propose(dataset("Trips"), ours);
        deliver();
        assertThat(disks.get("n1"))
                .satisfies(own ->
                        assertThat(Objects.requireNonNull(own).exists("unseen")).isTrue());
        controller.giveUp("n2 did not answer for 10 s", ours);
        deliver();
        assertThat(refusal()).isEqualTo("n2 did not answer for 10 s");
        assertThat(disks.values()).noneMatch(own -> own.exists("unseen"));
    }

    @Test
    void a_refusal_is_answered_once() {
        comes = letter -> !(letter.message() instanceof Prepare);
        controller.propose(dataset("Trips"), ours);
        deliver();
        Stamp stamp = controller.stampFor("n1");
        controller.receive("n1", new Unfit(stamp, Misfit.OTHER_NUMBER), ours);
        assertThat(mail)
                .anyMatch(
                        letter -> letter.to().equals("n1") && letter.message() instanceof Prepare);
        assertThat(controller.outcome()).isInstanceOf(Outcome.UnderWay.class);
        controller.receive("n1", new Unfit(stamp, Misfit.OTHER_NUMBER), ours);
        assertThat(refusal())
                .isEqualTo("node 'n1' has refused twice: it was made for another number of the log"
                        + " of changes");
    }

    @Test
    void jobs_fit_a_cluster_an_epoch_a_registration_and_a_number() {
        NodeLog node = node("n1");
        Stamp now = controller.stampFor("n1");
        assertThat(node.isServing()).isTrue();
        assertThat(node.misfit(now)).isNull();
        assertThat(node.misfit(new Stamp(7, now.epoch(), now.registration(), now.number())))
                .isEqualTo(Misfit.OTHER_CLUSTER);
        assertThat(node.misfit(controller.stampFor("n2"))).isEqualTo(Misfit.OTHER_REGISTRATION);
        assertThat(node.misfit(now.at(1))).isEqualTo(Misfit.OTHER_NUMBER);
        controller.close();
        controller = ControllerLog.open(disk, NAME, CLUSTER, 2);
        again();
        again();
        assertThat(node.misfit(now)).isEqualTo(Misfit.OLD_EPOCH);
        assertThat(node.misfit(controller.stampFor("n1"))).isNull();
    }

    @Test
    void a_node_that_was_away_applies_what_it_missed_before_it_serves() {
        comes = letter ->
                !(letter.to().equals("n2") && letter.message() instanceof Message.Entries);
        controller.propose(dataset("Trips"), ours);
        deliver();
        node("n2").close();
        NodeLog back = open("n2", CLUSTER);
        deliver();
        assertThat(back.number()).isEqualTo(2);
        assertThat(back.isServing()).isFalse();
        assertThat(back.misfit(controller.stampFor("n2"))).isNotNull();
        comes = letter -> true;
        again();
        assertThat(back.isServing()).isTrue();
        assertThat(back.map()).isEqualTo(controller.map());
    }

    @Test
    void a_welcome_for_a_process_that_has_ended_is_none() {
        Letter[] late = new Letter[1];
        comes = letter -> {
            if (letter.message() instanceof Message.Welcome) {
                late[0] = letter;
            }
            return !(letter.message() instanceof Message.Welcome);
        };
        node("n1").close();
        open("n1", CLUSTER).close();
        deliver();
        NodeLog back = open("n1", CLUSTER);
        deliver(late[0]);
        assertThat(back.isServing()).isFalse();
        comes = letter -> true;
        deliver();
        assertThat(back.isServing()).isTrue();
    }

    @Test
    void a_node_of_another_cluster_and_one_that_nobody_added_are_refused() {
        NodeLog foreign = open("n9", 7);
        NodeLog unknown = open("n3", CLUSTER);
        deliver();
        assertThat(foreign.refused()).isEqualTo(Misfit.OTHER_CLUSTER);
        assertThat(unknown.refused()).isEqualTo(Misfit.UNKNOWN_NODE);
        assertThat(unknown.isServing()).isFalse();
        controller.propose(new NodeAdded("n3"), ours);
        deliver();
        again();
        again();
        assertThat(unknown.refused()).isNull();
        assertThat(unknown.isServing()).isTrue();
        assertThatThrownBy(() -> open("n1", 7))
                .isInstanceOf(InvalidRequestException.class)
                .hasMessageContaining("is of cluster 00000000000000c1, and this one is");
    }

    @Test
    void a_controller_that_is_behind_a_node_stops_and_says_so() {
        SimDisk old = disk.copy();
        controller.propose(dataset("Trips"), ours);
        deliver();
        controller = ControllerLog.open(old, NAME, CLUSTER, 9);
        node("n1").close();
        open("n1", CLUSTER);
        deliver();
        assertThat(controller.stopped())
                .isEqualTo("node 'n1' has change 3, and this log ends with 2; start it with"
                        + " --recover when all nodes are there");
        assertThatThrownBy(() -> controller.propose(dataset("Other"), ours))
                .isInstanceOf(StoreFailedException.class)
                .hasMessageContaining("the controller has stopped: node 'n1' has change 3");
        NodeLog other = open("n2", CLUSTER);
        deliver();
        assertThat(other.refused()).isEqualTo(Misfit.STOPPED);
    }

    @Test
    void of_two_controllers_from_one_directory_the_second_stops() {
        SimDisk copied = disk.copy();
        controller.close();
        controller = ControllerLog.open(disk, NAME, CLUSTER, 2);
        again();
        again();
        assertThat(node("n1").isServing()).isTrue();
        controller = ControllerLog.open(copied, NAME, CLUSTER, 3);
        again();
        again();
        assertThat(controller.stopped()).contains("two run from copies of one directory");
        assertThat(node("n1").log().epoch().process()).isEqualTo(2);
    }

    @Test
    void a_controller_before_another_one_stops() {
        ControllerLog before = controller;
        SimDisk copied = disk.copy();
        controller = ControllerLog.open(copied, NAME, CLUSTER, 2);
        again();
        again();
        assertThat(node("n1").isServing()).isTrue();
        controller = before;
        controller.propose(dataset("Trips"), ours);
        deliver();
        assertThat(controller.stopped())
                .isEqualTo("node 'n1' refuses it: a later controller has"
                        + " started; start it with --recover when all nodes are there");
        assertThat(controller.number()).isEqualTo(2);
    }

    @Test
    void a_controller_that_can_not_write_stops() {
        controller.propose(dataset("Trips"), ours);
        disk.fault(FaultScript.with(Fault.EIO).on(OperationKind.SYNC));
        assertThatThrownBy(this::deliver).isInstanceOf(StorageIoException.class);
        assertThat(controller.stopped()).contains("it is not known whether change 3 is recorded");
    }

    @Test
    void a_recovery_takes_the_highest_copy_when_all_nodes_are_there() {
        comes = letter ->
                !(letter.to().equals("n1") && letter.message() instanceof Message.Entries);
        controller.propose(dataset("Trips"), ours);
        deliver();
        comes = letter -> true;
        assertThat(node("n1").number()).isEqualTo(2);
        SimDisk empty = new SimDisk(5, Profile.STRICT);
        Recovery recovery = Recovery.begin(empty, NAME, CLUSTER, 4, Set.of());
        recover(recovery, "n1");
        assertThat(recovery.missing()).containsExactly("n2");
        assertThatThrownBy(() -> recovery.finish(ours))
                .isInstanceOf(StoreFailedException.class)
                .hasMessage("the cluster can't be recovered without all nodes; missing: [n2]");
        recover(recovery, "n2");
        assertThat(recovery.isComplete()).isTrue();
        controller = recovery.finish(ours);
        deliver();
        again();
        assertThat(controller.number()).isEqualTo(3);
        assertThat(node("n1").map()).isEqualTo(controller.map());
        assertThat(node("n1").isServing()).isTrue();
        assertThat(node("n2").isServing()).isTrue();
    }

    @Test
    void a_recovery_waits_for_a_node_that_only_a_person_knows_of() {
        comes = letter -> letter.to().equals(Mail.CONTROLLER)
                || letter.to().equals("n3")
                || !(letter.message() instanceof Message.Entries);
        controller.propose(new NodeAdded("n3"), ours);
        deliver();
        open("n3", CLUSTER);
        deliver();
        assertThat(node("n1").number()).isEqualTo(2);
        assertThat(node("n3").number()).isEqualTo(3);
        Recovery recovery =
                Recovery.begin(new SimDisk(5, Profile.STRICT), NAME, CLUSTER, 4, Set.of("n3"));
        recover(recovery, "n1");
        recover(recovery, "n2");
        assertThat(recovery.missing()).containsExactly("n3");
        assertThat(recovery.isComplete()).isFalse();
        recover(recovery, "n3");
        assertThat(recovery.isComplete()).isTrue();
        assertThat(recovery.finish(ours).number()).isEqualTo(3);
    }

    /** One node talks with a recovery until it has no more to say. */
    private void recover(Recovery recovery, String name) {
        Queue<Letter> letters = new ArrayDeque<>();
        Mail back = (to, message) -> letters.add(new Letter(name, to, message));
        Mail there = (to, message) -> letters.add(new Letter(Mail.CONTROLLER, to, message));
        for (int i = 0; i < 3; i++) {
            node(name).again(back);
            for (Letter next = letters.poll(); next != null; next = letters.poll()) {
                if (next.to().equals(name)) {
                    node(name).receive(next.message(), back);
                } else if (next.to().equals(Mail.CONTROLLER)) {
                    recovery.receive(name, next.message(), there);
                }
            }
        }
    }

    @Test
    void a_recovery_of_two_histories_stops() {
        SimDisk other = disk.copy();
        SimDisk second = Objects.requireNonNull(disks.get("n2")).copy();
        controller.propose(dataset("Trips"), ours);
        deliver();
        // somebody lets a copy of the cluster go on beside it
        controller = ControllerLog.open(other, NAME, CLUSTER, 8);
        controller.lost("n1");
        disks.put("n2", second);
        NodeLog first = node("n1");
        SimDisk firstCopy = new SimDisk(6, Profile.STRICT);
        disks.put("n1", firstCopy);
        open("n1", CLUSTER);
        open("n2", CLUSTER);
        deliver();
        again();
        controller.propose(dataset("Other"), ours);
        deliver();
        assertThat(controller.number()).isEqualTo(3);
        nodes.put("n1", first);
        Recovery recovery =
                Recovery.begin(new SimDisk(7, Profile.STRICT), NAME, CLUSTER, 9, Set.of());
        recover(recovery, "n1");
        recover(recovery, "n2");
        assertThat(recovery.stopped())
                .contains("two controllers have changed this cluster")
                .contains("change 3 of node 'n2'");
        assertThat(recovery.isComplete()).isFalse();
    }
}
