package io.turbidite.core.log;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.Locale;

/** The names of segments. */
class SegmentTest {
    @Test
    void a_name_is_the_same_where_people_write_other_digits() {
        Locale before = Locale.getDefault();
        Locale.setDefault(Locale.forLanguageTag("ar-EG"));
        try {
            assertThat("%d".formatted(12)).as("the locale matters").isNotEqualTo("12");
            assertThat(Segment.name("log", 12)).isEqualTo("log/0000000012.log");
            assertThat(Segment.numberOf("0000000012.log")).isEqualTo(12);
        } finally {
            Locale.setDefault(before);
        }
    }
}
