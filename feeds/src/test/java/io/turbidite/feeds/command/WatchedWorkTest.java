package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;
import io.turbidite.feeds.command.common.Interrupts;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/** Long work shows how far it is, to who watches. */
class WatchedWorkTest {
    @TempDir
    private Path directory;

    private static Result run(boolean terminal, List<Object> line) {
        return Command.runIn(Path.of(""), terminal, Interrupts.none(), line.toArray());
    }

    @Test
    void a_bar_is_drawn_on_a_terminal_and_nowhere_else() throws IOException {
        Path store = Command.load(directory);
        int number = 0;
        for (boolean terminal : new boolean[] {true, false}) {
            Path copy = directory.resolve("copy" + number++);
            List<List<Object>> commands = List.of(
                    List.of("verify", store),
                    List.of(
                            "index",
                            "create",
                            store,
                            "Trips",
                            "i" + number,
                            "--on",
                            "day",
                            "--maintenance",
                            "validation"),
                    List.of("repair", store, "Trips"),
                    List.of("backup", store, copy, "--copy"),
                    List.of("restore", copy, directory.resolve("restored" + number)),
                    List.of("ship", store, directory.resolve("shipment" + number)));
            for (List<Object> command : commands) {
                Result result = run(terminal, command);
                assertThat(result.code()).as("%s: %s", command, result.err()).isZero();
                if (terminal) {
                    assertThat(result.err()).as("%s", command).contains("\r").contains("%");
                } else {
                    assertThat(result.err()).as("%s", command).isEmpty();
                }
            }
        }
    }
}
