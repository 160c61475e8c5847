package io.turbidite.ops.job;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.sim.Seeds;
import io.turbidite.core.sim.Tier;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.SplittableRandom;

/** What a graph says of itself, and its JSON. */
class JobGraphTest {
    private static final JobParts PARTS = JobFixture.parts(0);

    @Test
    void aGraphIsReadAsItWasWritten() {
        JobGraph graph = JobFixture.groups(PARTS, 2, 2);
        assertThat(JobGraph.fromJson(graph.toJson(), PARTS)).isEqualTo(graph);
        assertThat(graph.type().names()).isEqualTo("dest, count, late, max_id");
        assertThat(graph.type("flights")).isEqualTo(JobFixture.FLIGHT);
    }

    @Test
    void theDrawingShowsStages() {
        assertThat(JobFixture.groups(PARTS, 2, 3).draw()).isEqualTo("""
                        stage 1 on 2 partitions
                          flights: scan Flights where delay > 0
                          → hash by dest to groups
                        stage 2 on 3 partitions
                          reads flights, hash by dest
                          groups takes all of input 0
                        stage 3 on 3 partitions
                          groups: group count, sum(delay) as late, max(id) by dest
                          → merging by dest to out
                        stage 4 on 1 partition
                          reads groups, merging by dest
                          out: result
                        """);
    }

    @Test
    void versionOneIsReadAndWrittenAsEver() throws IOException {
        String golden;
        try (InputStream in = getClass().getResourceAsStream("job-1.json")) {
            golden = new String(
                    Objects.requireNonNull(in, "job-1.json").readAllBytes(),
                    StandardCharsets.UTF_8);
        }
        JobGraph graph = JobGraph.fromJson(golden, PARTS);
        assertThat(graph.operators()).hasSize(9);
        assertThat(graph.constraints()).hasSize(2);
        assertThat(graph.toJson()).isEqualTo(golden);
    }

    @Test
    void eachByteOfTheTextThatIsLostIsNoticedOrHarmless() {
        String json = JobFixture.groups(PARTS, 2, 2).toJson();
        for (int i = 0; i < json.length() - 1; i++) {
            String cut = json.substring(0, i);
            assertThatThrownBy(() -> JobGraph.fromJson(cut, PARTS)).hasMessageContaining("JSON");
        }
    }

    @Test
    void randomGraphsAreTheSameAfterARoundTrip() {
        long seed = Seeds.of("JobGraphTest#randomGraphsAreTheSameAfterARoundTrip");
        for (int i = 0; i < Tier.count(20, 200, 2_000); i++) {
            JobGraph graph = random(new SplittableRandom(Seeds.mix(seed, i)));
            assertThat(JobGraph.fromJson(graph.toJson(), PARTS)).isEqualTo(graph);
            assertThat(graph.draw()).contains("out: result");
        }
    }

    /** Scans that are changed, united and gathered; settings of every kind of value. */
    static JobGraph random(SplittableRandom random) {
        JobGraph.Builder graph = JobGraph.builder(PARTS);
        List<String> ends = new ArrayList<>();
        int number = 0;
        int sources = 1 + random.nextInt(4);
        int partitions = 1 + random.nextInt(4);
        for (int i = 0; i < sources; i++) {
            String at = "s" + i;
            graph.add(
                    random.nextBoolean()
                            ? JobFixture.scan(at, partitions)
                            : JobOperator.of(at, "search")
                                    .with("dataset", "Flights")
                                    .with("index", "by_dest")
                                    .with("where", "dest = 'D" + random.nextInt(9) + "'")
                                    .on(partitions));
            if (partitions > 1 && random.nextInt(3) == 0) {
                for (int p = 0; p < partitions; p++) {
                    graph.constrain(new JobConstraint(at, p, p < 4 ? List.of(p) : List.of()));
                }
            }
            for (int j = random.nextInt(4); j > 0; j--) {
                String next = "o" + number++;
                graph.add(step(random, next).on(partitions));
                graph.connect(
                        switch (random.nextInt(3)) {
                            case 0 -> JobConnector.oneToOne(at, next);
                            case 1 -> JobConnector.hash(at, next, "dest", "id");
                            default -> JobConnector.roundRobin(at, next);
                        });
                at = next;
            }
            ends.add(at);
        }
        String last = ends.getFirst();
        if (ends.size() > 1) {
            last = "all";
            graph.add(JobOperator.of(last, "union").on(partitions));
            for (int i = 0; i < ends.size(); i++) {
                graph.connect(JobConnector.oneToOne(ends.get(i), last).into(i));
            }
        }
        return graph.add(JobFixture.result())
                .connect(JobConnector.roundRobin(last, "out"))
                .build();
    }

    private static JobOperator step(SplittableRandom random, String name) {
        return switch (random.nextInt(3)) {
            case 0 -> JobOperator.of(name, "select").with("where", "tail <> 'it''s \"ä€\"'");
            case 1 ->
                JobOperator.of(name, "sort")
                        .with("by", List.of("dest:desc", "id"))
                        .with("limit", 1 + random.nextInt(100));
            default -> JobOperator.of(name, "limit").with("rows", random.nextInt(1_000));
        };
    }

    @Test
    void settingsOfEveryKindOfValueComeBack() {
        JobParts own = PARTS.withOperator("any", () -> new JobRunTestOperators.Passing());
        JobGraph graph = JobGraph.builder(own)
                .add(JobFixture.scan("a", 1))
                .add(JobOperator.of("b", "any")
                        .with("text", "a\"\\\n\u0001ä€😀")
                        .with("whole", Long.MIN_VALUE)
                        .with("real", 1e-300)
                        .with("is", true)
                        .with("list", List.of(1L, "x", List.of(), Map.of("y", 2.5))))
                .add(JobFixture.result())
                .connect(JobConnector.oneToOne("a", "b"))
                .connect(JobConnector.oneToOne("b", "out"))
                .build();
        assertThat(JobGraph.fromJson(graph.toJson(), own)).isEqualTo(graph);
    }
}
