package io.turbidite.ops;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.List;
import java.util.OptionalLong;

/** The table for people. */
class ExplanationTest {
    private static String table(String detail) {
        return new Explanation(
                        "Flights",
                        "primary scan",
                        List.of(new Explanation.Operator(
                                "project", detail, OptionalLong.of(112), OptionalLong.empty())),
                        List.of())
                .toString();
    }

    @Test
    void long_details_are_wrapped_at_spaces_below_each_other() {
        String fields = "field, ".repeat(40) + "last";
        List<String> lines = table(fields).lines().toList();
        assertThat(lines).allSatisfy(line -> assertThat(line).hasSizeLessThanOrEqualTo(100));
        assertThat(lines).hasSize(2 + 5 + 1);
        assertThat(lines.get(2)).contains("project            112             -  field, field,");
        assertThat(lines.subList(3, 7))
                .allSatisfy(line -> assertThat(line).startsWith(" ".repeat(40) + "field, "));
        String whole = String.join(" ", lines.subList(2, 7)).replaceAll(" {2,}", " ");
        assertThat(whole).endsWith(" - " + fields);
    }

    @Test
    void a_long_word_stays_whole() {
        String word = "x".repeat(150);
        assertThat(table("a " + word + " b")).contains(word).contains("\n" + " ".repeat(40) + "b");
        assertThat(table(word)).contains("-  " + word);
    }
}
