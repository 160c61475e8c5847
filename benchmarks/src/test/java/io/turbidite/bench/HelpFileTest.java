package io.turbidite.bench;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import picocli.CommandLine.Help.Ansi;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * {@code ./turbidite bench --help} needs no build, since the launcher prints a file. {@code
 * -Dhelp.write=true} writes it anew.
 */
class HelpFileTest {
    private static final Path FILE = Path.of("help.txt");

    @Test
    void the_launcher_prints_what_the_parser_says() throws IOException {
        String said = Main.commandLine().getUsageMessage(Ansi.OFF);
        if (Boolean.getBoolean("help.write")) {
            Files.writeString(FILE, said);
        }
        assertThat(Files.readString(FILE)).isEqualTo(said);
    }
}
