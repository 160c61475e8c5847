package io.turbidite.core;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;

/** What was begun is undone, unless it is kept. */
class UndoTest {
    private final List<String> steps = new ArrayList<>();

    @Test
    void what_is_kept_stands() {
        try (Undo undo = Undo.of(() -> steps.add("undone"))) {
            undo.keep();
        }
        assertThat(steps).isEmpty();
        assertThat(open(false)).isEqualTo("opened");
        assertThat(steps).isEmpty();
    }

    @Test
    void what_is_not_kept_is_undone_whatever_ends_the_block() {
        assertThatThrownBy(() -> open(true)).isInstanceOf(ClosedException.class);
        assertThat(steps).containsExactly("undone");
        try (Undo undo = Undo.of(() -> steps.add("again"))) {
            assertThat(undo).isNotNull();
        }
        assertThat(steps).containsExactly("undone", "again");
    }

    @Test
    void the_first_failure_is_told_and_the_second_goes_with_it() {
        assertThatThrownBy(() -> {
                    try (Undo undo = Undo.of(() -> {
                        throw new IllegalStateException("second");
                    })) {
                        throw new ClosedException("first " + undo.getClass().getSimpleName());
                    }
                })
                .isInstanceOf(ClosedException.class)
                .satisfies(first -> assertThat(first.getSuppressed()).hasSize(1));
    }

    private String open(boolean failing) {
        try (Undo undo = Undo.of(() -> steps.add("undone"))) {
            if (failing) {
                throw new ClosedException("it");
            }
            return undo.keep("opened");
        }
    }
}
