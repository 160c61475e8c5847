package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

class TierTest {
    @Test
    void each_tier_has_its_count() {
        assertThat(Tier.of("quick").pick(1, 2, 3)).isEqualTo(1);
        assertThat(Tier.of("default").pick(1, 2, 3)).isEqualTo(2);
        assertThat(Tier.of("LONG").pick(1, 2, 3)).isEqualTo(3);
    }

    @Test
    void a_tier_that_is_none_is_refused_rather_than_run_as_another() {
        assertThatThrownBy(() -> Tier.of("log"))
                .hasMessage("-Dtier=log: there is quick, default and long");
    }

    @Test
    void the_flag_of_this_tier_is_this_tier() {
        assertThat(Tier.flag()).startsWith("-Dtier=");
        assertThat(Tier.of(Tier.flag().substring("-Dtier=".length()))).isEqualTo(Tier.current());
    }
}
