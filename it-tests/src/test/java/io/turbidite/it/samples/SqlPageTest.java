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
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

/** Runs the statements of docs/sql.md, in the order of the page, beside the flights of a sample. */
class SqlPageTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    private static final Pattern BLOCK =
            Pattern.compile("^```sql\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

    /** A plan that the page shows below its statement. */
    private static final Pattern EXPLAINED = Pattern.compile(
            "^```sql\n(explain.*?)^```\n\n```\n(.*?)^```", Pattern.MULTILINE | Pattern.DOTALL);

    @TempDir
    private Path directory;

    @Test
    void the_statements_of_the_page_run_in_its_order() throws IOException {
        String page = Files.readString(ROOT.resolve("docs/sql.md"));
        List<String> blocks =
                BLOCK.matcher(page).results().map(block -> block.group(1)).toList();
        assertThat(blocks).hasSizeGreaterThanOrEqualTo(7);
        String store = directory.resolve("store").toString();
        String flights = ROOT.resolve("feeds/samples/flights.yaml").toString();
        run("dataset", "create", store, "--from", flights);
        for (String block : blocks) {
            Path script = directory.resolve("block.sql");
            Files.writeString(script, block);
            String said = run("sql", store, "-f", script.toString());
            assertThat(said).as(block).isNotEmpty();
            checkPlan(page, block, said);
        }
        assertThat(run("sql", store, "select id, name from Pets order by id"))
                .contains("Rex B.", "REX II")
                .doesNotContain("TIB");
    }

    private static void checkPlan(String page, String block, String said) {
        EXPLAINED
                .matcher(page)
                .results()
                .filter(shown -> shown.group(1).equals(block))
                .forEach(shown -> assertThat(said.lines().map(String::stripTrailing))
                        .as(block)
                        .containsExactlyElementsOf(shown.group(2).lines().toList()));
    }

    /** All that a command printed; it must not fail. */
    private static String run(String... words) {
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
        int code = Main.run(words, out, out);
        String text = said.toString(StandardCharsets.UTF_8);
        assertThat(code).as("%s: %s", new ArrayList<>(List.of(words)), text).isZero();
        return text;
    }
}
