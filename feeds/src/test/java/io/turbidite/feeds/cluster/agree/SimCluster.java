package io.turbidite.feeds.cluster.agree;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.sim.Profile;
import io.turbidite.core.sim.SimDisk;
import io.turbidite.feeds.cluster.agree.ControllerLog.Outcome;
import io.turbidite.feeds.cluster.change.CarelessDisk;
import io.turbidite.feeds.cluster.change.Change;
import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.feeds.cluster.change.Change.DatasetDropped;
import io.turbidite.feeds.cluster.change.Change.IndexCreated;
import io.turbidite.feeds.cluster.change.Change.IndexDropped;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.feeds.cluster.change.Change.PartitionMoved;
import io.turbidite.feeds.cluster.change.Changes;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.feeds.cluster.change.Entry;

import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;
import java.util.TreeMap;

/**
 * A controller and three nodes, later four, on simulated disks, with mail that comes late, twice,
 * in any order or not at all; processes lose their power, or are killed, at steps of their disks;
 * the controller's disk is lost, damaged or replaced by an old copy now and then.
 *
 * <p>The oracle: a change that was told as recorded stays; one that was told as refused is nowhere;
 * what a node holds stays. Where the controller's disk was lost, only the last counts.
 */
final class SimCluster {
    static final String NAME = "CHANGES";
    private static final long CLUSTER = 0xC1;
    private static final int MAIL_MAX = 200;
    private static final int TRACE_MAX = 80;

    private final SplittableRandom random;
    private final SimBug bug;
    private final Map<String, Integer> met = new TreeMap<>();
    private final List<String> trace = new ArrayList<>();

    private final Map<String, SimNode> nodes = new TreeMap<>();
    private SimDisk disk;
    private @Nullable SimDisk backup;
    private int backupNodes;
    private @Nullable ControllerLog controller;
    private @Nullable Recovery recovery;
    private boolean mustRecover;

    /** Whether the disk is not what the controller left. */
    private boolean isTampered;

    private final List<Letter> mail = new ArrayList<>();
    private boolean isCalm;

    /** Whether a process is to end at a step that was chosen. */
    private boolean isScripted;

    private long nameCount;
    private @Nullable Entry asked;

    /** What must be in the end, by number from 1. */
    private final List<Entry> must = new ArrayList<>();

    private final List<Entry> refused = new ArrayList<>();

    private record Letter(String from, String to, Message message) {}

    /** The process ends at a step of its disk. */
    private static final class Ended extends RuntimeException {
        private static final long serialVersionUID = 1L;
    }

    /** A node's process and disk. */
    private static final class SimNode {
        final String name;
        SimDisk disk;

        @Nullable
        NodeLog log;

        @Nullable
        SimSchema schema;

        /** That its copy had at least when its process ended. */
        long held;

        SimNode(String name, SimDisk disk) {
            this.name = name;
            this.disk = disk;
        }
    }

    SimCluster(long seed, SimBug bug) {
        this.random = new SplittableRandom(seed);
        this.bug = bug;
        this.disk = newDisk();
        ControllerLog made = ControllerLog.create(disk(), NAME, CLUSTER, random.nextLong());
        controller = made;
        for (int i = 1; i <= 3; i++) {
            addNode("n" + i);
        }
    }

    private void addNode(String name) {
        nodes.put(name, new SimNode(name, newDisk()));
        start(Objects.requireNonNull(nodes.get(name)));
        propose(new NodeAdded(name));
        calm(60);
    }

    private SimDisk newDisk() {
        List<Profile> profiles = List.of(Profile.values());
        return new SimDisk(random.nextLong(), profiles.get(random.nextInt(profiles.size())));
    }

    private void note(String what) {
        met.merge(what, 1, Integer::sum);
        trace(what);
    }

    private void trace(String what) {
        if (trace.size() == TRACE_MAX) {
            trace.removeFirst();
        }
        trace.add(what);
    }

    /** The last things that happened. */
    String trace() {
        return String.join("\n", trace);
    }

    /** How often what happened. */
    Map<String, Integer> met() {
        return met;
    }

    // ---- processes ------------------------------------------------------------------------------

    private Disk disk() {
        return bug == SimBug.RECORDS_WITHOUT_SYNC ? new CarelessDisk(disk) : disk;
    }

