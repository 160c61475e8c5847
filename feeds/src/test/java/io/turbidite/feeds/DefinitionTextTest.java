package io.turbidite.feeds;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.catalog.FeedOption;

import org.junit.jupiter.api.Test;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A definition as its keys, and back. */
class DefinitionTextTest {
    private static FeedOption text(String value, String... path) {
        return new FeedOption(List.of(path), value, true);
    }

    private static FeedOption word(String value, String... path) {
        return new FeedOption(List.of(path), value, false);
    }

    @Test
    void keys_become_a_text_that_reads_as_they_are() {
        String made = DefinitionText.of(
                "two words",
                List.of(
                        text("T", "dataset", "name"),
                        text("{id: int64, 'a b': \"string?\"}", "dataset", "type"),
                        word("2", "workers"),
                        text("2", "dataset", "retain"),
                        text("true", "source", "group"),
                        text("C:\\new \"x\"\n\u00e4\ud83d\ude00: #", "source", "path"),
                        text("\"[ab].log\"", "source", "topics"),
                        word("true", "parser", "header"),
                        text("", "parser", "null"),
                        text("x", "source", "client.id"),
                        text("[{name: i, on: [id, n]}]", "dataset", "indexes")));
        assertThat(made).isEqualTo("""
                        feed: "two words"
                        dataset:
                          name: T
                          type: {id: int64, "a b": "string?"}
                          retain: "2"
                          indexes: [{name: i, on: [id, n]}]
                        workers: 2
                        source:
                          group: "true"
                          path: "C:\\\\new \\"x\\"\\u000a\u00e4\ud83d\ude00: #"
                          topics: "[ab].log"
                          client.id: x
                        parser:
                          header: true
                          "null": ""
                        """);
        Map<String, String> keys = new LinkedHashMap<>();
        keys.put("feed", "two words");
        keys.put("dataset.name", "T");
        keys.put("dataset.type.id", "int64");
        keys.put("dataset.type.\"a b\"", "string?");
        keys.put("dataset.retain", "2");
        keys.put("dataset.indexes", "[{name: i, on: [id, n]}]");
        keys.put("workers", "2");
        keys.put("source.group", "true");
        keys.put("source.path", "C:\\new \"x\"\n\u00e4\ud83d\ude00: #");
        keys.put("source.topics", "[ab].log");
        keys.put("source.\"client.id\"", "x");
        keys.put("parser.header", "true");
        keys.put("parser.null", "");
        assertThat(DefinitionText.keys(made)).containsExactlyEntriesOf(keys);
    }

    @Test
    void what_is_no_definition_is_told_by_key() {
        assertThatThrownBy(() -> DefinitionText.of(
                        "f",
                        List.of(
                                text("{kind: file}", "source"),
                                text("a", "source", "path"),
                                text("[a", "dataset", "primaryKey"),
                                text("b", "dataset", "name"),
                                text("x", "dataset"))))
                .isInstanceOfSatisfying(DefinitionException.class, e -> {
                    assertThat(e.problems())
                            .extracting(DefinitionException.Problem::key)
                            .containsExactly("source.path", "dataset.primaryKey", "dataset");
                    assertThat(e.problems().getFirst().message())
                            .contains("beside a key above or below it");
                    assertThat(e.problems().get(1).message()).contains("is not YAML");
                });
    }
}
