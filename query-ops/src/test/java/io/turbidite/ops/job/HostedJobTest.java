package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.sim.LeaksOnPurpose;
import io.turbidite.ops.JobQuery;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * All jobs of {@link JobRunTest} give the same rows on the nodes of a cluster, and leave no
 * cursor open.
 */
@LeaksOnPurpose("the engine keeps its threads and the log of its jobs")
class HostedJobTest extends JobRunTest {
    private static HostedCluster two;

    @BeforeAll
    static void start(@TempDir Path directory) throws IOException {
        two = new HostedCluster(directory.resolve("two"), 2, 3_000, RunOptions.defaults());
    }

    @AfterAll
    static void stop() {
        two.close();
    }

    @Override
    void check(JobGraph graph, List<String> expected, boolean isOrdered) {
        super.check(graph, expected, isOrdered);
        JobQuery hosted = JobQuery.of(graph).on(two.controller);
        if (!graph.constraints().isEmpty()) {
            assertThatThrownBy(() -> lines(hosted))
                    .isInstanceOf(InvalidRequestException.class)
                    .hasMessageContaining("an instance reads those of one");
            return;
        }
        List<String> lines = lines(hosted);
        assertThat(isOrdered ? lines : sorted(lines))
                .isEqualTo(isOrdered ? expected : sorted(expected));
        assertThat(two.sources)
                .allSatisfy(source -> assertThat(source.openCount).hasValue(0));
    }
}
