package io.turbidite.feeds.cluster.run;

import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.feeds.cluster.change.Change.DatasetCreated;
import io.turbidite.ops.cluster.JobMark;
import io.turbidite.ops.job.StaleJobException;

import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.function.UnaryOperator;

/** A node refuses a job of another cluster, controller, registration or change. */
class JobStampsTest {
    @TempDir
    Path home;

    private static JobMark mark(ClusterOfStores cluster) {
        return Objects.requireNonNull(
                JobStamps.mark(cluster.controller().stamped().stamps().get("n1")));
    }

    private static void refuses(ClusterOfStores cluster, @Nullable JobMark mark, String why) {
        JobStamps check = new JobStamps("n1", cluster.node("n1"));
        assertThatThrownBy(() -> check.check(mark))
                .isInstanceOf(StaleJobException.class)
                .hasMessageStartingWith("node 'n1' refuses a job")
                .hasMessageEndingWith(why);
    }

    private static void takes(ClusterOfStores cluster) {
        JobStamps check = new JobStamps("n1", cluster.node("n1"));
        assertThatCode(() -> check.check(mark(cluster))).doesNotThrowAnyException();
    }

    @Test
    void what_was_made_for_the_cluster_as_it_was_is_refused() {
        try (ClusterOfStores cluster = new ClusterOfStores(home, 2, 1, UnaryOperator.identity())) {
            takes(cluster);
            JobMark old = mark(cluster);
            refuses(
                    cluster,
                    null,
                    ": the controller does not have it among those that have" + " registered");
            refuses(
                    cluster,
                    new JobMark(
                            old.clusterId() + 1,
                            old.epoch(),
                            old.process(),
                            old.registration(),
                            old.number()),
                    ": it is of another cluster");
            cluster.controller()
                    .change(
                            DatasetCreated.inTurn(
                                    StoreSchemaTest.trips("Trips", 5),
                                    cluster.controller().map()),
                            Duration.ofSeconds(20));
            cluster.settle();
            refuses(
                    cluster,
                    old,
                    " of change 2, and has 3: it was made for another number of the log of changes");
            takes(cluster);
            JobMark before = mark(cluster);
            cluster.end("n1");
            cluster.start("n1");
            cluster.settle();
            cluster.await(
                    "n1 is registered anew",
                    () -> mark(cluster).registration() > before.registration());
            refuses(cluster, before, ": the node has registered anew since, or must");
            JobMark last = mark(cluster);
            cluster.restartController();
            cluster.settle();
            refuses(cluster, last, ": a later controller has started");
            takes(cluster);
        }
    }
}
