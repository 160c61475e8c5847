package io.turbidite.pm.index;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.turbidite.core.bytes.Slice;

import org.junit.jupiter.api.Test;

import java.nio.charset.StandardCharsets;
import java.util.Objects;

class HintsTest {
    private static Slice key(String text) {
        return Slice.of(text.getBytes(StandardCharsets.US_ASCII));
    }

    private static String next(Hints hints) {
        return Objects.requireNonNull(hints.poll()).toUtf8();
    }

    /** A hundred queries of one key are looked after by one collection. */
    @Test
    void a_key_waits_once_however_often_it_is_met() {
        Hints hints = new Hints();
        for (int query = 0; query < 100; query++) {
            hints.add(key("hot"), new Hints.Probe());
        }
        hints.add(key("other"), new Hints.Probe());
        assertEquals(2, hints.count());
        assertEquals("hot", next(hints));
        hints.add(key("hot"), new Hints.Probe());
        assertEquals("other", next(hints));
        assertEquals("hot", next(hints), "met again since it was taken");
        assertNull(hints.poll());
    }

    @Test
    void what_is_more_than_the_bound_is_forgotten_until_it_is_met_again() {
        Hints hints = new Hints();
        for (int i = 0; i <= Hints.COUNT_MAX; i++) {
            hints.add(key("key " + i), new Hints.Probe());
        }
        assertEquals(Hints.COUNT_MAX, hints.count());
        for (int i = 0; i < Hints.COUNT_MAX; i++) {
            assertEquals("key " + i, next(hints));
        }
        hints.add(key("key " + Hints.COUNT_MAX), new Hints.Probe());
        assertEquals("key " + Hints.COUNT_MAX, next(hints));
    }
}
