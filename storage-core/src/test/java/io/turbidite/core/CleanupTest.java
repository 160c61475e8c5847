package io.turbidite.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

/** All is released whatever fails, and what failed first is told. */
class CleanupTest {
    private final List<String> released = new ArrayList<>();

    @Test
    void what_a_block_collects_is_released_at_its_end() {
        List<String> things = new ArrayList<>();
        try (Cleanup _ = Cleanup.ofAll(things, released::add)) {
            things.add("a");
            things.add("b");
            assertThat(released).isEmpty();
        }
        assertThat(released).containsExactly("a", "b");
    }

    @Test
    void the_failure_of_a_block_is_told_before_that_of_its_end() {
        List<String> things = List.of("a", "bad", "c");
        assertThatThrownBy(() -> {
                    try (Cleanup _ = Cleanup.ofAll(things, this::release)) {
                        throw new IllegalArgumentException("the block");
                    }
                })
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage("the block")
                .satisfies(failure -> assertThat(failure.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("bad"));
        assertThat(released).containsExactly("a", "c");
    }

    @Test
    void the_first_failure_of_an_end_has_the_others() {
        List<String> things = List.of("bad", "b", "bad too");
        assertThatThrownBy(() -> new Cleanup().addAll(things, this::release).run())
                .hasMessage("bad")
                .satisfies(failure -> assertThat(failure.getSuppressed())
                        .extracting(Throwable::getMessage)
                        .containsExactly("bad too"));
        assertThat(released).containsExactly("b");
    }

    private void release(String thing) {
        if (thing.startsWith("bad")) {
            throw new IllegalStateException(thing);
        }
        released.add(thing);
    }
}
