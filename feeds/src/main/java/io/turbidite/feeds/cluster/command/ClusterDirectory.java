package io.turbidite.feeds.cluster.command;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.LockAnswer;
import io.turbidite.core.file.RealDisk;
import io.turbidite.core.time.Clock;
import io.turbidite.feeds.cluster.IdentityFiles;
import io.turbidite.ops.cluster.ClusterAuthority;
import io.turbidite.ops.cluster.ClusterIdentity;

import java.io.IOException;
import java.io.Reader;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Properties;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * The directory of a cluster on one machine. <em>Immutable.</em>
 *
 * <pre>
 * DIR/LOCK                  held while a start is under way
 * DIR/CLUSTER               version, id, nodes, port, idlePort, memory
 * DIR/keys/                 the authority, and what each process shows
 * DIR/controller/           of the controller: its log of changes, SOCKET for commands
 * DIR/n1/ …                 of each node: its store, its copy of the log
 * DIR/NAME/PROCESS          the process that runs, by id and start
 * DIR/NAME/output.log       what it has printed
 * </pre>
 *
 * @param clusterId a random number
 * @param nodeCount nodes are named n1, n2, …
 * @param memory of each process, as the JVM takes it
 */
record ClusterDirectory(
        Path path, long clusterId, int nodeCount, int port, int idlePort, String memory) {
    /** The file that makes a directory one of a cluster. */
    static final String FILE = "CLUSTER";

    private static final String LOCK = "LOCK";

    static final int NODES_MAX = 64;

    private static final String KEYS = "keys";
    private static final String DRAFT = FILE + ".new";

    /** All that a start has made that ended before it had made the file. */
    private static final Set<String> BEGUN = Set.of(LOCK, KEYS, DRAFT);

    private static final String VERSION = "1";
    private static final int HEX = 16;

    static boolean isOne(Path path) {
        return Files.exists(path.resolve(FILE));
    }

    /**
     * Reads one.
     *
     * @throws InvalidRequestException if it is none
     */
    static ClusterDirectory read(Path path) {
        if (!isOne(path)) {
            throw new InvalidRequestException(
                    "%s is no directory of a cluster; ./turbidite cluster start --dir DIR makes one"
                            .formatted(path));
        }
        Properties read = new Properties();
        try (Reader reader = Files.newBufferedReader(path.resolve(FILE))) {
            read.load(reader);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String version = read.getProperty("version", "none");
        if (!version.equals(VERSION)) {
            throw new InvalidRequestException("%s is of version %s; this release reads %s"
                    .formatted(path.resolve(FILE), version, VERSION));
        }
        try {
            return new ClusterDirectory(
                    path,
                    Long.parseUnsignedLong(read.getProperty("id", ""), HEX),
                    Integer.parseInt(read.getProperty("nodes", "")),
                    Integer.parseInt(read.getProperty("port", "")),
                    Integer.parseInt(read.getProperty("idlePort", "")),
                    read.getProperty("memory", ""));
        } catch (NumberFormatException e) {
            throw new InvalidRequestException(
                    "%s is damaged: %s".formatted(path.resolve(FILE), e.getMessage()), e);
        }
    }

    /**
     * Keeps other starts out until it is closed; makes the directory where it is not there.
     *
     * @throws InvalidRequestException if another start is under way, or other things are there
     */
    static Disk.Lock lock(Path path) {
        try {
            checkFree(path);
            Files.createDirectories(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return switch (RealDisk.open(path).tryLock(LOCK)) {
            case LockAnswer.Granted granted -> granted.lock();
            case LockAnswer.Refused _ ->
                throw new InvalidRequestException(
                        "another start of the cluster in %s is under way".formatted(path));
        };
    }

    private static void checkFree(Path path) throws IOException {
        if (isOne(path) || !Files.exists(path)) {
            return;
        }
        try (Stream<Path> within = Files.list(path)) {
            Set<String> names =
                    within.map(file -> file.getFileName().toString()).collect(Collectors.toSet());
            boolean isBegun = names.contains(LOCK) && BEGUN.containsAll(names);
            if (!names.isEmpty() && !isBegun) {
                throw new InvalidRequestException(
                        "%s is not empty, and no directory of a cluster".formatted(path));
            }
        }
    }

    /** Takes away the keys of a start that ended before it had made the file: none has them. */
    private static void deleteBegun(Path path) throws IOException {
        Path keys = path.resolve(KEYS);
        if (isOne(path) || !Files.exists(keys)) {
            return;
        }
        List<Path> within;
        try (Stream<Path> all = Files.walk(keys)) {
            within = all.sorted(Comparator.reverseOrder()).toList();
        }
        for (Path each : within) {
            Files.delete(each);
        }
    }

    /**
     * Makes one, whose {@link #lock} the caller holds, with keys for all processes. The file comes
     * last: what ended before has made none, and is begun anew.
     *
     * @param port for nodes; 0: a free one
     */
    static ClusterDirectory make(Path path, int nodeCount, int port, String memory) {
        try {
            checkFree(path);
            deleteBegun(path);
            SecureRandom random = new SecureRandom();
            List<Integer> free = freePorts();
            ClusterDirectory made = new ClusterDirectory(
                    path,
                    random.nextLong(),
                    nodeCount,
                    port == 0 ? free.get(0) : port,
                    free.get(1),
                    memory);
            made.writeKeys(random);
            made.write();
            return made;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Held at once, so that they differ. */
    private static List<Integer> freePorts() throws IOException {
        try (ServerSocket one = new ServerSocket(0, 1, InetAddress.getLoopbackAddress());
                ServerSocket other = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            return List.of(one.getLocalPort(), other.getLocalPort());
        }
    }

    private void writeKeys(SecureRandom random) {
        ClusterAuthority authority = ClusterAuthority.create(
                Long.toUnsignedString(clusterId, HEX), Clock.system(), random);
        Path keys = path.resolve(KEYS);
        IdentityFiles.writeAuthority(keys, authority);
        IdentityFiles.writeIdentity(keys, authority, ClusterIdentity.CONTROLLER);
        nodes().forEach(node -> IdentityFiles.writeIdentity(keys, authority, node));
    }

    private void write() throws IOException {
        Path draft = path.resolve(DRAFT);
        Files.writeString(draft, """
                version=%s
                id=%s
                nodes=%d
                port=%d
                idlePort=%d
                memory=%s
                """.formatted(
                VERSION, Long.toUnsignedString(clusterId, HEX), nodeCount, port, idlePort, memory));
        Files.move(draft, path.resolve(FILE), StandardCopyOption.ATOMIC_MOVE);
    }

    /** The names of the nodes. */
    List<String> nodes() {
        return IntStream.rangeClosed(1, nodeCount)
                .mapToObj(number -> "n" + number)
                .toList();
    }

    /** The names of all processes, the controller last. */
    List<String> processes() {
        List<String> all = new ArrayList<>(nodes());
        all.add(ClusterIdentity.CONTROLLER);
        return all;
    }

    void checkNode(String name) {
        if (!nodes().contains(name)) {
            throw new InvalidRequestException("the cluster in %s has no node '%s'; there are %s"
                    .formatted(path, name, String.join(", ", nodes())));
        }
    }

    /** The directory of a process, made where it is not there. */
    Path of(String process) {
        try {
            return Files.createDirectories(path.resolve(process));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** What a process shows to the others. */
    ClusterIdentity identity(String process) {
        return IdentityFiles.readIdentity(path.resolve(KEYS).resolve(process));
    }
}
