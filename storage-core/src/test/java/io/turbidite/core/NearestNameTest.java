package io.turbidite.core;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.List;

/** What a mistyped name may mean. */
class NearestNameTest {
    private static final List<String> NAMES = List.of("Flights", "Tweets", "id", "by_tail");

    @ParameterizedTest
    @CsvSource({
        "flights,Flights",
        "Flight,Flights",
        "Fligths,Flights",
        "Tweet,Tweets",
        "bytail,by_tail",
        "ID,id"
    })
    void a_name_like_it_is_found(String given, String meant) {
        assertThat(NearestName.of(given, NAMES)).isEqualTo(meant);
        assertThat(NearestName.hint(given, NAMES)).isEqualTo("; is '%s' meant?".formatted(meant));
    }

    @ParameterizedTest
    @CsvSource({"Flights", "Nobody", "ix", "x", "dii", "di", "''", "Flightsssssssss"})
    void one_like_no_other_has_none(String given) {
        assertThat(NearestName.of(given, NAMES)).isNull();
        assertThat(NearestName.hint(given, NAMES)).isEmpty();
    }

    @Test
    void a_name_without_end_is_compared_with_nothing() {
        assertThat(NearestName.of("x".repeat(1_000_000), List.of("x".repeat(999_999))))
                .isNull();
    }
}
