package io.turbidite.core.file;

import io.turbidite.core.StoreInUseException;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Another process that asks for a lock. */
final class LockProbe {
    private static final int GOT_IT = 10;
    private static final int REFUSED = 11;

    private LockProbe() {}

    public static void main(String[] args) {
        if (args.length > 2) {
            try (Disk.Lock _ = RealDisk.open(Path.of(args[0])).tryLock(args[1]).orRefuse("it")) {
                System.out.println("granted");
            } catch (StoreInUseException refused) {
                System.out.println(refused.getMessage());
            }
            return;
        }
        try (DiskFile file = RealDisk.open(Path.of(args[0])).open(args[1])) {
            System.exit(file.tryLock() ? GOT_IT : REFUSED);
        }
    }

    /** Whether another process gets the lock of a file. */
    static boolean getsLock(Path directory, String name) throws IOException {
        Ended ended = run(directory.toString(), name);
        if (ended.code != GOT_IT && ended.code != REFUSED) {
            throw new AssertionError("exit code %d: %s".formatted(ended.code, ended.output));
        }
        return ended.code == GOT_IT;
    }

    /** What another process hears that asks the directory for a lock. */
    static String answer(Path directory, String name) throws IOException {
        return run(directory.toString(), name, "by its name").output;
    }

    private record Ended(int code, String output) {}

    private static Ended run(String... arguments) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-cp",
                System.getProperty("java.class.path"),
                LockProbe.class.getName()));
        command.addAll(List.of(arguments));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        try {
            if (!process.waitFor(30, TimeUnit.SECONDS)) {
                process.destroyForcibly();
                throw new AssertionError("the other process does not end");
            }
        } catch (InterruptedException e) {
            throw new AssertionError(e);
        }
        return new Ended(
                process.exitValue(),
                new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8));
    }
}
