package io.turbidite.core.file;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** Another process that asks for a lock. */
final class LockProbe {
    private static final int GOT_IT = 10;
    private static final int REFUSED = 11;

    private LockProbe() {}

    public static void main(String[] args) {
        try (DiskFile file = RealDisk.open(Path.of(args[0])).open(args[1])) {
            System.exit(file.tryLock() ? GOT_IT : REFUSED);
        }
    }

    /** Whether another process gets the lock of a file. */
    static boolean getsLock(Path directory, String name) throws IOException {
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        LockProbe.class.getName(),
                        directory.toString(),
                        name)
                .redirectErrorStream(true)
                .start();
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("the other process does not end");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        int code = process.exitValue();
        if (code != GOT_IT && code != REFUSED) {
            throw new AssertionError("exit code %d: %s"
                    .formatted(
                            code,
                            new String(
                                    process.getInputStream().readAllBytes(),
                                    StandardCharsets.UTF_8)));
        }
        return code == GOT_IT;
    }
}
