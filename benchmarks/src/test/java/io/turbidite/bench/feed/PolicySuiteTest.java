package io.turbidite.bench.feed;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.bench.report.Curves;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.nio.file.Path;
import java.util.List;

/** The whole suite, small: each policy has points in each drawing, the store's memory too. */
@Timeout(120)
class PolicySuiteTest {
    private static final List<String> POLICIES =
            List.of("basic", "spill", "discard", "throttle", "elastic");

    @TempDir
    private Path directory;

    @Test
    void each_policy_is_drawn_by_rates_backlog_memory_and_lag() throws Exception {
        List<Curves> all = new PolicySuite(1, 4, directory).run();
        assertThat(all).hasSize(8);
        for (Curves curves : all) {
            String table = curves.table();
            assertThat(table).contains("| seconds | " + String.join(" | ", POLICIES) + " |");
            // two calm seconds, one of the burst, and one behind it
            assertThat(table).contains("| 3.5 |");
        }
        for (String policy : POLICIES) {
            assertThat(all.get(5).median(policy, 3.0)).as(policy).isPositive();
            assertThat(all.get(6).median(policy, 3.0)).as(policy).isPositive();
        }
        // the senders of a feed that waits are held back; it does not reach the end of what they
        // have, and says since when
        assertThat(all.get(7).median("basic", 3.5)).isBetween(1.0, 4.0);
        assertThat(all.get(7).median("basic", 1.0)).isZero();
    }
}
