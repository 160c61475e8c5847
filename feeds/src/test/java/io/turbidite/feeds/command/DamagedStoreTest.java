package io.turbidite.feeds.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Command.Result;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.channels.ServerSocketChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/**
 * Each file of a store is damaged, one of each kind in each of seven ways: the commands answer
 * right or fail in two lines, and {@code verify} names the file.
 */
class DamagedStoreTest {
    private static final List<List<String>> READS = List.of(
            List.of("query", "Trips", "--order", "number"),
            List.of("query", "Trips", "--eq", "tail=N1", "--count"),
            List.of("get", "Trips", "[\"UA\",1]"),
            List.of("get", "Numbers", "7"));

    @TempDir
    private Path directory;

    private Path store = Path.of("");
    private final Map<List<String>, Result> right = new HashMap<>();

    @BeforeEach
    void load() throws IOException {
        store = Command.load(directory);
        READS.forEach(read -> right.put(read, run(store, read)));
        assertThat(right.values())
                .allSatisfy(result -> assertThat(result.code()).isZero());
    }

    private static Result run(Path of, List<String> command) {
        List<Object> words = new ArrayList<>(command);
        words.add(1, of);
        return Command.run(words.toArray());
    }

    /** What is done to a file; it may be harmless where what the file holds is needed no more. */
    private record Damage(String name, Change change) {}

    @FunctionalInterface
    private interface Change {
        void to(Path file) throws IOException;
    }

    private static final List<Damage> DAMAGES = List.of(
            new Damage("first byte", file -> flip(file, 0)),
            new Damage("middle", file -> flip(file, 0.5)),
            new Damage("last byte", file -> flip(file, 1)),
            new Damage("half", file -> cut(file, 2)),
            new Damage("empty", file -> cut(file, Integer.MAX_VALUE)),
            new Damage("gone", Files::delete),
            new Damage("a directory", file -> {
                Files.delete(file);
                Files.createDirectory(file);
            }));

    private static void flip(Path file, double where) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        if (bytes.length > 0) {
            bytes[(int) ((bytes.length - 1) * where)] ^= 0x10;
            Files.write(file, bytes);
        }
    }

    private static void cut(Path file, int part) throws IOException {
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length / part));
    }

    @Test
    void no_damage_of_any_file_gives_a_wrong_answer_or_an_unclear_error() throws IOException {
        int found = 0;
        Set<String> kinds = new HashSet<>();
        List<String> files = files(store);
        for (int i = 0; i < files.size(); i++) {
            String file = files.get(i);
            // the first of a kind in all ways, the others in one each: a way costs some tenth of a
            // second
            boolean all = kinds.add(kind(file));
            for (int way = 0; way < DAMAGES.size(); way++) {
                if (all || way == i % DAMAGES.size()) {
                    found += damage(file, DAMAGES.get(way), i + way) ? 1 : 0;
                }
            }
        }
        assertThat(found).isGreaterThan(20);
    }

    /** Its directory stands for what it holds. */
    private static String kind(String file) {
        Path directory = Path.of(file).getParent();
        return directory == null ? file : directory.toString();
    }

    /**
     * Damages one file of a copy and runs commands on it.
     *
     * @param turn says which reads
     * @return whether {@code verify} found it
     */
    private boolean damage(String file, Damage damage, int turn) throws IOException {
        Path copy = copyOf(store);
        damage.change.to(copy.resolve(file));
        String what = file + ", " + damage.name;
        Result verified = Command.run("verify", copy);
        assertTold(what + ": verify", verified);
        boolean sound = verified.code() == 0;
        for (int i = 0; i < 2; i++) {
            List<String> read = READS.get((turn + i) % READS.size());
            Result result = run(copy, read);
            assertTold(what + ": " + read, result);
            if (result.code() == 0 || sound) {
                assertThat(result.out())
                        .as("%s: %s, verify says %s", what, read, verified)
                        .isEqualTo(Objects.requireNonNull(right.get(read)).out());
            }
        }
        if (turn % 2 == 0) {
            assertTold(what + ": inspect", Command.run("inspect", copy));
        } else {
            Path target = directory.resolve("target");
            assertTold(what + ": backup", Command.run("backup", copy, target));
            delete(target);
        }
        if (!sound) {
            // where the only segment is gone, there is but a directory to name
            boolean gone = damage.name.equals("gone") && file.startsWith("log");
            assertThat(verified.out() + verified.err())
                    .as(what)
                    .contains(gone ? "log" : Path.of(file).getFileName().toString());
        }
        delete(copy);
        return !sound;
    }

    private static void assertTold(String what, Result result) {
        assertThat(result.code()).as("%s: %s", what, result).isBetween(0, 2);
        assertThat(result.err()).as(what).doesNotContain("Exception", "\tat ");
        assertThat(result.errLines()).as(what).hasSizeLessThanOrEqualTo(2);
        if (result.code() != 0) {
            assertThat(result.err()).as(what).isNotBlank();
        }
    }

    @Test
    void a_socket_that_a_killed_process_left_is_in_nobodys_way() throws IOException {
        Path socket = store.resolve("SOCKET");
        try (ServerSocketChannel left = ServerSocketChannel.open(StandardProtocolFamily.UNIX)) {
            left.bind(UnixDomainSocketAddress.of(socket));
        }
        assertThat(socket).exists();
        READS.forEach(read -> assertThat(run(store, read)).isEqualTo(right.get(read)));
        assertThat(Command.run("verify", store).code()).isZero();
        assertThat(Command.run("backup", store, directory.resolve("backup")).code())
                .isZero();
        Files.deleteIfExists(socket);
        Files.writeString(socket, "no socket at all");
        READS.forEach(read -> assertThat(run(store, read)).isEqualTo(right.get(read)));
    }

    private static List<String> files(Path of) throws IOException {
        try (Stream<Path> all = Files.walk(of)) {
            return all.filter(Files::isRegularFile)
                    .map(file -> of.relativize(file).toString())
                    .sorted()
                    .toList();
        }
    }

    private Path copyOf(Path of) throws IOException {
        Path copy = directory.resolve("copy");
        try (Stream<Path> all = Files.walk(of)) {
            for (Path one : all.toList()) {
                Files.copy(one, copy.resolve(of.relativize(one).toString()));
            }
        }
        return copy;
    }

    private static void delete(Path tree) throws IOException {
        if (!Files.exists(tree)) {
            return;
        }
        try (Stream<Path> all = Files.walk(tree)) {
            all.sorted((a, b) -> b.compareTo(a)).forEach(path -> {
                try {
                    Files.delete(path);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
    }
}
