package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;

import io.turbidite.core.meter.StoreEvent;
import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.StoreOptions;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

class IndexCommandTest {
    @TempDir
    private Path directory = Path.of("");

    private Path store = Path.of("");

    @BeforeEach
    void load() throws IOException {
        store = Command.load(directory);
    }

    private String access(String predicate) {
        return Command.run("query", store, "Trips", "--eq", predicate, "--explain")
                .err();
    }

    private static void assertRefused(Result result, String... words) {
        assertThat(result.code()).isEqualTo(2);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).hasSizeBetween(1, 2);
        assertThat(result.err()).contains(words);
    }

    @Test
    void an_rtree_answers_windows_and_is_explained() {
        Result created = Command.run(
                "index", "create", store, "Trips", "by_place", "--on", "place", "--kind", "rtree");
        assertThat(created.code()).isZero();
        assertThat(Command.run("inspect", store).out()).contains("rtree index by_place on place");
        Result counted = Command.run(
                "query", store, "Trips", "--within", "place=1.5,1.5,12,2", "--count", "--explain");
        assertThat(counted.json().path("count").asInt()).isEqualTo(2);
        // long details are wrapped
        assertThat(counted.err().replaceAll("\\s+", " "))
                .contains("index by_place only", "by_place (rtree) on place in the window")
                .contains("entries looked at")
                .doesNotContainPattern("[ ,;]1 (components|pages|groups|entries|layers|searches)");
        Result near = Command.run(
                "query", store, "Trips", "--distance", "place=1,2,1", "--count", "--explain");
        assertThat(near.err().replaceAll("\\s+", " "))
                .contains("index by_place only", "on place within 1.0 of 1.0,2.0")
                .contains("entries looked at");
        Result nearest = Command.run(
                "query", store, "Trips", "--near", "place=1,2", "--limit", "2", "--explain");
        assertThat(nearest.out().lines()).hasSize(2);
        assertThat(nearest.err())
                .contains("index by_place, nearest first, then fetch")
                .doesNotContainPattern("[ ,;]1 (components|pages|groups|entries|layers|searches)")
                .contains("2 by distance of place from 1.0,2.0");
        String[][] noNeighbours = {
            {"place=1,2", "0", "limit of 1 or more"},
            {"place=1,-Infinity", "1", "finite"},
            {"place=1", "1", "not 2"},
            {"tail=1,2", "1", "neither point nor rectangle"}
        };
        for (String[] wrong : noNeighbours) {
            assertRefused(
                    Command.run("query", store, "Trips", "--near", wrong[0], "--limit", wrong[1]),
                    wrong[2]);
        }
        assertRefused(Command.run("query", store, "Trips", "--near", "place=1,2"), "needs a limit");
        assertRefused(
                Command.run(
                        "query", store, "Trips", "--near", "place=1,2", "--limit", "1", "--count"),
                "goes with no count");
        String[][] refused = {
            {"place=1,2,0", "above 0"},
            {"place=1,NaN,1", "finite"},
            {"place=1,2", "3"},
            {"tail=1,2,1", "neither point nor rectangle"}
        };
        for (String[] wrong : refused) {
            assertRefused(Command.run("query", store, "Trips", "--distance", wrong[0]), wrong[1]);
        }
        assertThat(Command.run("verify", store).code()).isZero();
    }

    @Test
    void kinds_and_parameters_are_shown_verified_and_advised_on() {
        String[][] indexes = {
            {"by_place", "place", "rtree", ""},
            {"by_word", "note", "inverted", ""},
            {"by_part", "note", "inverted", "ngram(3)"}
        };
        for (String[] index : indexes) {
            List<Object> args = new ArrayList<>(
                    List.of("index", "create", store, "Trips", index[0], "--on", index[1]));
            args.addAll(List.of("--kind", index[2], "--maintenance", "validation"));
            if (!index[3].isEmpty()) {
                args.addAll(List.of("--tokenizer", index[3]));
            }
            assertThat(Command.run(args.toArray()).code()).as(index[0]).isZero();
        }
        assertThat(Command.run("inspect", store).out())
                .contains("rtree index by_place on place, maintenance validation")
                .contains("inverted index by_word on note by word, maintenance validation")
                .contains("inverted index by_part on note by ngram(3), maintenance validation");
        JsonNode shown = Command.run("inspect", store, "--json").json();
        assertThat(shown.findValues("tokenizer"))
                .extracting(JsonNode::asText)
                .contains("word", "ngram(3)");
        Result verified = Command.run("verify", store);
        assertThat(verified.code()).isZero();
        Result advised = Command.run("advise", store, "Trips");
        assertThat(advised.code()).isZero();
        assertThat(advised.out())
                .contains("index by_place: validation")
                .contains("index by_word: validation")
                .contains("index by_part: validation");
        assertRefused(
                Command.run(
                        "index",
                        "create",
                        store,
                        "Trips",
                        "x",
                        "--on",
                        "place",
                        "--kind",
                        "rtree",
                        "--tokenizer",
                        "word"),
                "tokenizer");
        Result together = Command.run(
                "query",
                store,
                "Trips",
                "--within",
                "place=-100,-100,100,100",
                "--contains",
                "note=on time",
                "--eq",
                "tail=N1",
                "--explain",
                "--count");
        assertThat(together.code()).isZero();
    }

    @Test
    void an_rtree_that_can_not_be_is_refused() {
        assertRefused(
                Command.run(
                        "index",
                        "create",
                        store,
                        "Trips",
                        "x",
                        "--on",
                        "place",
                        "--kind",
                        "rtree",
                        "--unique"),
                "only a btree can be unique");
        assertRefused(
                Command.run(
                        "index", "create", store, "Trips", "x", "--on", "place", "--kind", "heap"),
                "unknown kind of index 'heap'; there are btree, rtree, inverted and pm");
    }

    @Test
    void an_index_comes_and_goes() {
        Result created = Command.run(
                "index", "create", store, "Trips", "by_day", "--on", "day,delay", "--json");
        assertThat(created.err()).isEmpty();
        assertThat(created.code()).isZero();
        assertThat(created.json().path("state").asText()).isEqualTo("ready");
        assertThat(access("day=2013-07-04")).contains("by_day");
        assertThat(Command.run("index", "disable", store, "Trips", "by_day").code())
                .isZero();
        assertThat(access("day=2013-07-04")).contains("Trips: primary scan");
        assertThat(Command.run("inspect", store).out()).contains("by_day on day, delay (disabled)");
        Result enabled = Command.run("index", "enable", store, "Trips", "by_day");
        assertThat(enabled.out()).contains("index by_day of Trips is ready");
        assertThat(access("day=2013-07-04")).contains("by_day");
        assertThat(Command.run("verify", store).code()).isZero();
        assertThat(Command.run("index", "drop", store, "Trips", "by_day").code())
                .isZero();
        assertThat(Command.run("inspect", store).out())
                .doesNotContain("by_day")
                .contains("schema version 5");
    }

    @Test
    void wrong_requests_exit_2_and_change_nothing() {
        String before = Command.run("inspect", store).out();
        assertRefused(
                Command.run("index", "create", store, "Trips", "x", "--on", "nothing"),
                "nothing",
                "not declared");
        assertRefused(
                Command.run("index", "create", store, "Trips", "by_tail", "--on", "day"),
                "by_tail",
                "already");
        assertRefused(
                Command.run("index", "create", store, "Trips", "primary", "--on", "day"),
                "primary");
        assertRefused(
                Command.run(
                        "index", "create", store, "Trips", "x", "--on", "day", "--kind", "rtree"),
                "rtree");
        assertRefused(
                Command.run(
                        "index",
                        "create",
                        store,
                        "Trips",
                        "x",
                        "--on",
                        "day",
                        "--maintenance",
                        "lazy"),
                "unknown maintenance 'lazy'; indexes have eager, validation, deleted-key, deferred, auto\n");
        assertRefused(Command.run("index", "drop", store, "Trips", "no"), "no index 'no'");
        assertRefused(Command.run("index", "enable", store, "Trips", "by_tail"), "not disabled");
        assertRefused(Command.run("index", "create", store, "Trips", "x"), "--on");
        assertRefused(Command.run("index"), "create, drop, enable, disable or rebuild");
        assertRefused(Command.run("index", "make", store, "Trips", "x"), "make");
        assertRefused(Command.run("drop", store, "Nobody"), "Nobody");
        assertRefused(
                Command.run("index", "create", store, "Trips", "u", "--on", "day", "--unique"),
                "can't be unique",
                "UA");
        assertThat(Command.run("inspect", store).out()).isEqualTo(before);
    }

    @Test
    void inspect_shows_the_strategy_of_an_index_that_has_another_than_its_dataset() {
        assertThat(Command.run(
                                "index",
                                "create",
                                store,
                                "Trips",
                                "by_note",
                                "--on",
                                "note",
                                "--maintenance",
                                "validation")
                        .code())
                .isZero();
        assertThat(Command.run("inspect", store).out())
                .contains("index by_note on note, maintenance validation\n");
    }

    @Test
    void an_index_keeps_its_pages_as_it_was_created() {
        assertThat(Command.run(
                                "index",
                                "create",
                                store,
                                "Trips",
                                "by_note",
                                "--on",
                                "note",
                                "--page-bytes",
                                "8KiB",
                                "--compression",
                                "zstd")
                        .code())
                .isZero();
        JsonNode index = Command.run("inspect", store, "--json")
                .json()
                .at("/datasets/1/partitions/0/indexes/2");
        assertThat(index.path("name").asText()).isEqualTo("by_note");
        assertThat(index.path("pageBytes").asInt()).isEqualTo(8 << 10);
        assertThat(index.path("compression").asText()).isEqualTo("zstd");
        assertThat(Command.run("inspect", store).out())
                .contains("index by_note on note, compression zstd, pages of 8.0 KiB")
                .contains("index by_tail on tail\n");
        assertRefused(
                Command.run(
                        "index",
                        "create",
                        store,
                        "Trips",
                        "x",
                        "--on",
                        "note",
                        "--page-bytes",
                        "1"),
                "4096 to 131072");
        assertRefused(
                Command.run(
                        "index",
                        "create",
                        store,
                        "Trips",
                        "x",
                        "--on",
                        "note",
                        "--compression",
                        "gzip"),
                "none, lz4, zstd");
    }

    @Test
    void a_rebuild_that_fails_says_that_the_index_is_disabled_and_what_to_do() throws IOException {
        Object[] create = {"index", "create", store, "Trips", "by_note", "--on", "note", "--unique"
        };
        assertThat(Command.run(create).code()).isZero();
        Command.run("index", "disable", store, "Trips", "by_note");
        Files.writeString(
                directory.resolve("trips.csv"),
                Command.ROWS + "ZZ,1,2013-07-05,2013-07-05T11:30:00Z,,0,Late bird,0,0\n");
        assertThat(Command.run("run", directory.resolve("trips.yaml"), "--store", store)
                        .code())
                .isZero();
        for (String verb : List.of("enable", "rebuild")) {
            Result failed = Command.run("index", verb, store, "Trips", "by_note");
            assertThat(failed.code()).as(failed.err()).isEqualTo(2);
            assertThat(failed.errLines().getFirst()).contains("Late bird");
            assertThat(failed.errLines().getLast())
                    .isEqualTo(
                            "  mend the cause: index by_note of Trips is disabled: it is not maintained and not searched, and two records may have the same key; ./turbidite index enable "
                                    + store + " Trips by_note builds it anew");
        }
        assertThat(Command.run("inspect", store).out()).contains("by_note on note (disabled)");
    }

    /** As a rebuilding leaves it that was killed. */
    @Test
    void a_disabled_index_is_told_by_whatever_suffers_from_it() {
        Object[] create = {"index", "create", store, "Trips", "by_note", "--on", "note", "--unique"
        };
        assertThat(Command.run(create).code()).isZero();
        Object[] query = {"query", store, "Trips", "--eq", "note=Late bird", "--count"};
        assertThat(Command.run(query).err()).isEmpty();
        Command.run("index", "disable", store, "Trips", "by_note");
        String note =
                "index by_note of Trips is disabled: it is not maintained and not searched, and two records may have the same key; ./turbidite index enable %s Trips by_note builds it anew"
                        .formatted(store);
        assertThat(Command.run("inspect", store).outLines()).contains("  " + note);
        assertThat(Command.run(query).errLines()).containsExactly("note: " + note);
        assertThat(Command.run("query", store, "Trips", "--eq", "tail=N1").err())
                .isEmpty();
        assertThat(Command.run("verify", store).errLines()).containsExactly("note: " + note);
        assertThat(Command.run("run", directory.resolve("trips.yaml"), "--store", store)
                        .errLines())
                .containsExactly("note: " + note);
        try (Store open = Store.openExisting(store, StoreOptions.defaults())) {
            assertThat(open.events().recent())
                    .filteredOn(event -> event
                                    instanceof
                                    StoreEvent.IndexChanged(
                                            var _,
                                            String dataset,
                                            String index,
                                            String state,
                                            var _,
                                            var _,
                                            var _)
                            && dataset.equals("Trips")
                            && index.equals("by_note")
                            && state.equals("disabled"))
                    .hasSize(1);
        }
        Command.run("index", "enable", store, "Trips", "by_note");
        assertThat(Command.run(query).err()).isEmpty();
    }

    @Test
    void a_rebuilding_that_is_interrupted_says_what_it_leaves() {
        Interrupts early = stop -> {
            stop.run();
            return new Interrupts.Watch() {
                @Override
                public boolean interrupted() {
                    return true;
                }

                @Override
                public void close() {
                    // nothing is held
                }
            };
        };
        Object[] rebuild = {"index", "rebuild", store, "Trips", "by_tail"};
        Result stopped = Command.runIn(Path.of(""), false, early, rebuild);
        assertThat(stopped.code()).as(stopped.toString()).isEqualTo(ExitCode.INTERRUPTED);
        assertThat(stopped.out()).isEmpty();
        assertThat(stopped.errLines())
                .hasSize(2)
                .last()
                .asString()
                .isEqualTo(
                        "  index by_tail of Trips is disabled: it is not maintained and not searched; ./turbidite index enable %s Trips by_tail builds it anew"
                                .formatted(store));
        assertThat(Command.run("index", "enable", store, "Trips", "by_tail").code())
                .isZero();
    }

    @Test
    void what_the_store_keeps_for_itself_is_not_changed_by_commands() {
        String before = Command.run("inspect", store, "--json").out();
        List<List<Object>> commands = List.of(
                List.of("drop", store, "_feeds", "--yes"),
                List.of("index", "create", store, "_feeds", "by_line", "--on", "line"),
                List.of("index", "drop", store, "_feeds", "by_line"),
                List.of("index", "disable", store, "_feeds", "by_line"),
                List.of("index", "enable", store, "_feeds", "by_line"),
                List.of("index", "rebuild", store, "_feeds", "by_line"));
        for (List<Object> command : commands) {
            assertRefused(Command.run(command.toArray()), "dataset _feeds is the store's own");
        }
        assertThat(Command.run("inspect", store, "--json").out()).isEqualTo(before);
        // looking is free
        assertThat(Command.run("query", store, "_feeds", "--count").out())
                .isEqualTo("{\"count\":4}\n");
    }

    @Test
    void a_dropped_dataset_is_gone() {
        assertThat(Command.run("drop", store, "Numbers", "--yes", "--json")
                        .json()
                        .path("state")
                        .asText())
                .isEqualTo("dropped");
        assertRefused(Command.run("get", store, "Numbers", "7"), "Numbers");
        assertThat(Command.run("query", store, "Trips", "--count").out()).contains("4");
    }

    @Test
    void a_dataset_is_dropped_only_by_who_says_so() {
        assertRefused(Command.run("drop", store, "Numbers"), "--yes", "Numbers");
        for (String answer : List.of("", "\n", "n\n", "what?\n")) {
            Result kept = ask(answer);
            assertThat(kept.code()).as(answer).isEqualTo(ExitCode.FAILED);
            assertThat(kept.err()).contains("drop dataset Numbers of").contains("stays as it is");
        }
        assertThat(Command.run("get", store, "Numbers", "7").code()).isZero();
        assertThat(ask(" Yes \n").out()).contains("dataset Numbers is dropped");
        assertRefused(Command.run("get", store, "Numbers", "7"), "Numbers");
    }

    /** Drops on a terminal. */
    private Result ask(String answer) {
        return Command.run(
                new ByteArrayInputStream(answer.getBytes(StandardCharsets.UTF_8)),
                Path.of(""),
                true,
                Interrupts.none(),
                new Object[] {"drop", store, "Numbers"});
    }

    @Test
    void a_file_where_a_store_is_meant_is_named() {
        Path file = directory.resolve("trips.csv");
        assertRefused(
                Command.run("run", directory.resolve("trips.yaml"), "--store", file),
                "trips.csv is a file, where a directory is meant");
        assertRefused(
                Command.run(
                        "run", directory.resolve("trips.yaml"), "--store", file.resolve("store")),
                "can't be a directory, since");
        assertRefused(Command.run("query", file, "Trips"), "trips.csv");
    }

    @Test
    void a_definition_with_an_index_more_names_the_command_that_adds_it() throws IOException {
        Path feed = directory.resolve("trips.yaml");
        String more = Command.FEED.replace(
                "on: tail }",
                "on: tail }\n    - { name: by_note, kind: btree, on: note, unique: true }");
        Files.writeString(feed, more);
        assertRefused(
                Command.run("run", feed, "--store", store),
                "dataset.indexes",
                "./turbidite index create " + store
                        + " Trips by_note --on note --unique --maintenance eager");
        assertThat(Command.run(
                                "index",
                                "create",
                                store,
                                "Trips",
                                "by_note",
                                "--on",
                                "note",
                                "--unique")
                        .code())
                .isZero();
        // a record that would take another one's note is a dead letter
        Files.writeString(
                directory.resolve("trips.csv"),
                Command.ROWS + "ZZ,1,2013-07-05,2013-07-05T11:30:00Z,,0,Late bird,0,0\n"
                        + "ZZ,2,2013-07-05,2013-07-05T11:30:00Z,,0,a new note,0,0\n");
        Result again = Command.run("run", feed, "--store", store, "--json");
        assertThat(again.err()).doesNotContain("internal");
        assertThat(again.code()).isZero();
        assertThat(again.json(again.outLines().size() - 1).path("records").asInt())
                .isEqualTo(1);
        assertThat(again.json(again.outLines().size() - 1).path("rejected").asInt())
                .isEqualTo(1);
        assertThat(Command.run("index", "disable", store, "Trips", "by_note").code())
                .isZero();
        assertRefused(
                Command.run("run", feed, "--store", store),
                "./turbidite index enable " + store + " Trips by_note");
    }
}
