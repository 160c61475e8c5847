package io.turbidite.bench.feed;

import io.turbidite.bench.engine.Scratch;

import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A broker of Kafka in a child process with a heap of its own. */
final class BrokerProcess implements AutoCloseable {
    private static final String HEAP = "-Xmx512m";
    private static final long END_SECONDS_MAX = 20;

    private final Process process;
    private final Path directory;
    private final int port;

    private BrokerProcess(Process process, Path directory, int port) {
        this.process = process;
        this.directory = directory;
        this.port = port;
    }

    /** Whether the broker's and the client's jars are on the class path. */
    static boolean isThere() {
        try {
            ClassLoader loader = BrokerProcess.class.getClassLoader();
            Class.forName("kafka.server.KafkaRaftServer", false, loader);
            Class.forName("org.apache.kafka.clients.consumer.KafkaConsumer", false, loader);
            return true;
        } catch (ClassNotFoundException missing) {
            return false;
        }
    }

    /**
     * Starts one, and returns when it takes clients.
     *
     * @param directory for its files; emptied
     */
    static BrokerProcess start(Path directory) throws IOException {
        Scratch.empty(directory);
        int port = freePort();
        Process process = new ProcessBuilder(List.of(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        HEAP,
                        "-XX:+UseSerialGC",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BrokerRun.class.getName(),
                        directory.toAbsolutePath().toString(),
                        Integer.toString(port),
                        Integer.toString(freePort())))
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        BrokerProcess broker = new BrokerProcess(process, directory, port);
        String said = process.inputReader().readLine();
        if (said == null) {
            broker.close();
            throw new IllegalStateException("the broker did not start");
        }
        return broker;
    }

    private static int freePort() throws IOException {
        try (ServerSocket socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return socket.getLocalPort();
        }
    }

    String address() {
        return "127.0.0.1:" + port;
    }

    @Override
    public void close() throws IOException {
        process.getOutputStream().close();
        try {
            if (!process.waitFor(END_SECONDS_MAX, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
        Scratch.delete(directory);
    }
}
