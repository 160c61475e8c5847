package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;

class GivenArgumentsTest {
    private static byte[] line(Charset charset, String... texts) {
        return (String.join("\0", texts) + "\0").getBytes(charset);
    }

    @Test
    void what_came_as_it_was_given_is_right_in_any_encoding() {
        String[] args = {"query", "", "Zürich"};
        for (Charset charset :
                new Charset[] {StandardCharsets.UTF_8, StandardCharsets.ISO_8859_1}) {
            byte[] line = line(charset, "java", "-cp", "a b", "Main", "query", "", "Zürich");
            assertThat(GivenArguments.firstLost(args, line, charset)).isNull();
        }
        assertThat(GivenArguments.firstLost(args, null, StandardCharsets.UTF_8)).isNull();
        assertThat(GivenArguments.firstLost(new String[0], new byte[0], StandardCharsets.UTF_8))
                .isNull();
    }

    @Test
    void what_was_replaced_is_found_and_a_question_mark_that_was_given_is_none() {
        byte[] line = line(StandardCharsets.UTF_8, "java", "Main", "where?", "Zürich");
        assertThat(GivenArguments.firstLost(
                        new String[] {"where?", "Z??rich"}, line, StandardCharsets.US_ASCII))
                .isEqualTo("Z??rich");
        byte[] latin = line(StandardCharsets.ISO_8859_1, "java", "Main", "where?", "Zürich");
        assertThat(GivenArguments.firstLost(
                        new String[] {"where?", "Z\uFFFDrich"}, latin, StandardCharsets.UTF_8))
                .isEqualTo("Z\uFFFDrich");
        assertThat(GivenArguments.firstLost(
                        new String[] {"Z\uFFFDrich"}, null, StandardCharsets.UTF_8))
                .isEqualTo("Z\uFFFDrich");
    }
}
