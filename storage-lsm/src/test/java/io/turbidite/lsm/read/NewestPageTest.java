package io.turbidite.lsm.read;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.bytes.Slice;

import org.junit.jupiter.api.Test;

class NewestPageTest {
    private static final Slice KEY = Slice.of(new byte[8]);

    /** The records of an earlier release's bulk load have one timestamp, and come in one page. */
    @Test
    void a_page_that_a_bulk_load_has_made_large_is_not_kept() {
        NewestSearch.Page page = new NewestSearch.Page();
        for (int i = 0; i < 8_000; i++) {
            page.add(KEY, 7, 0);
        }
        assertThat(page.isSmall()).isTrue();
        for (int i = 0; i < 1_000; i++) {
            page.add(KEY, 7, 0);
        }
        assertThat(page.clear().isSmall()).as("it has the room still").isFalse();
    }

    @Test
    void a_page_of_long_keys_is_not_kept() {
        NewestSearch.Page page = new NewestSearch.Page();
        Slice large = Slice.of(new byte[1_000]);
        for (int i = 0; i < 1_100; i++) {
            page.add(large, i, 0);
        }
        assertThat(page.isSmall()).isFalse();
    }
}
