package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** Arrays and nested records on the command line, by their paths. */
class ArrayCommandTest {
    private static final String DEFINITION = """
            feed: tweets
            dataset:
              name: Tweets
              type:
                id: int64
                user: { lang: string, name: "string?" }
                hashtags: [string]
                text: string
              primaryKey: id
              indexes:
                - { name: by_tag, kind: btree, on: "hashtags[]" }
            source: { kind: file, path: tweets.json }
            parser: { kind: json }
            """;

    @TempDir
    private Path directory = Path.of("");

    private Path store = Path.of("");

    @BeforeEach
    void load() throws IOException {
        store = directory.resolve("store");
        Files.writeString(directory.resolve("feed.yaml"), DEFINITION);
        Files.writeString(directory.resolve("tweets.json"), """
                {"id":1,"user":{"lang":"en","verified":true},"hashtags":["ohio","vote","ohio"],"text":"x"}
                {"id":2,"user":{"lang":"de","name":"Bea"},"hashtags":["vote"],"text":"y"}
                {"id":3,"user":{"lang":"en"},"hashtags":[],"text":"z"}
                """);
        Result run = Command.run("run", directory.resolve("feed.yaml"), "--store", store);
        assertThat(run.code()).as(run.err()).isZero();
    }

    private Result query(Object... options) {
        Object[] all = new Object[options.length + 3];
        all[0] = "query";
        all[1] = store;
        all[2] = "Tweets";
        System.arraycopy(options, 0, all, 3, options.length);
        return Command.run(all);
    }

    @Test
    void elements_and_nested_fields_are_asked_for_by_their_paths() {
        Result tagged = query("--eq", "hashtags[]=ohio", "--select", "id,user,hashtags[]");
        assertThat(tagged.out().strip())
                .isEqualTo(
                        "{\"id\":1,\"user\":{\"lang\":\"en\",\"verified\":true},\"hashtags\":[\"ohio\",\"vote\",\"ohio\"]}");
        assertThat(query("--eq", "user.lang=en", "--select", "id,user.lang", "--order", "id")
                        .out()
                        .lines())
                .containsExactly(
                        "{\"id\":1,\"user.lang\":\"en\"}", "{\"id\":3,\"user.lang\":\"en\"}");
        assertThat(query("--group", "hashtags[]").out().lines())
                .containsExactly(
                        "{\"hashtags[]\":\"ohio\",\"count\":1}",
                        "{\"hashtags[]\":\"vote\",\"count\":2}");
        assertThat(query("--where", "hashtags[] != 'ohio' or user.name is null", "--count")
                        .out()
                        .strip())
                .isEqualTo("{\"count\":3}");
        Result counted = query("--eq", "hashtags[]=vote", "--count", "--explain");
        assertThat(counted.out().strip()).isEqualTo("{\"count\":2}");
        assertThat(counted.err()).contains("by_tag (btree) on hashtags[]");
    }

    @Test
    void indexes_are_made_on_elements() {
        Result created = Command.run(
                "index", "create", store, "Tweets", "by_user_tag", "--on", "user.lang,hashtags[]");
        assertThat(created.code()).as(created.err()).isZero();
        assertThat(Command.run("inspect", store).out())
                .contains("index by_user_tag on user.lang, hashtags[]")
                .contains("user: {lang: string, name: string?}");
        assertThat(Command.run("verify", store).code()).isZero();
        Result asked = query(
                "--eq", "user.lang=en", "--eq", "hashtags[]=vote", "--select", "id", "--explain");
        assertThat(asked.out().strip()).isEqualTo("{\"id\":1}");
        Result twice = Command.run(
                "index", "create", store, "Tweets", "wrong", "--on", "hashtags", "--kind", "btree");
        assertThat(twice.code()).isEqualTo(2);
        assertThat(twice.err()).contains("names the array 'hashtags'", "'hashtags[]'");
        Result unique = Command.run(
                "index", "create", store, "Tweets", "wrong", "--on", "hashtags[]", "--unique");
        assertThat(unique.code()).isEqualTo(2);
        assertThat(unique.err()).contains("unique");
        assertThat(query("--eq", "hashtags=ohio").err()).contains("'hashtags' is an array");
        assertThat(query("--group", "hashtags").code()).isEqualTo(2);
    }

    @Test
    void records_with_arrays_are_put_and_got() {
        String record =
                "{\"id\":9,\"user\":{\"lang\":\"fr\"},\"hashtags\":[\"été\"],\"text\":\"\"}";
        assertThat(Command.run("put", store, "Tweets", record).code()).isZero();
        assertThat(Command.run("get", store, "Tweets", "9").out().strip()).isEqualTo(record);
        Result wrong = Command.run(
                "put", store, "Tweets", record.replace("[\"été\"]", "[\"a\",{\"b\":1}]"));
        assertThat(wrong.code()).isNotZero();
        assertThat(wrong.err()).contains("hashtags[1]");
    }
}