    private void start(SimNode node) {
        try {
            SimSchema schema = new SimSchema(node.disk, node.name, bug);
            Disk used = bug == SimBug.COPIES_WITHOUT_SYNC ? new CarelessDisk(node.disk) : node.disk;
            node.log = NodeLog.open(used, NAME, CLUSTER, schema, random.nextLong());
            node.schema = schema;
            node.log.again((to, message) -> send(node.name, to, message));
        } catch (Ended e) {
            end(node);
        }
    }

    private void end(SimNode node) {
        note("node ends");
        if (node.log != null) {
            node.held = node.log.number();
        }
        node.log = null;
        node.schema = null;
        node.disk = afterEnd(node.disk);
    }

    /** A third of all are killed; others lose their power. */
    private SimDisk afterEnd(SimDisk of) {
        of.onOperation(step -> {});
        of.processDied();
        return random.nextInt(3) == 0 ? of : of.crashImage(random.nextLong());
    }

    private void endAtStep(SimDisk of, int step) {
        long[] left = {step};
        of.onOperation(operation -> {
            if (left[0]-- == 0) {
                throw new Ended();
            }
        });
    }

    private void endController() {
        note("controller ends");
        controller = null;
        recovery = null;
        asked = null; // what became of it is not known
        disk = afterEnd(disk);
    }

    private void startController() {
        try {
            if (mustRecover) {
                recovery = Recovery.begin(disk(), NAME, CLUSTER, random.nextLong(), nodes.keySet());
            } else {
                controller = ControllerLog.open(disk(), NAME, CLUSTER, random.nextLong());
            }
        } catch (Ended e) {
            endController();
        } catch (CorruptionException e) {
            assertThat(isTampered).as("a damaged log: %s", e.getMessage()).isTrue();
            note("damage found");
            mustRecover = true;
        }
    }

    /** The controller's disk is not what it was: what no node holds need not come back. */
    private void tamper(SimDisk replaced) {
        disk = replaced;
        isTampered = true;
        long held = 0;
        for (SimNode node : nodes.values()) {
            held = Math.max(held, node.log == null ? node.held : node.log.number());
        }
        while (must.size() > held) {
            must.removeLast();
        }
        refused.clear(); // of what was under way it is not known
    }

    private void loseDisk() {
        if (controller == null && recovery == null) {
            return;
        }
        int nodesNow = controller == null ? 0 : controller.map().nodes().size();
        endController();
        switch (random.nextInt(3)) {
            case 0 -> {
                note("disk lost");
                tamper(newDisk());
                mustRecover = true;
            }
            case 1 -> {
                note("disk damaged");
                if (disk.exists(NAME)) {
                    tamper(disk.copy());
                    long size = disk.status(NAME).byteCount();
                    disk.flipBit(NAME, random.nextLong(size), random.nextInt(8));
                }
            }
            default -> {
                if (backup != null && backupNodes == nodesNow && !mustRecover) {
                    note("old copy");
                    tamper(backup.copy());
                }
            }
        }
    }

    // ---- mail -----------------------------------------------------------------------------------

    private void send(String from, String to, Message message) {
        if (bug == SimBug.ABANDONS_NOTHING && message instanceof Message.Abandon) {
            return;
        }
        if (bug == SimBug.DOES_NOT_WAIT_FOR_ALL && message instanceof Message.Prepare prepare) {
            mail.add(
                    new Letter(to, from, new Message.Prepared(prepare.stamp(), prepare.attempt())));
        }
        if (!isCalm && random.nextInt(10) == 0) {
            note("mail lost");
            return;
        }
        mail.add(new Letter(from, to, message));
        if (!isCalm && random.nextInt(10) == 0) {
            note("mail twice");
            mail.add(new Letter(from, to, message));
        }
        if (mail.size() > MAIL_MAX) {
            mail.removeFirst();
        }
    }

    private SimNode node(String name) {
        return Objects.requireNonNull(nodes.get(name), name);
    }

    private void deliver() {
        if (mail.isEmpty()) {
            return;
        }
        Letter letter = mail.remove(isCalm ? 0 : random.nextInt(mail.size()));
        trace(letter.toString());
        if (letter.to().equals(Mail.CONTROLLER)) {
            toController(
                    letter.from(),
                    BentMail.toController(
                            bug, controller, recovery != null, letter.from(), letter.message()));
        } else {
            toNode(node(letter.to()), letter.message());
        }
        checkCopies();
    }

