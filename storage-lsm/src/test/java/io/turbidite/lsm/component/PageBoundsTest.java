package io.turbidite.lsm.component;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.lsm.component.PageBounds.Field;
import io.turbidite.lsm.component.PageBounds.Words;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PageBoundsTest {
    @ParameterizedTest
    @ValueSource(ints = {1, 2, 1_023, 1_024, 1_025, 2_048, 2_049, 10_000, 1_000_000})
    void each_page_is_in_one_group_of_neighbours(int pageCount) {
        PageBounds bounds = new PageBounds(pageCount, 1);
        int group = -1;
        for (int page = 0; page < pageCount; page++) {
            if (bounds.isFirstOfGroup(page)) {
                group++;
                assertThat(bounds.firstPage(group)).isEqualTo(page);
            }
            assertThat(bounds.group(page)).isEqualTo(group);
            boolean isLast = page + 1 == pageCount || bounds.group(page + 1) > group;
            assertThat(bounds.isLastOfGroup(page)).isEqualTo(isLast);
        }
        assertThat(group).isBetween(0, PageBounds.GROUPS_MAX - 1);
    }

    private static Words words(long first, long second) {
        Words words = new Words();
        words.set(first, second);
        return words;
    }

    @Test
    void a_group_is_ruled_out_by_what_is_known_of_it() {
        Field field = new PageBounds(3, 1).field(0);
        assertThat(field.rulesOut(0, false, words(9, 0), null)).isFalse();
        field.put(0, words(3, 5), words(-3, 5), true, false);
        field.put(1, words(0, 0), words(0, 0), false, true);
        assertThat(field.rulesOut(0, false, words(-3, 5), null)).isFalse();
        assertThat(field.rulesOut(0, false, words(-3, 6), null)).isTrue();
        assertThat(field.rulesOut(0, false, null, words(3, 5))).isFalse();
        assertThat(field.rulesOut(0, false, null, words(3, 4))).isTrue();
        assertThat(field.rulesOut(1, true, words(9, 0), null)).isFalse();
        assertThat(field.rulesOut(1, false, null, null)).isTrue();
        assertThat(field.rulesOut(2, false, words(9, 0), null)).isFalse();
    }

    @Test
    void what_it_takes_is_36_bytes_a_group_of_each_field_asked_for_and_36_KiB_at_most() {
        PageBounds small = new PageBounds(3, 2);
        assertThat(small.bytes()).isZero();
        small.field(1);
        assertThat(small.bytes()).isEqualTo(3 * 36);
        small.field(0);
        assertThat(small.bytes()).isEqualTo(2 * 3 * 36);
        PageBounds large = new PageBounds(1_024 * 1_000, 1);
        large.field(0);
        assertThat(large.bytes()).isEqualTo(36 << 10);
    }
}
