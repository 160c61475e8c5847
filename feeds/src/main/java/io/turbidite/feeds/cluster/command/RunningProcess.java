package io.turbidite.feeds.cluster.command;

import io.turbidite.core.Cleanup;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.StoreDefaults;
import io.turbidite.feeds.cluster.door.ClusterDoor;
import io.turbidite.feeds.cluster.run.ControllerProcess;
import io.turbidite.feeds.cluster.run.ControllerRun;
import io.turbidite.feeds.cluster.run.NodeProcess;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.lsm.Store;
import io.turbidite.ops.cluster.ClusterIdentity;
import io.turbidite.ops.cluster.SerialFilter;
import io.turbidite.ops.run.RunOptions;

import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;

/** What a process of a cluster does from its start until it is asked to end. Static. */
final class RunningProcess {
    private static final String LOOPBACK = "127.0.0.1";
    private static final Duration EVERY = Duration.ofSeconds(1);

    private RunningProcess() {}

    /** Runs the controller; returns the exit code when it was asked to end. */
    static int controller(Console console, ClusterDirectory cluster) {
        return ClusterAccess.told(() -> {
            SerialFilter.install();
            Path own = cluster.of(ClusterIdentity.CONTROLLER);
            CountDownLatch asked = new CountDownLatch(1);
            Tasks tasks = ThreadTasks.create("cluster");
            try (Interrupts.Watch watch = console.interrupts().watch(asked::countDown);
                    Cleanup _ = new Cleanup().add(tasks::close);
                    ControllerProcess controller = ControllerProcess.start(
                            new ControllerProcess.Settings(
                                    own,
                                    cluster.port(),
                                    cluster.idlePort(),
                                    cluster.identity(ClusterIdentity.CONTROLLER),
                                    cluster.clusterId(),
                                    ControllerRun.Settings.defaults()),
                            tasks,
                            Clock.system());
                    Cleanup _ = ProcessFile.hold(own);
                    DoorServer _ = DoorServer.start(
                            new ClusterDoor(controller, RealDisk.open(own)), own, console.home())) {
                return untilAsked(asked, watch);
            }
        });
    }

    /** Runs a node; returns the exit code when it was asked to end. */
    static int node(Console console, ClusterDirectory cluster, String name) {
        return ClusterAccess.told(() -> {
            SerialFilter.install();
            Path own = cluster.of(name);
            CountDownLatch asked = new CountDownLatch(1);
            Tasks tasks = ThreadTasks.create("cluster");
            try (Interrupts.Watch watch = console.interrupts().watch(asked::countDown);
                    Cleanup _ = new Cleanup().add(tasks::close);
                    Store store = Store.open(own.resolve("store"), StoreDefaults.options());
                    Cleanup _ = ProcessFile.hold(own);
                    NodeProcess _ = NodeProcess.start(
                            new NodeProcess.Settings(
                                    name,
                                    own,
                                    LOOPBACK,
                                    cluster.port(),
                                    cluster.identity(name),
                                    cluster.clusterId(),
                                    EVERY,
                                    RunOptions.defaults()),
                            store,
                            tasks,
                            Clock.system())) {
                return untilAsked(asked, watch);
            }
        });
    }

    private static int untilAsked(CountDownLatch asked, Interrupts.Watch watch) {
        try {
            asked.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        watch.endWith(ExitCode.OK);
        return ExitCode.OK;
    }
}