    private void toNode(SimNode node, Message message) {
        NodeLog log = node.log;
        SimSchema schema = node.schema;
        if (log == null || schema == null) {
            return;
        }
        try {
            schema.isServing = log.isServing();
            log.receive(
                    BentMail.toNode(bug, log, message),
                    (to, answer) -> send(node.name, to, answer));
            schema.isServing = log.isServing();
        } catch (Ended e) {
            end(node);
        }
    }

    private void toController(String from, Message message) {
        Mail answers = (to, answer) -> send(Mail.CONTROLLER, to, answer);
        try {
            if (recovery != null) {
                recovery.receive(from, message, answers);
                finishRecovery(recovery, answers);
            } else if (controller != null) {
                controller.receive(from, message, answers);
                look(controller);
            }
        } catch (Ended e) {
            endController();
        }
    }

    private void finishRecovery(Recovery running, Mail answers) {
        assertThat(running.stopped()).as("the recovery").isNull();
        if (running.isComplete()) {
            controller = running.finish(answers);
            recovery = null;
            mustRecover = false;
            isTampered = false;
            note("recovered");
        }
    }

    /** What became of what was asked, and whether it has stopped. */
    private void look(ControllerLog of) {
        String stopped = of.stopped();
        if (stopped != null) {
            assertThat(isTampered).as("it has stopped: %s", stopped).isTrue();
            note("stopped behind");
            endController();
            mustRecover = true;
            return;
        }
        Entry entry = asked;
        if (entry == null) {
            return;
        }
        switch (of.outcome()) {
            case Outcome.UnderWay _ -> {}
            case Outcome.Recorded recorded -> {
                assertThat(recorded.number()).isEqualTo(entry.number());
                note("recorded");
                asked = null;
                if (!isTampered) {
                    must.addAll(of.log().after(must.size(), Integer.MAX_VALUE));
                    assertThat(must.getLast()).isEqualTo(entry);
                }
            }
            case Outcome.Refused _ -> {
                note("refused");
                asked = null;
                refused.add(entry);
            }
        }
    }

    /** Copies are beginnings of one another. */
    private void checkCopies() {
        Map<Long, Entry> all = new HashMap<>();
        for (SimNode node : nodes.values()) {
            if (node.log != null) {
                for (Entry entry : node.log.log().after(0, Integer.MAX_VALUE)) {
                    Entry other = all.putIfAbsent(entry.number(), entry);
                    assertThat(other == null || other.equals(entry))
                            .as("node %s has another change %d", node.name, entry.number())
                            .isTrue();
                }
            }
        }
    }

    // ---- what happens ---------------------------------------------------------------------------

    /** Anything, so often; then all is well again, and looked at. */
    void run(int steps) {
        for (int i = 0; i < steps; i++) {
            step();
        }
        end();
    }

    /**
     * The same changes each time, without loss; one process ends at one step of its disk.
     *
     * @param process 0 for the controller, else the number of a node
     * @return whether it came to that step
     */
    boolean runScript(int process, int step) {
        isCalm = true;
        endAtStep(process == 0 ? disk : node("n" + process).disk, step);
        isScripted = true;
        ClusterMap map = Objects.requireNonNull(controller).map();
        for (Change change : List.of(
                DatasetCreated.inTurn(Changes.dataset("s", 4), map),
                new IndexCreated("s", Changes.index("one")),
                new PartitionMoved("s", 0, "n1", "n2"),
                new IndexDropped("s", "one"),
                new DatasetDropped("s"))) {
            propose(change);
            calm(6);
        }
        isScripted = false;
        end();
        return met.containsKey(process == 0 ? "controller ends" : "node ends");
    }

    private void step() {
        Mail ours = (to, message) -> send(Mail.CONTROLLER, to, message);
        int what = random.nextInt(1_000);
        List<SimNode> all = List.copyOf(nodes.values());
        SimNode node = all.get(random.nextInt(all.size()));
        if (what < 620) {
            deliver();
        } else if (what < 720) {
            again(node);
        } else if (what < 760) {
            againController();
        } else if (what < 860) {
            propose(anyChange());
        } else if (what < 875) {
            if (controller != null) {
                controller.giveUp("it took too long", ours);
                look(controller);
            }
        } else if (what < 880) {
            if (controller != null) {
                controller.lost(node.name);
            }
        } else if (what < 910) {
            endAtStep(random.nextInt(4) == 0 ? disk : node.disk, random.nextInt(8));
        } else if (what < 915) {
            endController();
        } else if (what < 930) {
            if (node.log != null) {
                end(node);
                start(node);
            }
        } else if (what < 985) {
            if (node.log == null) {
                start(node);
            }
            if (controller == null && recovery == null) {
                startController();
            }
        } else if (what < 990) {
            if (controller != null) {
                backup = disk.copy();
                backupNodes = controller.map().nodes().size();
            }
        } else if (what < 993) {
            loseDisk();
        } else if (what < 995 && nodes.size() == 3 && controller != null && !isTampered) {
            nodes.put("n4", new SimNode("n4", newDisk()));
            propose(new NodeAdded("n4"));
        }
    }

