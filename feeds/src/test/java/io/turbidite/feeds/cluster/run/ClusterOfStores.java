package io.turbidite.feeds.cluster.run;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.catalog.Catalog;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.agree.ControllerLog;
import io.turbidite.feeds.cluster.agree.Mail;
import io.turbidite.feeds.cluster.agree.NodeLog;
import io.turbidite.feeds.cluster.agree.NodeSchema;
import io.turbidite.feeds.cluster.change.Change.NodeAdded;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;

import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.function.UnaryOperator;

/** A controller and nodes with stores on disk, in this process; lines between them can be cut. */
final class ClusterOfStores implements AutoCloseable {
    static final long CLUSTER = 0xC3;

    private static final Duration EVERY = Duration.ofMillis(20);
    private static final Duration SILENCE = Duration.ofMillis(400);
    private static final String LOG = "CHANGES";
    private static final int LOST_PERCENT = 3;

    private final Path home;
    private final Tasks tasks = ThreadTasks.create("cluster");
    private final Clock clock = Clock.system();
    private final UnaryOperator<NodeSchema> bent;
    private final Map<String, Node> nodes = new TreeMap<>();

    /** Those that can be reached, by name; of any thread. */
    private final Map<String, Node> reached = new ConcurrentHashMap<>();

    private final Set<String> cut = ConcurrentHashMap.newKeySet();
    private final SplittableRandom random;
    private long processCount;
    volatile boolean losesMail;
    private volatile @Nullable ControllerRun controller;

    /** A node's process. */
    private final class Node implements AutoCloseable {
        final Store store;
        final Catalog catalog;
        final StoreSchema schema;
        final NodeRun run;

        Node(String name) {
            store = Store.open(made(name + "/store"));
            catalog = StoreCatalog.of(store, false);
            Disk disk = RealDisk.open(made(name + "/cluster"));
            schema = StoreSchema.open(disk, "APPLIED", CLUSTER, name, catalog);
            NodeLog log = NodeLog.open(disk, LOG, CLUSTER, bent.apply(schema), nextProcess());
            run = new NodeRun(name, log, post(name), tasks, clock, EVERY);
        }

        @Override
        public void close() {
            run.close();
            store.close();
        }
    }

    /** @param bent what a node's log has in place of the store's schema */
    ClusterOfStores(Path home, int count, long seed, UnaryOperator<NodeSchema> bent) {
        this.home = home;
        this.bent = bent;
        this.random = new SplittableRandom(seed);
        ControllerRun first = run(ControllerLog.create(
                RealDisk.open(made("controller")), LOG, CLUSTER, nextProcess()));
        controller = first;
        for (int i = 1; i <= count; i++) {
            String name = "n" + i;
            await("node " + name + " can be added", () -> first.behind().isEmpty());
            first.change(new NodeAdded(name), Duration.ofSeconds(10));
            start(name);
        }
        settle();
    }

    private long nextProcess() {
        return ++processCount;
    }

    private Path made(String name) {
        try {
            return Files.createDirectories(home.resolve(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private ControllerRun run(ControllerLog log) {
        return new ControllerRun(
                log,
                post(Mail.CONTROLLER),
                tasks,
                clock,
                new ControllerRun.Settings(EVERY, SILENCE));
    }

    private Post post(String from) {
        return (to, message) -> {
            if (cut.contains(from) || cut.contains(to) || isLost()) {
                return;
            }
            ControllerRun of = controller;
            if (!to.equals(Mail.CONTROLLER)) {
                Node node = reached.get(to);
                if (node != null) {
                    node.run.arrived(message);
                }
            } else if (of != null) {
                of.arrived(from, message);
            }
        };
    }

    private boolean isLost() {
        if (!losesMail) {
            return false;
        }
        synchronized (random) {
            return random.nextInt(100) < LOST_PERCENT;
        }
    }

    ControllerRun controller() {
        return Objects.requireNonNull(controller);
    }

    Set<String> names() {
        return nodes.keySet();
    }

    Catalog catalog(String node) {
        return Objects.requireNonNull(nodes.get(node)).catalog;
    }

    Store store(String node) {
        return Objects.requireNonNull(nodes.get(node)).store;
    }

    NodeRun node(String node) {
        return Objects.requireNonNull(nodes.get(node)).run;
    }

    boolean isUp(String node) {
        return reached.containsKey(node);
    }

    void start(String node) {
        Node started = new Node(node);
        nodes.put(node, started);
        reached.put(node, started);
    }

    void end(String node) {
        Node ended = reached.remove(node);
        if (ended != null) {
            ended.close();
        }
    }

    void restartController() {
        ControllerRun before = controller();
        controller = null;
        before.close();
        controller = run(
                ControllerLog.open(RealDisk.open(made("controller")), LOG, CLUSTER, nextProcess()));
    }

    /** Whether all are up and no line is cut. */
    boolean isWhole() {
        return cut.isEmpty() && reached.size() == nodes.size();
    }

    /** Waits until all serve and have all changes. */
    void settle() {
        await("all serve", this::isWell);
    }

    void cut(String process) {
        cut.add(process);
    }

    void join(String process) {
        cut.remove(process);
    }

    /** Every line is there, and every process. */
    void heal() {
        losesMail = false;
        cut.clear();
        for (String node : Set.copyOf(nodes.keySet())) {
            if (isUp(node) && node(node).failure() != null) {
                end(node);
            }
            if (!isUp(node)) {
                start(node);
            }
        }
        settle();
    }

    private boolean isWell() {
        ControllerRun of = controller();
        if (of.stopped() != null) {
            throw new AssertionError(of.stopped());
        }
        nodes.forEach((name, node) -> {
            Throwable failure = node.run.failure();
            if (failure != null) {
                throw new AssertionError("node %s has failed".formatted(name), failure);
            }
        });
        return of.behind().isEmpty()
                && nodes.values().stream()
                        .allMatch(node -> node.run.isServing() && node.run.number() == of.number());
    }

    /** What each store has is what the controller's map says. */
    void check() {
        nodes.forEach((name, node) -> {
            if (!node.run.map().equals(controller().map())) {
                throw new AssertionError("node %s has another map".formatted(name));
            }
            try {
                node.schema.check(controller().map());
            } catch (InvalidRequestException e) {
                throw new AssertionError(e.getMessage(), e);
            }
        });
    }

    void await(String what, BooleanSupplier condition) {
        long end = clock.monotonicNanos() + TimeUnit.SECONDS.toNanos(60);
        tasks.await(() -> {
            if (clock.monotonicNanos() > end) {
                throw new AssertionError("it takes too long until " + what);
            }
            return condition.getAsBoolean();
        });
    }

    @Override
    public void close() {
        ControllerRun last = controller;
        if (last != null) {
            last.close();
        }
        Set.copyOf(reached.keySet()).forEach(this::end);
        tasks.close();
    }
}
