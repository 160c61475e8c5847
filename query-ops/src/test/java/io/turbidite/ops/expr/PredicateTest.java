package io.turbidite.ops.expr;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** A predicate is what it was when it was made, and is shown in a line. */
class PredicateTest {
    @Test
    void bytes_that_the_caller_changes_later_are_not_its_own() {
        byte[] given = {1, 2};
        Predicate.Eq eq = new Predicate.Eq("b", given);
        Predicate.Range range = new Predicate.Range("b", given, given);
        given[0] = 9;
        assertThat(eq.value()).isEqualTo(new byte[] {1, 2});
        assertThat(range.low()).isEqualTo(new byte[] {1, 2});
        assertThat(range.high()).isEqualTo(new byte[] {1, 2});
    }

    @Test
    void a_long_value_is_shown_by_its_beginning() {
        assertThat(new Predicate.Eq("t", "x".repeat(1_000_000)).toString())
                .startsWith("t = \"xxx")
                .endsWith("(1000000 characters)\"")
                .hasSizeLessThan(200);
        assertThat(new Predicate.Eq("t", "short").toString()).isEqualTo("t = \"short\"");
    }
}
