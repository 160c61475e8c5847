package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** A test that spins for ever ends its JVM, which names it and says where each thread stands. */
class TestLimitTest {
    @Test
    void a_test_that_spins_ends_its_jvm(@TempDir Path dir) throws Exception {
        Path said = dir.resolve("said");
        int code = child(said, "spins");
        assertThat(Files.readString(said))
                .contains("nothing has ended for 1 s: spins()")
                .contains("TestLimitTest$Child.spin(");
        assertThat(code).isEqualTo(TestLimit.HALTED);
    }

    @Test
    void tests_that_end_in_time_go_on(@TempDir Path dir) throws Exception {
        Path said = dir.resolve("said");
        assertThat(child(said, "signs")).isZero();
        assertThat(said).isEmptyFile();
    }

    private static int child(Path said, String what) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-cp",
                        System.getProperty("java.class.path"),
                        Child.class.getName(),
                        what)
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        try {
            assertThat(process.waitFor(2, TimeUnit.MINUTES)).isTrue();
            return process.exitValue();
        } finally {
            process.destroyForcibly();
        }
    }

    /** A JVM of tests, without JUnit. */
    static final class Child {
        private Child() {}

        public static void main(String[] args) {
            TestLimit.watch(Duration.ofSeconds(1));
            if (args[0].equals("spins")) {
                TestLimit.sign("spins()");
                spin();
            }
            long end = System.nanoTime() + Duration.ofMillis(2_500).toNanos();
            while (System.nanoTime() < end) {
                TestLimit.sign("goes on");
                Thread.onSpinWait();
            }
        }

        private static void spin() {
            while (true) {
                Thread.onSpinWait();
            }
        }
    }
}