    private void again(SimNode node) {
        if (node.log != null) {
            node.log.again((to, message) -> send(node.name, to, message));
        }
    }

    private void againController() {
        Mail ours = (to, message) -> send(Mail.CONTROLLER, to, message);
        if (controller != null) {
            controller.again(ours);
        } else if (recovery != null) {
            recovery.again(ours);
        }
    }

    private Change anyChange() {
        ClusterMap map = controller == null ? ClusterMap.EMPTY : controller.map();
        return nodes.containsKey("n4") && !map.nodes().contains("n4")
                ? new NodeAdded("n4")
                : SimChanges.any(random, map, "d" + nameCount++);
    }

    private void propose(Change change) {
        if (controller == null) {
            return;
        }
        try {
            Entry next = controller.log().next(change);
            controller.propose(change, (to, message) -> send(Mail.CONTROLLER, to, message));
            note("proposed");
            asked = next;
            refused.remove(next);
            look(controller);
        } catch (InvalidRequestException e) {
            note("not possible");
        } catch (Ended e) {
            endController();
        }
    }

    // ---- the end --------------------------------------------------------------------------------

    /** Everybody is up, and mail comes. */
    private void calm(int rounds) {
        boolean before = isCalm;
        isCalm = true;
        for (int i = 0; i < rounds; i++) {
            for (SimNode node : nodes.values()) {
                if (!isScripted) {
                    node.disk.onOperation(step -> {});
                }
                if (node.log == null) {
                    start(node);
                }
                again(node);
            }
            if (!isScripted) {
                disk.onOperation(step -> {});
            }
            if (controller == null && recovery == null) {
                startController();
            }
            againController();
            for (int j = mail.size(); j > 0; j--) {
                deliver();
            }
        }
        isCalm = before;
    }

    private void end() {
        calm(40);
        isCalm = true;
        ControllerLog last = Objects.requireNonNull(
                controller,
                () -> "no controller in the end: " + met
                        + (recovery == null ? "" : ", missing: " + recovery.missing()));
        last.giveUp("the end", (to, message) -> send(Mail.CONTROLLER, to, message));
        look(last);
        calm(5);
        for (SimNode node : nodes.values()) {
            assertThat(Objects.requireNonNull(node.schema).hasLeftovers())
                    .as("leftovers on " + node.name)
                    .isFalse();
        }
        propose(DatasetCreated.inTurn(Changes.dataset("last", 16), last.map()));
        calm(40);
        assertThat(last.outcome()).isInstanceOf(Outcome.Recorded.class);
        assertThat(last.behind()).isEmpty();
        List<Entry> entries = last.log().after(0, Integer.MAX_VALUE);
        assertThat(entries.size()).isGreaterThanOrEqualTo(must.size());
        assertThat(entries.subList(0, must.size())).as("what was recorded").isEqualTo(must);
        assertThat(refused).as("what was refused").noneMatch(entries::contains);
        for (SimNode node : nodes.values()) {
            NodeLog log = Objects.requireNonNull(node.log);
            SimSchema schema = Objects.requireNonNull(node.schema);
            if (last.map().nodes().contains(node.name)) {
                assertThat(log.isServing()).as(node.name).isTrue();
                assertThat(log.log().after(0, Integer.MAX_VALUE)).isEqualTo(entries);
                assertThat(log.map()).isEqualTo(last.map());
                assertThat(schema.chains())
                        .isEqualTo(entries.stream().map(Entry::chain).toList());
            } else {
                assertThat(log.refused()).as(node.name).isEqualTo(Misfit.UNKNOWN_NODE);
            }
            assertThat(schema.hasLeftovers()).as("leftovers on " + node.name).isFalse();
        }
    }
}
