package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.slf4j.Logger;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;

class StandardErrorLoggingTest {
    private final Logger logger =
            new StandardErrorLogging().getLoggerFactory().getLogger("some.library.Connection");

    @Test
    @ResourceLock(Resources.SYSTEM_ERR)
    void warnings_and_errors_are_a_line_each_with_their_causes() {
        Exception failure = new IllegalStateException("no answer", new IOException("reset"));
        assertThat(said(() -> logger.warn("{} of {} failed", 1, 2, failure)))
                .isEqualTo("WARN  Connection: 1 of 2 failed; java.lang.IllegalStateException:"
                        + " no answer, caused by java.io.IOException: reset%n".formatted());
        assertThat(said(() -> logger.error("over")))
                .isEqualTo("ERROR Connection: over%n".formatted());
    }

    @Test
    @ResourceLock(Resources.SYSTEM_ERR)
    void a_ring_of_causes_ends() {
        Exception first = new IllegalStateException("first");
        first.initCause(new IllegalStateException("second", first));
        assertThat(said(() -> logger.warn("failed", first)).lines()).hasSize(1);
    }

    @Test
    @ResourceLock(Resources.SYSTEM_ERR)
    void what_is_no_warning_goes_nowhere() {
        assertThat(said(() -> {
                    logger.info("started");
                    logger.debug("a detail");
                    logger.trace("a step");
                }))
                .isEmpty();
    }

    private static String said(Runnable work) {
        PrintStream before = System.err;
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        System.setErr(new PrintStream(bytes, true, StandardCharsets.UTF_8));
        try {
            work.run();
        } finally {
            System.setErr(before);
        }
        return bytes.toString(StandardCharsets.UTF_8);
    }
}
