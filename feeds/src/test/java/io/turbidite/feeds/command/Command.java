package io.turbidite.feeds.command;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.Interrupts;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/** Runs the command in this process, and what it said. */
final class Command {
    /** A small feed with a broken row, a primary key of two fields, and a field of every sort. */
    static final String FEED = """
            feed: trips
            dataset:
              name: Trips
              type:
                carrier: string
                number: int32
                day: date
                at: datetime
                tail: string?
                delay: int32?
                note: string
                x: double
                y: double
                place: point?
              primaryKey: [carrier, number]
              filter: at
              partitions: 2
              indexes:
                - { name: by_tail, kind: btree, on: tail }
            source: { kind: file, path: trips.csv }
            parser: { kind: csv }
            transform: { place: "point(x, y)" }
            """;

    static final String ROWS = """
            carrier,number,day,at,tail,delay,note,x,y
            UA,1,2013-07-04,2013-07-04T10:00:00Z,N1,-5,Early bird,1,1
            UA,2,2013-07-04,2013-07-04T11:00:00Z,N2,10,Late bird,2,2
            UA,-3,2013-07-05,2013-07-05T10:00:00Z,N1,,no delay known,11,2
            AA,1,2013-07-05,2013-07-05T11:30:00.25Z,,0,on time,-3,-4
            AA,x,2013-07-05,2013-07-05T11:30:00Z,,0,not a number,0,0
            """;

    /** A key of one number. */
    static final String NUMBERS_FEED = """
            feed: numbers
            dataset:
              name: Numbers
              type: { id: int64 }
              primaryKey: id
            source: { kind: file, path: numbers.json }
            parser: { kind: json }
            """;

    static final String NUMBERS = "{\"id\":-5,\"extra\":[1,2]}\n{\"id\":7}\n";

    private Command() {}

    /** What came of a command. */
    record Result(int code, String out, String err) {
        List<String> outLines() {
            return out.lines().toList();
        }

        List<String> errLines() {
            return err.lines().toList();
        }

        JsonNode json() {
            return parse(out);
        }

        JsonNode json(int line) {
            return parse(outLines().get(line));
        }
    }

    static JsonNode parse(String text) {
        try {
            return new ObjectMapper().readTree(text);
        } catch (JsonProcessingException e) {
            throw new AssertionError("not JSON: " + text, e);
        }
    }

    static Result run(Object... args) {
        return runIn(Path.of(""), false, Interrupts.none(), args);
    }

    static Result runIn(Path home, boolean terminal, Interrupts interrupts, Object... args) {
        return run(InputStream.nullInputStream(), home, terminal, interrupts, args);
    }

    /** With {@code piped} on standard input. */
    static Result runPiped(String piped, Object... args) {
        byte[] bytes = piped.getBytes(StandardCharsets.UTF_8);
        return run(new ByteArrayInputStream(bytes), Path.of(""), false, Interrupts.none(), args);
    }

    static Result run(
            InputStream in, Path home, boolean terminal, Interrupts interrupts, Object[] args) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        ByteArrayOutputStream err = new ByteArrayOutputStream();
        String[] texts = new String[args.length];
        for (int i = 0; i < args.length; i++) {
            texts[i] = args[i].toString();
        }
        Console console = new Console(
                in,
                new PrintStream(out, false, StandardCharsets.UTF_8),
                new PrintStream(err, true, StandardCharsets.UTF_8),
                terminal,
                Path.of("").toAbsolutePath(),
                home,
                interrupts,
                Clock.system());
        int code = Main.run(texts, console);
        return new Result(
                code, out.toString(StandardCharsets.UTF_8), err.toString(StandardCharsets.UTF_8));
    }

    /** Loads both feeds into {@code store} in {@code directory}. */
    static Path load(Path directory) throws IOException {
        Path store = directory.resolve("store");
        Files.writeString(directory.resolve("trips.yaml"), FEED);
        Files.writeString(directory.resolve("trips.csv"), ROWS);
        Files.writeString(directory.resolve("numbers.yaml"), NUMBERS_FEED);
        Files.writeString(directory.resolve("numbers.json"), NUMBERS);
        for (String feed : List.of("trips.yaml", "numbers.yaml")) {
            Result result = run("run", directory.resolve(feed), "--store", store);
            if (result.code() != 0) {
                throw new AssertionError(result.err());
            }
        }
        return store;
    }
}
