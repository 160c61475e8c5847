package io.turbidite.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.common.Interrupts;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Work that does not end when it is asked to is ended by the second signal, not by the grace. */
class SecondSignalTest {
    /** A process whose work never ends. */
    static final class Stuck {
        private Stuck() {}

        @SuppressWarnings("try") // the watch stands open for ever
        public static void main(String[] args) throws InterruptedException {
            Interrupts.Watch watch =
                    Interrupts.ofProcess().watch(() -> System.out.println("asked"));
            System.out.println("ready");
            new CountDownLatch(1).await();
            watch.close();
        }
    }

    @Test
    @Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void the_second_one_ends_the_process_at_once() throws IOException, InterruptedException {
        Process child = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Stuck.class.getName())
                .redirectErrorStream(true)
                .start();
        try (BufferedReader said = new BufferedReader(
                new InputStreamReader(child.getInputStream(), StandardCharsets.UTF_8))) {
            assertThat(said.readLine()).isEqualTo("ready");
            terminate(child);
            assertThat(said.readLine()).isEqualTo("asked");
            int more = 0;
            while (!child.waitFor(200, TimeUnit.MILLISECONDS)) {
                terminate(child);
                more++;
                // the grace of the first one would be over behind 60 s
                assertThat(more).isLessThan(150);
            }
            assertThat(more).isPositive();
            assertThat(child.exitValue()).isEqualTo(128 + 15);
        } finally {
            child.destroyForcibly();
        }
    }

    private static void terminate(Process child) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-TERM", Long.toString(child.pid()))
                .redirectErrorStream(true)
                .start()
                .waitFor();
    }
}
