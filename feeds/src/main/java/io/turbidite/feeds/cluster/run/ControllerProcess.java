package io.turbidite.feeds.cluster.run;

import io.turbidite.core.Cleanup;
import io.turbidite.core.catalog.DatasetDefinition;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.agree.ControllerLog;
import io.turbidite.feeds.cluster.change.ClusterMap;
import io.turbidite.ops.cluster.ClusterController;
import io.turbidite.ops.cluster.ClusterIdentity;
import io.turbidite.ops.cluster.ClusterMessages;
import io.turbidite.ops.cluster.Placement;
import io.turbidite.ops.cluster.Placements;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The controller of a cluster at work: the log of changes, whose messages go over the engine's
 * connections, and jobs over what its map says. <em>Thread-safe.</em>
 *
 * <pre>
 * DIRECTORY/cluster/CHANGES   the log
 * DIRECTORY/cluster/LOCK      held by the process
 * DIRECTORY/engine            files of the engine
 * </pre>
 */
public final class ControllerProcess implements AutoCloseable {
    /** The log of changes, of a controller and of a node. */
    static final String LOG = "CHANGES";

    /** What a node's store has of the log. */
    static final String APPLIED = "APPLIED";

    /** Held by the process that works on the directory. */
    static final String LOCK = "LOCK";

    /** How long a job waits for nodes that are there and lack the last change. */
    private static final Duration LEVEL_WAIT = Duration.ofSeconds(2);

    private final Disk.Lock lock;
    private final ControllerRun changes;
    private final ClusterController jobs;
    private final ClusterWrites writes;

    private ControllerProcess(
            Disk.Lock lock, ControllerRun changes, ClusterController jobs, ClusterWrites writes) {
        this.writes = writes;
        this.lock = lock;
        this.changes = changes;
        this.jobs = jobs;
    }

    /**
     * Where it is, and whose.
     *
     * @param directory made where it is not there
     * @param nodePort the port on which it listens for nodes
     * @param idlePort a port that the engine opens for clients, on which nobody is let in
     * @param identity who it is
     * @param clusterId a random number, the cluster's
     * @param pace how long things take
     */
    public record Settings(
            Path directory,
            int nodePort,
            int idlePort,
            ClusterIdentity identity,
            long clusterId,
            ControllerRun.Settings pace) {}

    /** Drops messages until both of its ends are set. */
    private static final class Line implements Post, ClusterMessages {
        private volatile @Nullable ControllerRun changes;
        private volatile @Nullable ClusterController jobs;
        private volatile @Nullable ClusterWrites writes;

        @Override
        public void send(String to, byte[] message) {
            ClusterController way = jobs;
            if (way != null) {
                way.send(to, message);
            }
        }

        @Override
        public void arrived(String sender, byte[] message) {
            if (WriteCodec.isOne(message)) {
                ClusterWrites own = writes;
                if (own != null) {
                    own.arrived(sender, message);
                }
                return;
            }
            ControllerRun of = changes;
            if (of != null) {
                of.arrived(sender, message);
            }
        }

        @Override
        public void left(String node) {
            ControllerRun of = changes;
            if (of != null) {
                of.left(node);
            }
            ClusterWrites own = writes;
            if (own != null) {
                own.left(node);
            }
        }
    }

    /**
     * Starts it, of a new cluster where the directory has no log.
     *
     * @throws io.turbidite.core.StoreInUseException if another one works on the directory
     * @throws io.turbidite.core.CorruptionException if the log is damaged
     * @throws io.turbidite.ops.cluster.ClusterException if it can't start; nothing is left of it
     *     then
     */
    public static ControllerProcess start(Settings settings, Tasks tasks, Clock clock) {
        Line line = new Line();
        Disk disk = RealDisk.open(settings.directory().resolve("cluster"));
        Disk.Lock lock = disk.tryLock(LOCK).orRefuse(disk.description());
        ControllerRun changes;
        try {
            changes = changes(settings, disk, line, tasks, clock);
        } catch (RuntimeException | Error e) {
            new Cleanup().add(lock::close).runAfter(e);
            throw e;
        }
        try {
            line.changes = changes;
            ClusterController jobs = ClusterController.start(
                    new ClusterController.Settings(
                            madeEngine(settings.directory()),
                            settings.nodePort(),
                            settings.idlePort(),
                            settings.identity()),
                    new Stamps(changes),
                    line);
            ClusterWrites writes =
                    new ClusterWrites(changes, line, tasks, clock, ClusterWrites.PATIENCE);
            line.writes = writes;
            line.jobs = jobs;
            return new ControllerProcess(lock, changes, jobs, writes);
        } catch (RuntimeException | Error e) {
            new Cleanup().add(changes::close).add(lock::close).runAfter(e);
            throw e;
        }
    }

    private static ControllerRun changes(
            Settings settings, Disk disk, Post post, Tasks tasks, Clock clock) {
        long process = new SecureRandom().nextLong();
        ControllerLog log = disk.exists(LOG)
                ? ControllerLog.open(disk, LOG, settings.clusterId(), process)
                : ControllerLog.create(disk, LOG, settings.clusterId(), process);
        try {
            return new ControllerRun(log, post, tasks, clock, settings.pace());
        } catch (RuntimeException | Error e) {
            new Cleanup().add(log::close).runAfter(e);
            throw e;
        }
    }

    /** A directory for the engine, which takes a path. */
    static String madeEngine(Path directory) {
        Path engine = directory.resolve("engine");
        var _ = RealDisk.open(engine);
        return engine.toString();
    }

    /** What jobs are made by. */
    private record Stamps(ControllerRun changes) implements Placements {
        /** Behind a change that was just made: a node may not have it yet, and would refuse. */
        @Override
        public Placement now() {
            changes.awaitAll(LEVEL_WAIT);
            return placement(changes.stamped());
        }
    }

    /** What each node holds by the map, and the stamps of jobs for it. */
    private static Placement placement(ControllerRun.Stamped stamped) {
        ClusterMap map = stamped.map();
        List<Placement.Node> nodes = map.nodes().stream()
                .map(node -> {
                    Map<String, Integer> partitions = new HashMap<>();
                    map.datasets()
                            .forEach((name, placed) -> placed.owners().stream()
                                    .filter(node::equals)
                                    .forEach(_ -> partitions.merge(name, 1, Integer::sum)));
                    return new Placement.Node(
                            node, partitions, JobStamps.mark(stamped.stamps().get(node)));
                })
                .toList();
        Map<String, DatasetDefinition> datasets = new HashMap<>();
        map.datasets().forEach((name, placed) -> datasets.put(name, placed.definition()));
        return new Placement(nodes, datasets);
    }

    /** The log of changes. */
    public ControllerRun changes() {
        return changes;
    }

    /** Runs jobs on the nodes. */
    public ClusterController jobs() {
        return jobs;
    }

    /** Writes records to their owners. */
    public ClusterWrites writes() {
        return writes;
    }

    /** Ends all jobs, lets no node in any more, and closes the log. */
    @Override
    public void close() {
        new Cleanup().add(jobs::close).add(changes::close).add(lock::close).run();
    }
}
