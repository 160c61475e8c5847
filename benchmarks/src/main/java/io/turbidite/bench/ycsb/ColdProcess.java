package io.turbidite.bench.ycsb;

import java.io.BufferedReader;
import java.io.File;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;

/** Starts {@link ColdRun} in a process of its own, with the options for the JVM of this one. */
final class ColdProcess {
    private static final String CLASS_PATH = System.getProperty("java.class.path");

    private final Path directory;
    private final Budget budget;

    /** @param directory that the stores lie below */
    ColdProcess(Path directory, Budget budget) {
        this.directory = directory;
        this.budget = budget;
    }

    /** An AOT cache takes classes from jars alone. */
    static boolean takesAotCache() {
        for (String entry : CLASS_PATH.split(File.pathSeparator, -1)) {
            if (Files.isDirectory(Path.of(entry))) {
                return false;
            }
        }
        return true;
    }

    Spent run(Peer peer, Path operations) throws IOException {
        return run(peer, operations, List.of());
    }

    /** With a cache that {@link #makeAotCache} has made. */
    Spent run(Peer peer, Path operations, Path aotCache) throws IOException {
        return run(peer, operations, List.of("-XX:AOTCache=" + aotCache, "-Xlog:aot=off,cds=off"));
    }

    /** What a process learns of its classes while it does these operations. */
    Spent makeAotCache(Peer peer, Path operations, Path aotCache) throws IOException {
        return run(
                peer,
                operations,
                List.of("-XX:AOTCacheOutput=" + aotCache, "-Xlog:aot=off,cds=off"));
    }

    private Spent run(Peer peer, Path operations, List<String> options) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(options);
        command.addAll(List.of("-cp", CLASS_PATH, ColdRun.class.getName()));
        command.addAll(List.of(
                peer.name(),
                directory.toString(),
                Long.toString(budget.writeMemoryBytes()),
                Long.toString(budget.cacheBytes()),
                operations.toString()));
        Path errors = directory.resolve("errors");
        Process process =
                new ProcessBuilder(command).redirectError(errors.toFile()).start();
        Spent spent = null;
        try (BufferedReader said = process.inputReader()) {
            for (String line = said.readLine(); line != null; line = said.readLine()) {
                if (Spent.isLine(line)) {
                    spent = Spent.parse(line);
                }
            }
            int code = process.waitFor();
            if (code != 0 || spent == null) {
                throw new IllegalStateException("%s ended with code %d: %s"
                        .formatted(String.join(" ", command), code, Files.readString(errors)));
            }
            return spent;
        } catch (InterruptedException stopped) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(stopped);
        } finally {
            process.destroy();
        }
    }
}
