package io.turbidite.feeds.command.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.command.common.Console;
import io.turbidite.feeds.command.common.ExitCode;
import io.turbidite.feeds.command.common.Interrupts;

import org.jline.terminal.Terminal;
import org.jline.terminal.impl.DumbTerminal;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

class SqlShellTest {
    @TempDir
    private Path directory;

    private final List<String> asked = new ArrayList<>();

    /** The library's thread that reads ahead ends with the input. */
    @AfterEach
    void nobody_reads_on() throws InterruptedException {
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().endsWith("non blocking reader thread")) {
                thread.join(10_000);
            }
        }
    }

    /** What is shown when these lines are typed. */
    private String shown(String typed) throws IOException {
        return shown(typed, "dumb");
    }

    private String shown(String typed, String kind) throws IOException {
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(shown, true, StandardCharsets.UTF_8);
        Console console = new Console(
                new ByteArrayInputStream(new byte[0]),
                out,
                out,
                true,
                directory,
                directory,
                Interrupts.none(),
                Clock.system());
        try (Terminal terminal = new DumbTerminal(
                "test",
                kind,
                new ByteArrayInputStream(typed.getBytes(StandardCharsets.UTF_8)),
                shown,
                StandardCharsets.UTF_8)) {
            int code = new SqlShell(console, terminal, this::answer, directory.resolve("history"))
                    .run();
            assertThat(code).isEqualTo(ExitCode.OK);
        }
        return shown.toString(StandardCharsets.UTF_8);
    }

    private int answer(Console console, String text, boolean csv) {
        String statement = text.strip();
        if (csv) {
            console.out()
                    .print(statement.startsWith("show") ? "name\r\nPets\r\n" : "name\r\nkind\r\n");
            return ExitCode.OK;
        }
        asked.add(statement);
        if (statement.contains("wrong")) {
            throw new InvalidRequestException("it is wrong");
        }
        if (statement.contains("long")) {
            try (Interrupts.Watch _ = console.interrupts().watch(() -> asked.add("stopped"))) {
                raise.run();
            }
        }
        console.out().println("answer " + asked.size());
        return ExitCode.OK;
    }

    private Runnable raise = () -> {};

    @Test
    void a_statement_goes_over_lines_to_its_semicolon() throws IOException {
        String shown = shown("select 1\n  as \"a;b\";\nselect 2; select ';' -- ; \n;\n");
        assertThat(asked).containsExactly("select 1\n  as \"a;b\"", "select 2", "select ';' -- ;");
        assertThat(shown).contains("answer 1", "answer 2", "answer 3");
        assertThat(Files.readString(directory.resolve("history"))).contains("select 2; select ';'");
    }

    @Test
    void the_tab_key_completes_words_datasets_and_fields() throws IOException {
        shown("sel\tx.ki\tfr\tPe\tx;\n", "ansi");
        assertThat(asked).containsExactly("select x.kind from Pets x");
    }

    @Test
    void commands_of_the_shell_ask_and_switch() throws IOException {
        String shown =
                shown("\\d\n\\d Pets\n\\plan\nselect 1;\n\\plan\n\\timing\nselect 2;\n\\nn\n\\?\n");
        assertThat(asked)
                .containsExactly(
                        "show datasets",
                        "describe Pets",
                        "explain select 1",
                        "select 1",
                        "select 2");
        assertThat(shown)
                .contains("plans are shown", "times are shown", "there is no \\nn", "Ctrl-C drops");
    }

    @Test
    void the_shell_goes_on_after_a_mistake_and_ends_with_the_input() throws IOException {
        String shown = shown("select wrong; select 2;\nselect 3;\nselect 4");
        assertThat(shown).contains("turbidite: it is wrong");
        assertThat(asked).containsExactly("select wrong", "select 3");
    }

    @Test
    void an_interrupt_ends_the_statement_and_not_the_shell() throws IOException {
        ByteArrayOutputStream shown = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(shown, true, StandardCharsets.UTF_8);
        Console console = new Console(
                new ByteArrayInputStream(new byte[0]),
                out,
                out,
                true,
                directory,
                directory,
                Interrupts.none(),
                Clock.system());
        try (Terminal terminal = new DumbTerminal(
                "test",
                "dumb",
                new ByteArrayInputStream(
                        "select long;\nselect 2;\n".getBytes(StandardCharsets.UTF_8)),
                shown,
                StandardCharsets.UTF_8)) {
            raise = () -> terminal.raise(Terminal.Signal.INT);
            assertThat(new SqlShell(console, terminal, this::answer, directory.resolve("history"))
                            .run())
                    .isEqualTo(ExitCode.OK);
        }
        assertThat(asked).containsExactly("select long", "stopped", "select 2");
    }
}
