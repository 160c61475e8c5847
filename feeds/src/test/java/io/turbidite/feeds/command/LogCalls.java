package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.ExitCode;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/**
 * Commands on one log, and what is asked of their answers.
 *
 * @param directory of the files that they read; {@code events.json} has {@link #EVENTS}
 * @param log the log's
 */
record LogCalls(Path directory, Path log) {
    static final String EVENTS = """
            {"id":1,"type":"push","repo":{"id":10,"name":"a/b"},"size":3}
            {"id":2,"type":"issue","repo":{"id":11,"name":"c/d"},"action":"opened"}
            {"id":3,"type":"push","repo":{"id":11,"name":"c/d"},"size":7}
            {"id":4,"type":tru}
            {"id":5,"type":"push","repo":{"id":12,"name":"e/\\"f"},"size":9}
            """;

    static LogCalls in(Path directory) throws IOException {
        Files.writeString(directory.resolve("events.json"), EVENTS);
        return new LogCalls(directory, directory.resolve("log"));
    }

    Result log(String command, Object... more) {
        List<Object> args = new ArrayList<>(List.of("log", command, log));
        args.addAll(List.of(more));
        return Command.run(args.toArray());
    }

    Result ingest(Object... more) {
        List<Object> args = new ArrayList<>(List.of(directory.resolve("events.json")));
        args.addAll(List.of(more));
        return log("ingest", args.toArray());
    }

    /** A store with a dataset of repositories, by id. */
    Path repositories() throws IOException {
        Path feed = directory.resolve("repos.yaml");
        Files.writeString(feed, """
                feed: repos
                dataset:
                  name: Repos
                  type: { id: int64, stars: int32, language: string }
                  primaryKey: id
                source: { kind: file, path: repos.json }
                parser: { kind: json }
                """);
        Files.writeString(directory.resolve("repos.json"), """
                {"id":10,"stars":5,"language":"C"}
                {"id":11,"stars":7,"language":"Java"}
                """);
        Path store = directory.resolve("store");
        assertThat(Command.run("run", feed, "--store", store).code()).isZero();
        return store;
    }

    static void assertRefused(Result result, String... says) {
        assertThat(result.code()).as(result.err()).isEqualTo(ExitCode.USAGE);
        assertThat(result.out()).isEmpty();
        assertThat(result.errLines()).hasSizeBetween(1, 2);
        assertThat(result.err()).contains(says).doesNotContain("\tat ");
    }
}
