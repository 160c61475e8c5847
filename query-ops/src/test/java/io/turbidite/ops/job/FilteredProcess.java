package io.turbidite.ops.job;

import io.turbidite.core.time.Clock;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.cluster.ClusterAuthority;
import io.turbidite.ops.cluster.ClusterController;
import io.turbidite.ops.cluster.ClusterException;
import io.turbidite.ops.cluster.ClusterIdentity;
import io.turbidite.ops.cluster.Placement;
import io.turbidite.ops.cluster.SerialFilter;
import io.turbidite.ops.run.RunOptions;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InvalidClassException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.List;
import java.util.Map;

/**
 * A process of a cluster, with the filter of Java serialization: runs a job, then is handed classes
 * that are known to do harm when they are made. Arguments: a directory, then names of classes.
 */
final class FilteredProcess {
    private FilteredProcess() {}

    /**
     * Prints what a start says that comes before the filter, {@code rows n} and {@code failed
     * KIND}, then for each class {@code refused NAME} or {@code made NAME}.
     */
    public static void main(String[] arguments) throws Exception {
        ClusterAuthority authority =
                ClusterAuthority.create("early", Clock.system(), new SecureRandom());
        try {
            ClusterController.start(
                    new ClusterController.Settings(
                            arguments[0],
                            HostedCluster.freePort(),
                            HostedCluster.freePort(),
                            authority.identity(authority.issue(ClusterIdentity.CONTROLLER))),
                    () -> new Placement(List.of(new Placement.Node("n0", Map.of()))));
        } catch (ClusterException e) {
            System.out.println("early: " + e.getMessage());
        }
        SerialFilter.install();
        HostedCluster cluster =
                new HostedCluster(Path.of(arguments[0]), 2, 300, RunOptions.defaults());
        JobParts parts = JobFixture.parts(10);
        System.out.println("rows "
                + JobRunTest.lines(
                                JobQuery.of(JobFixture.groups(parts, 2, 2)).on(cluster.controller))
                        .size());
        try {
            JobRunTest.lines(
                    JobQuery.of(HostedFailureTest.graph(1, "row", 3)).on(cluster.controller));
        } catch (HostedJobException e) {
            System.out.println("failed " + e.kind());
        }
        for (String name : List.of(arguments).subList(1, arguments.length)) {
            Class<?> type = Class.forName(name, false, FilteredProcess.class.getClassLoader());
            System.out.println((isMade(type) ? "made " : "refused ") + name);
        }
        cluster.close();
        System.out.flush();
        // threads of the engine that wait for connections are no daemons everywhere
        Runtime.getRuntime().halt(0);
    }

    /** Whether a stream that names a class is read: an object of it is made no sooner. */
    private static boolean isMade(Class<?> type) throws IOException, ClassNotFoundException {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
            out.writeObject(type);
        }
        try (ObjectInputStream in =
                new ObjectInputStream(new ByteArrayInputStream(bytes.toByteArray()))) {
            in.readObject();
            return true;
        } catch (InvalidClassException e) {
            return false;
        }
    }
}
