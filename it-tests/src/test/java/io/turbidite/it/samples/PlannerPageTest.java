package io.turbidite.it.samples;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Main;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Objects;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The example of docs/planner.md is explained as the page shows it, and all costs are on it. */
class PlannerPageTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    private static final Pattern SQL =
            Pattern.compile("^```sql\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

    private static final Pattern EXPLAINED = Pattern.compile(
            "^```sql\nexplain.*?^```\n\n```\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

    @TempDir
    private Path directory;

    private static String page() throws IOException {
        return Files.readString(ROOT.resolve("docs/planner.md"));
    }

    @Test
    void the_example_is_explained_as_the_page_shows() throws IOException {
        String store = directory.resolve("store").toString();
        run(
                "dataset",
                "create",
                store,
                "--from",
                ROOT.resolve("feeds/samples/flights.yaml").toString());
        List<MatchResult> blocks = SQL.matcher(page()).results().toList();
        assertThat(blocks).hasSize(2);
        String said = "";
        for (MatchResult block : blocks) {
            Path script = directory.resolve("block.sql");
            Files.writeString(script, block.group(1));
            said = run("sql", store, "-f", script.toString());
        }
        String shown =
                EXPLAINED.matcher(page()).results().findFirst().orElseThrow().group(1);
        assertThat(said.lines().map(String::stripTrailing).toList())
                .isEqualTo(shown.lines().toList());
    }

    @Test
    void every_cost_is_on_the_page() throws IOException {
        Path costs = ROOT.resolve("query-ops/src/main/resources/io/turbidite/ops/plan/costs.txt");
        String page = page();
        for (String line : Files.readAllLines(costs)) {
            if (!line.startsWith("#") && !line.startsWith("version")) {
                String step = line.substring(0, line.indexOf(' '));
                assertThat(page).as(step).contains("`" + step + "`");
            }
        }
    }

    /** All that a command printed; it must not fail. */
    private static String run(String... words) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
        int code = Main.run(words, out, out);
        String text = said.toString(StandardCharsets.UTF_8);
        assertThat(code).as("%s: %s", List.of(words), text).isZero();
        return text;
    }
}
