package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.Cleanup;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.core.time.Clock;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.cluster.ClusterAuthority;
import io.turbidite.ops.cluster.ClusterController;
import io.turbidite.ops.cluster.ClusterIdentity;
import io.turbidite.ops.cluster.ClusterMessages;
import io.turbidite.ops.cluster.ClusterNode;
import io.turbidite.ops.cluster.JobMark;
import io.turbidite.ops.cluster.Placement;
import io.turbidite.ops.cluster.SerialFilter;
import io.turbidite.ops.run.RunOptions;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;

/** A job that was made for another state of the cluster is refused, and made anew once. */
@LeaksOnPurpose("the engine keeps its threads and the log of its jobs")
class StaleJobTest {
    private static final int ROWS = 300;

    @TempDir
    Path home;

    /** The number of changes that the controller has when it makes a job. */
    private volatile long first = 7;

    /** The one that it has when it makes it anew. */
    private volatile long second = 7;

    /** How often the placement was asked for since the last job was begun. */
    private final AtomicInteger jobsMade = new AtomicInteger();

    private final List<Long> refused = new ArrayList<>();
    private ClusterController controller;
    private ClusterNode node;

    private static JobMark mark(long number) {
        return new JobMark(1, 2, 3, 4, number);
    }

    @BeforeEach
    void start() throws Exception {
        SerialFilter.install();
        ClusterAuthority authority =
                ClusterAuthority.create("stale", Clock.system(), new SecureRandom());
        int port = HostedCluster.freePort();
        controller = ClusterController.start(
                new ClusterController.Settings(
                        made("controller"),
                        port,
                        HostedCluster.freePort(),
                        authority.identity(authority.issue(ClusterIdentity.CONTROLLER))),
                () -> placement(jobsMade.getAndIncrement() == 0 ? first : second));
        JobParts parts = JobParts.of(List.of(JobFixture.flights(ROWS, 2, _ -> true)));
        node = ClusterNode.start(
                new ClusterNode.Settings(
                        "n0",
                        made("n0"),
                        "127.0.0.1",
                        port,
                        authority.identity(authority.issue("n0"))),
                () -> parts,
                this::check,
                RunOptions.defaults(),
                ClusterMessages.none());
    }

    private String made(String name) throws Exception {
        return Files.createDirectories(home.resolve(name)).toString();
    }

    private static Placement placement(long number) {
        return new Placement(List.of(new Placement.Node("n0", Map.of("Flights", 2), mark(number))));
    }

    private void check(@Nullable JobMark mark) {
        if (!mark(7).equals(mark)) {
            synchronized (this) {
                refused.add(mark == null ? -1 : mark.number());
            }
            throw new StaleJobException("the node has change 7");
        }
    }

    @AfterEach
    void stop() {
        new Cleanup().add(node::close).add(controller::close).run();
    }

    private long count() {
        jobsMade.set(0);
        JobGraph graph = JobGraph.builder(
                        JobParts.of(List.of(JobFixture.flights(ROWS, 2, _ -> true))))
                .add(JobOperator.of("all", "scan").with("dataset", "Flights").on(2))
                .add(JobOperator.of("out", "result"))
                .connect(JobConnector.roundRobin("all", "out"))
                .build();
        try (QueryResult rows = JobQuery.of(graph).on(controller).run()) {
            return rows.count();
        }
    }

    @Test
    void one_that_was_made_for_the_change_before_is_made_anew_and_has_all_rows() {
        first = 6;
        assertThat(count()).isEqualTo(ROWS);
        assertThat(refused).containsOnly(6L);
        assertThat(node.jobCount()).isZero();
    }

    @Test
    void one_that_is_refused_twice_fails_by_its_type_and_the_next_one_runs() {
        first = 6;
        second = 8;
        assertThatThrownBy(this::count)
                .isInstanceOf(StaleJobException.class)
                .hasMessageStartingWith("node 'n0', stage ")
                .hasMessageEndingWith(": the node has change 7");
        assertThat(refused).contains(6L, 8L).doesNotContain(7L);
        first = 7;
        assertThat(count()).isEqualTo(ROWS);
    }
}
