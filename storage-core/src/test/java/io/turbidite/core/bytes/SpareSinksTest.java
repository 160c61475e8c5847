package io.turbidite.core.bytes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** Sinks that are kept come back empty, to one taker each, and do not grow for ever. */
class SpareSinksTest {
    @Test
    void a_sink_that_was_given_back_is_taken_again_and_is_empty() {
        ByteSink sink = SpareSinks.take();
        sink.putUtf8("left by the one before");
        SpareSinks.give(sink);
        ByteSink again = SpareSinks.take();
        assertThat(again).isSameAs(sink);
        assertThat(again.length()).isZero();
        assertThat(SpareSinks.take()).as("the first is still out").isNotSameAs(again);
    }

    @Test
    void a_large_one_is_not_kept() {
        ByteSink large = SpareSinks.take();
        large.reserve(1 << 20);
        SpareSinks.give(large);
        for (int i = 0; i < 100; i++) {
            assertThat(SpareSinks.take()).isNotSameAs(large);
        }
    }
}
