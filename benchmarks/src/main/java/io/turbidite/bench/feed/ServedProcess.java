package io.turbidite.bench.feed;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;

import io.turbidite.feeds.command.Main;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.InetSocketAddress;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * The command {@code serve} with one store and one feed, in a process of its own: what it uses is
 * what a server costs. Its options for the JVM are those of this process.
 */
final class ServedProcess implements AutoCloseable {
    private static final long END_SECONDS_MAX = 20;

    private final Process process;
    private final InetSocketAddress web;
    private final InetSocketAddress lines;

    private ServedProcess(Process process, JsonNode said) {
        this.process = process;
        this.web = address(said.at("/listening/0").asText());
        String door = said.at("/tcp/0").asText();
        this.lines = address(door.substring(door.indexOf('=') + 1));
    }

    /**
     * Starts it, and returns when it takes requests and the lines of the feed.
     *
     * @param feed the definition's name
     */
    static ServedProcess start(Path store, Path definition, String feed, Path tokens)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(ManagementFactory.getRuntimeMXBean().getInputArguments());
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), Main.class.getName()));
        command.addAll(List.of("serve", store.toString(), definition.toString()));
        command.addAll(List.of("--listen", "127.0.0.1:0", "--tcp", feed + "=127.0.0.1:0"));
        command.addAll(List.of("--tokens", tokens.toString(), "--head-millis", "600000"));
        command.addAll(List.of("--connections", "4096", "--json"));
        Process process = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start();
        String said = process.inputReader().readLine();
        if (said == null) {
            process.destroy();
            throw new IllegalStateException("the server did not start");
        }
        return new ServedProcess(process, new ObjectMapper().readTree(said));
    }

    private static InetSocketAddress address(String text) {
        int colon = text.lastIndexOf(':');
        return new InetSocketAddress(
                text.substring(0, colon), Integer.parseInt(text.substring(colon + 1)));
    }

    InetSocketAddress web() {
        return web;
    }

    /** Where the feed takes lines. */
    InetSocketAddress lines() {
        return lines;
    }

    /** CPU time that it has used, in steps of 10 ms. */
    long cpuNanos() {
        return process.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
    }

    /** Memory that it holds in RAM, of any kind. */
    long residentBytes() throws IOException {
        Path status = Path.of("/proc", Long.toString(process.pid()), "status");
        return Files.readAllLines(status).stream()
                        .filter(line -> line.startsWith("VmRSS:"))
                        .map(line -> line.replaceAll("[^0-9]", ""))
                        .mapToLong(Long::parseLong)
                        .sum()
                << 10;
    }

    @Override
    public void close() {
        process.destroy();
        try {
            if (!process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
