package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

import java.util.Arrays;

class TermEstimateTest {
    @Test
    void all_of_the_terms_are_no_more_than_the_rarest() {
        assertThat(TermEstimate.records(new long[] {500, 20, 300}, 3, 1_000)).isEqualTo(20);
    }

    @Test
    void any_of_the_terms_may_be_all_of_their_entries() {
        assertThat(TermEstimate.records(new long[] {500, 20, 300}, 1, 1_000)).isEqualTo(820);
    }

    @Test
    void a_term_of_every_record_leaves_none_out() {
        // each record has to have one of the rarest two
        assertThat(TermEstimate.records(new long[] {1_000, 10, 1_000, 20}, 3, 1_000))
                .isEqualTo(30);
    }

    @Test
    void grams_of_many_records_of_which_several_are_wanted_are_of_few() {
        long[] entries = new long[13];
        Arrays.fill(entries, 50_000);
        assertThat(TermEstimate.records(entries, 7, 1_000_000)).isBetween(5_000L, 50_000L);
    }

    @ParameterizedTest
    @CsvSource({"2, 75", "3, 50"})
    void no_more_than_have_so_many_entries(int least, long most) {
        assertThat(TermEstimate.records(new long[] {30, 30, 30, 60}, least, 60))
                .isLessThanOrEqualTo(most);
    }
}
