package io.turbidite.feeds.cluster.run;

import io.turbidite.core.Cleanup;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.agree.NodeLog;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.catalog.StoreCatalog;
import io.turbidite.ops.cluster.ClusterIdentity;
import io.turbidite.ops.cluster.ClusterMessages;
import io.turbidite.ops.cluster.ClusterNode;
import io.turbidite.ops.job.JobParts;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;

import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Duration;

/**
 * A node of a cluster at work over a store: its copy of the log of changes, whose messages go over
 * the engine's connections, and its part of jobs. The store stays the caller's, and nobody else
 * changes its datasets. <em>Thread-safe.</em>
 *
 * <pre>
 * DIRECTORY/cluster/CHANGES   its copy of the log
 * DIRECTORY/cluster/APPLIED   what the store has of it
 * DIRECTORY/cluster/LOCK      held by the process
 * DIRECTORY/engine            files of the engine
 * </pre>
 */
public final class NodeProcess implements AutoCloseable {
    private final Disk.Lock lock;
    private final NodeRun changes;
    private final ClusterNode jobs;
    private final NodeWrites writes;

    private NodeProcess(Disk.Lock lock, NodeRun changes, ClusterNode jobs, NodeWrites writes) {
        this.writes = writes;
        this.lock = lock;
        this.changes = changes;
        this.jobs = jobs;
    }

    /**
     * Where it is, and whose.
     *
     * @param name that the cluster's map has
     * @param directory made where it is not there
     * @param controllerAddress of the controller, a number, not a name
     * @param controllerPort the port on which the controller listens for nodes
     * @param identity who it is
     * @param clusterId a random number, the cluster's
     * @param every how often it says that it is there
     * @param options what each job may use on it
     */
    public record Settings(
            String name,
            Path directory,
            String controllerAddress,
            int controllerPort,
            ClusterIdentity identity,
            long clusterId,
            Duration every,
            RunOptions options) {}

    /** Drops messages until both of its ends are set. */
    private static final class Line implements Post, ClusterMessages {
        private volatile @Nullable NodeRun changes;
        private volatile @Nullable ClusterNode jobs;
        private volatile @Nullable NodeWrites writes;

        @Override
        public void send(String to, byte[] message) {
            ClusterNode way = jobs;
            if (way != null) {
                way.send(message);
            }
        }

        @Override
        public void arrived(String sender, byte[] message) {
            if (WriteCodec.isOne(message)) {
                NodeWrites own = writes;
                if (own != null) {
                    own.arrived(message);
                }
                return;
            }
            NodeRun of = changes;
            if (of != null) {
                of.arrived(message);
            }
        }
    }

    /**
     * Starts it, and has it join.
     *
     * @throws io.turbidite.core.StoreInUseException if another one works on the directory
     * @throws io.turbidite.core.CorruptionException if its copy of the log is damaged
     * @throws io.turbidite.core.InvalidRequestException if its copy is of another cluster, or its
     *     store is not what the copy says
     * @throws io.turbidite.ops.cluster.ClusterException if it can't start, or the controller can't
     *     be reached or refuses it; nothing is left of it then
     */
    public static NodeProcess start(Settings settings, Store store, Tasks tasks, Clock clock) {
        Line line = new Line();
        Disk disk = RealDisk.open(settings.directory().resolve("cluster"));
        Disk.Lock lock = disk.tryLock(ControllerProcess.LOCK).orRefuse(disk.description());
        NodeRun changes;
        try {
            changes = changes(settings, disk, store, line, tasks, clock);
        } catch (RuntimeException | Error e) {
            new Cleanup().add(lock::close).runAfter(e);
            throw e;
        }
        NodeWrites writes = new NodeWrites(
                settings.name(),
                store,
                changes,
                message -> line.send(ClusterIdentity.CONTROLLER, message),
                new NodeWrites.Turning(tasks, clock));
        try {
            line.changes = changes;
            line.writes = writes;
            ClusterNode jobs = ClusterNode.start(
                    new ClusterNode.Settings(
                            settings.name(),
                            ControllerProcess.madeEngine(settings.directory()),
                            settings.controllerAddress(),
                            settings.controllerPort(),
                            settings.identity()),
                    () -> JobParts.of(store.datasets()),
                    new JobStamps(settings.name(), changes),
                    settings.options(),
                    line);
            line.jobs = jobs;
            return new NodeProcess(lock, changes, jobs, writes);
        } catch (RuntimeException | Error e) {
            new Cleanup()
                    .add(writes::close)
                    .add(changes::close)
                    .add(lock::close)
                    .runAfter(e);
            throw e;
        }
    }

    private static NodeRun changes(
            Settings settings, Disk disk, Store store, Post post, Tasks tasks, Clock clock) {
        StoreSchema schema = StoreSchema.open(
                disk,
                ControllerProcess.APPLIED,
                settings.clusterId(),
                settings.name(),
                StoreCatalog.of(store, false));
        NodeLog log = NodeLog.open(
                disk,
                ControllerProcess.LOG,
                settings.clusterId(),
                schema,
                new SecureRandom().nextLong());
        try {
            if (schema.applied() == log.number()) {
                // a copy that is older than the store gets what is between when it registers
                schema.checkHas(log.map());
            }
            return new NodeRun(settings.name(), log, post, tasks, clock, settings.every());
        } catch (RuntimeException | Error e) {
            new Cleanup().add(log::close).runAfter(e);
            throw e;
        }
    }

    /** Its copy of the log of changes. */
    public NodeRun changes() {
        return changes;
    }

    /** Its part of jobs. */
    public ClusterNode jobs() {
        return jobs;
    }

    /** Leaves the cluster, and closes its copy; jobs that need it fail. The store stays open. */
    @Override
    public void close() {
        new Cleanup()
                .add(writes::close)
                .add(jobs::close)
                .add(changes::close)
                .add(lock::close)
                .run();
    }
}
