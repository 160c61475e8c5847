package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

class MainTest {
    private static void assertMisused(Result result) {
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).hasSizeBetween(1, 2);
        assertThat(result.err()).startsWith("turbidite: ").doesNotContain("\tat ");
    }

    @Test
    void an_unknown_command_is_named_with_those_there_are() {
        Result result = Command.run("frobnicate", "x");
        assertMisused(result);
        assertThat(result.err())
                .contains("unknown command 'frobnicate'")
                .contains("quickstart, run, feed, serve, token, query, sql, job, get, put, delete,"
                        + " export, import, inspect, stats, doctor, tail, verify, advise,"
                        + " trash, dataset, index, drop, flush, merge, repair, quarantine,"
                        + " upgrade, backup, restore, ship, receive, log, cluster, help, bench");
    }

    @Test
    void no_command_is_a_mistake_that_names_the_commands() {
        Result result = Command.run();
        assertMisused(result);
        assertThat(result.err()).contains("quickstart, run");
    }

    /** The parser meets a command alone under the name that it is listed by. */
    @Test
    void each_command_has_help() {
        String listed = Command.run().err();
        Matcher names = Pattern.compile("commands are (.*), bench").matcher(listed);
        assertThat(names.find()).as(listed).isTrue();
        for (String name : Pattern.compile(", ").split(names.group(1), -1)) {
            Result result = Command.run(name, "--help");
            assertThat(result.code()).isZero();
            assertThat(result.out()).startsWith("Usage: ./turbidite " + name);
            if (!name.equals("help")) {
                assertThat(result.out()).contains("--json").contains("--debug");
            }
            assertThat(result.err()).isEmpty();
        }
    }

    @Test
    void help_is_a_command_too() {
        assertThat(Command.run("help")).isEqualTo(Command.run("--help"));
        for (String name : List.of("query", "log", "log ingest", "index create", "help")) {
            Object[] asked = ("help " + name).split(" ");
            Object[] option = (name + " --help").split(" ");
            Result help = Command.run(asked);
            assertThat(help.out()).startsWith("Usage: ./turbidite " + name);
            assertThat(help).as(name).isEqualTo(Command.run(option));
        }
        assertThat(Command.run("help", "bench").out()).contains("./turbidite bench --help");
        Result unknown = Command.run("help", "frobnicate");
        assertMisused(unknown);
        assertThat(unknown.err())
                .contains("unknown command 'frobnicate'; commands are quickstart,");
        assertThat(Command.run("help", "log", "frobnicate").err())
                .contains("unknown command 'frobnicate'; commands are ingest,");
        // what follows a command without commands of its own may be an argument of it
        assertThat(Command.run("help", "log", "psf", "add"))
                .isEqualTo(Command.run("log", "psf", "--help"));
        assertThat(Command.run("help", "index", "create", "store"))
                .isEqualTo(Command.run("index", "create", "--help"));
    }

    @Test
    void its_version_is_that_of_the_build() throws IOException {
        Matcher version = Pattern.compile("<version>(.+?)</version>")
                .matcher(Files.readString(Path.of("pom.xml")));
        assertThat(version.find()).isTrue();
        for (String option : List.of("--version", "-V")) {
            Result result = Command.run(option);
            assertThat(result.code()).isZero();
            assertThat(result.err()).isEmpty();
            assertThat(result.outLines())
                    .hasSize(2)
                    .startsWith("turbidite %s, on Java %s"
                            .formatted(version.group(1), System.getProperty("java.version")));
            assertThat(result.outLines().getLast())
                    .startsWith("formats: manifest ")
                    .containsPattern(
                            "component \\d+ \\(reads 2 and later\\), .*shipment 1, hashlog \\d+");
        }
    }

    @Test
    void shells_complete_commands_and_their_options(@TempDir Path directory)
            throws IOException, InterruptedException {
        Result result = Command.run("completion");
        assertThat(result.code()).isZero();
        assertThat(result.out()).contains("--group-cell", "upgrade", "complete -F");
        Path script = directory.resolve("completion.bash");
        Files.writeString(script, result.out() + """

            COMP_WORDS=(turbidite upg); COMP_CWORD=1; COMPREPLY=()
            _complete_turbidite; echo "found ${COMPREPLY[*]}"
            COMP_WORDS=(turbidite upgrade my-store --ch); COMP_CWORD=3; COMPREPLY=()
            _complete_turbidite; echo "found ${COMPREPLY[*]}"
            """);
        Process bash = new ProcessBuilder("bash", script.toString()).start();
        String said = new String(bash.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(bash.waitFor()).isZero();
        assertThat(said.lines()).containsExactly("found upgrade", "found --check");
    }

    @Test
    void fish_completes_commands_below_commands_and_their_options(@TempDir Path directory)
            throws IOException, InterruptedException {
        Result result = Command.run("completion", "fish");
        assertThat(result.code()).isZero();
        assertThat(result.out())
                .contains(
                        "complete -c turbidite -n '__turbidite_at \\'upgrade\\'' -l check ",
                        "complete -c turbidite -n '__turbidite_at \\'dataset\\'' -f -a 'create' ")
                .doesNotContain("'completion'");
        assumeThat(Path.of("/usr/bin/fish")).as("the shell fish").exists();
        Path script = directory.resolve("turbidite.fish");
        Files.writeString(script, result.out() + """

            complete -C 'turbidite upg'
            complete -C 'turbidite dataset cr'
            complete -C './turbidite upgrade my-store --ch'
            """);
        Process fish = new ProcessBuilder("/usr/bin/fish", "--no-config", script.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(fish.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(fish.waitFor()).as(said).isZero();
        assertThat(said.lines().map(line -> line.replaceFirst("\t.*", "")))
                .containsExactly("upgrade", "create", "--check");
    }

    @Test
    void each_command_has_a_page_of_the_manual(@TempDir Path directory) throws IOException {
        Path pages = directory.resolve("man");
        Result written = Command.run("man", pages);
        assertThat(written.code()).isZero();
        assertThat(written.out()).contains(" pages in " + pages);
        String query = Files.readString(pages.resolve("turbidite-query.1"));
        assertThat(query).startsWith(".TH \"turbidite\\-query\" 1\n").contains("\\-\\-where");
        assertThat(pages.resolve("turbidite-log-ingest.1")).exists();
        assertThat(Files.readString(pages.resolve("turbidite.1"))).contains(".B upgrade\n");
        assertThat(pages.resolve("turbidite-man.1")).doesNotExist();
    }

    @Test
    void the_whole_has_help() {
        Result result = Command.run("--help");
        assertThat(result.code()).isZero();
        assertThat(result.out()).contains("quickstart", "verify", "bench", "Exit codes");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "log ", "index "})
    void what_a_command_does_is_said_in_a_whole_sentence(String prefix) {
        String help = Command.run((Object[]) (prefix + "--help").split(" ")).out();
        List<String> listed = help.substring(help.indexOf("Commands:") + 9)
                .replaceAll("\\n {3,}", " ") // a sentence goes on in the next line
                .lines()
                .filter(line -> line.startsWith("  "))
                .toList();
        assertThat(listed).hasSizeGreaterThan(3).allMatch(line -> line.endsWith("."));
    }

    @ParameterizedTest
    @ValueSource(strings = {"run", "query", "get", "inspect", "verify", "backup", "restore"})
    void missing_arguments_are_named(String name) {
        Result result = Command.run(name);
        assertMisused(result);
        assertThat(result.err()).contains("Missing required", "./turbidite " + name + " --help");
    }

    @Test
    void unknown_options_are_named() {
        for (String name : new String[] {
            "quickstart", "run", "query", "get", "inspect", "verify", "backup", "restore"
        }) {
            Result result = Command.run(name, "a", "b", "c", "--frobnicate");
            assertMisused(result);
        }
        assertThat(Command.run("get", "a", "b", "c", "--frobnicate").err())
                .contains("Unknown option: '--frobnicate'");
    }

    @Test
    void a_mistyped_command_gets_the_right_one_named() {
        assertThat(Command.run("qurey", "x").err()).contains("; is 'query' meant?");
        assertThat(Command.run("help", "inspct").err()).contains("; is 'inspect' meant?");
        assertThat(Command.run("index", "crate").err()).contains("; is 'create' meant?");
        assertThat(Command.run("benhc").err()).contains("; is 'bench' meant?");
        assertThat(Command.run("frobnicate").err()).doesNotContain("meant");
    }

    @Test
    void a_mistyped_name_gets_the_right_one_named(@TempDir Path directory) throws IOException {
        Path store = Command.load(directory);
        assertThat(Command.run("get", store, "numbers", "7").err())
                .contains("there is no dataset 'numbers'; there are [", "; is 'Numbers' meant?");
        assertThat(Command.run("query", store, "Trips", "--eq", "carier=UA").err())
                .contains("; is 'carrier' meant?");
        assertThat(Command.run("query", store, "Trips", "--select", "tial").err())
                .contains("; is 'tail' meant?");
        assertThat(Command.run("index", "drop", store, "Trips", "by_tial").err())
                .contains("; is 'by_tail' meant?");
        Path feed = directory.resolve("feed.yaml");
        Files.writeString(feed, Command.FEED.replace("primaryKey", "primarykey"));
        assertThat(Command.run("run", feed, "--store", store).err())
                .contains("; is 'primaryKey' meant?");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "query Trips STORE --count",
                "get Trips STORE 1",
                "sql Trips STORE",
                "put Trips STORE {}",
                "index drop Trips STORE by_tail",
                "flush Trips STORE"
            })
    void a_store_that_does_not_come_first_is_told_to(String line, @TempDir Path directory)
            throws IOException {
        String store = Command.load(directory).toString();
        Result result = Command.run((Object[]) line.replace("STORE", store).split(" "));
        assertThat(result.code()).isEqualTo(2);
        String command = line.substring(0, line.indexOf(" Trips"));
        assertThat(result.errLines().getFirst()).contains("Trips does not exist");
        assertThat(result.errLines().getLast())
                .isEqualTo(
                        "  the store comes first: ./turbidite %s %s …".formatted(command, store));
    }

    @Test
    void a_store_that_is_missing_is_only_missing(@TempDir Path directory) throws IOException {
        String store = Command.load(directory).toString();
        assertThat(Command.run("query", store + "2", "Trips").errLines()).hasSize(1);
        assertThat(Command.run("query", store, store).err()).doesNotContain("comes first");
    }

    @Test
    void each_command_is_listed_in_the_documents() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "commands.md"));
        List<String> names = new ArrayList<>(List.of("completion", "man"));
        Command.run("--help").out().lines().forEach(line -> {
            if (line.matches("  [a-z]+ {2,}\\S.*")) {
                names.add(line.strip().split(" ", -1)[0]);
            }
        });
        assertThat(names).hasSizeGreaterThan(30);
        assertThat(names)
                .allSatisfy(name -> assertThat(page).contains("\n| `%s` | ".formatted(name)));
    }

    @Test
    void a_mistyped_option_gets_the_right_one_named() {
        Result run = Command.run("run", "feed.yaml", "--stor", "x");
        assertMisused(run);
        assertThat(run.errLines().getFirst())
                .isEqualTo("turbidite: Unknown option: '--stor'; is --store meant?");
        assertThat(Command.run("log", "ingest", "log", "-", "--thread", "2")
                        .errLines()
                        .getFirst())
                .isEqualTo("turbidite: Unknown option: '--thread'; is --threads meant?");
        assertThat(Command.run("query", "a", "b", "--oder", "x").errLines().getFirst())
                .isEqualTo("turbidite: Unknown option: '--oder'; is --order meant?");
        assertThat(Command.run("run", "feed.yaml", "--frobnicate").errLines().getFirst())
                .isEqualTo("turbidite: Unknown option: '--frobnicate'");
    }

    @Test
    void debug_prints_the_stack_trace() {
        Result result = Command.run("inspect", "/nowhere/at/all", "--debug");
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.err()).contains("\tat io.turbidite");
    }

    @Test
    void the_public_entry_prints_where_it_is_told() {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        int code = Main.run(
                new String[] {"inspect", "/nowhere/at/all"},
                new PrintStream(out, true, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8));
        assertThat(code).isEqualTo(2);
        assertThat(out.size()).isZero();
        assertThat(err.toString(StandardCharsets.UTF_8)).contains("/nowhere/at/all");
    }
}
