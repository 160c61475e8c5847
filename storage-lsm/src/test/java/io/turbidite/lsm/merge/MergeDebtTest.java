package io.turbidite.lsm.merge;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

class MergeDebtTest {
    private static List<ComponentSize> newestFirst(long... bytes) {
        List<ComponentSize> sizes = new ArrayList<>();
        for (int i = 0; i < bytes.length; i++) {
            int age = bytes.length - i;
            sizes.add(new ComponentSize(bytes[i], 10L * age, 10L * age + 9, 0, false));
        }
        return sizes;
    }

    @Test
    void a_content_policy_is_owed_nothing() {
        assertThat(MergeDebt.of(new NoMergePolicy(), newestFirst(1, 1, 1, 1, 1)))
                .isEqualTo(MergeDebt.NONE);
        assertThat(MergeDebt.of(new ConstantMergePolicy(3), newestFirst(1, 2, 3)))
                .isEqualTo(MergeDebt.NONE);
        assertThat(MergeDebt.of(new ConstantMergePolicy(3), List.of())).isEqualTo(MergeDebt.NONE);
    }

    @Test
    void merges_that_follow_from_merges_are_owed_too() {
        // 10 + 10 >= 1.2 * 16 takes all three; 36 >= 1.2 * 30 then takes the fourth
        MergeDebt debt =
                MergeDebt.of(new TieringMergePolicy(1.2, 2, 1_000), newestFirst(10, 10, 16, 30));
        assertThat(debt.componentCount()).isEqualTo(3);
        assertThat(debt.bytes()).isEqualTo(66);
    }
}
