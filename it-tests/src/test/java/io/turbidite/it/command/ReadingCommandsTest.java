package io.turbidite.it.command;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Main;
import io.turbidite.lsm.Dataset;
import io.turbidite.lsm.DatasetSpec;
import io.turbidite.lsm.IndexSpec;
import io.turbidite.lsm.Store;
import io.turbidite.lsm.schema.Maintenance;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/**
 * A command that reads changes no byte of a store's directory, its lock file left out, in whatever
 * state it is.
 */
@Timeout(180)
class ReadingCommandsTest {
    @TempDir
    private Path directory = Path.of("");

    /** As a killed process leaves a store: a log without an end, files of work cut short. */
    private Path crashed = Path.of("");

    /** As a clean close leaves it. */
    private Path closed = Path.of("");

    @BeforeEach
    void make() throws IOException {
        closed = directory.resolve("closed");
        crashed = directory.resolve("crashed");
        try (Store store = Store.open(closed)) {
            Dataset dataset = store.createDataset(DatasetSpec.named("T")
                    .field("id", "int64")
                    .field("user", "string?")
                    .primaryKey("id")
                    .maintenance(Maintenance.VALIDATION)
                    .index(IndexSpec.btree("by_user", "user")));
            for (long id = 0; id < 300; id++) {
                dataset.upsert(Map.of("id", id % 200, "user", "u" + id % 7));
                if (id == 150) {
                    dataset.flush();
                }
            }
            copy(closed, crashed);
        }
        Path data = crashed.resolve("data");
        byte[] whole;
        try (Stream<Path> files = Files.list(data)) {
            whole = Files.readAllBytes(files.sorted().findFirst().orElseThrow());
        }
        Files.write(data.resolve("0000000000fe.component"), whole);
        Files.write(data.resolve("0000000000fd.component"), Arrays.copyOf(whole, 100));
        Files.write(data.resolve("0000000000fc.run"), whole);
        Files.write(crashed.resolve("MANIFEST.draft"), new byte[9]);
        Files.write(crashed.resolve("INCOMPLETE"), new byte[0]);
        Files.createDirectory(crashed.resolve("spill"));
        Files.write(crashed.resolve("spill/run-1.tmp"), whole);
    }

    private static void copy(Path from, Path to) throws IOException {
        try (Stream<Path> paths = Files.walk(from)) {
            for (Path path : paths.sorted().toList()) {
                if (!path.endsWith("LOCK")) {
                    Files.copy(path, to.resolve(from.relativize(path)));
                }
            }
        }
    }

    private static Map<String, String> hashes(Path store) throws IOException {
        Map<String, String> hashes = new TreeMap<>();
        try (Stream<Path> paths = Files.walk(store)) {
            paths.filter(path -> !path.endsWith("LOCK"))
                    .forEach(path -> hashes.put(store.relativize(path).toString(), hash(path)));
        }
        return hashes;
    }

    private static String hash(Path path) {
        try {
            return Files.isDirectory(path)
                    ? "directory"
                    : HexFormat.of()
                            .formatHex(MessageDigest.getInstance("SHA-256")
                                    .digest(Files.readAllBytes(path)));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (NoSuchAlgorithmException e) {
            throw new AssertionError(e);
        }
    }

    private static String run(int code, Object... arguments) {
        ByteArrayOutputStream out = new ByteArrayOutputStream();
        PrintStream print = new PrintStream(out, true, StandardCharsets.UTF_8);
        String[] texts = Arrays.stream(arguments).map(Object::toString).toArray(String[]::new);
        assertThat(Main.run(texts, print, print))
                .as("%s: %s", List.of(texts), out.toString(StandardCharsets.UTF_8))
                .isEqualTo(code);
        return out.toString(StandardCharsets.UTF_8);
    }

    private List<Object[]> commands(Path store, String tag) {
        List<Object[]> commands = new ArrayList<>();
        commands.add(new Object[] {"query", store, "T", "--count"});
        commands.add(new Object[] {"query", store, "T", "--eq", "user=u3", "--explain"});
        commands.add(new Object[] {"query", store, "T", "--order", "user:desc", "--limit", "3"});
        commands.add(new Object[] {"query", store, "T", "--group", "user"});
        commands.add(new Object[] {"get", store, "T", "7"});
        commands.add(new Object[] {"inspect", store});
        commands.add(new Object[] {"inspect", store, "--json"});
        commands.add(new Object[] {"stats", store});
        commands.add(new Object[] {"dataset", "list", store});
        commands.add(new Object[] {"export", store, "T", directory.resolve(tag + ".csv")});
        commands.add(new Object[] {"verify", store});
        commands.add(new Object[] {"verify", store, "--quick"});
        commands.add(new Object[] {"advise", store, "T"});
        if (store.equals(closed)) { // of the other one it finds what its crash left
            commands.add(new Object[] {"doctor", store});
        }
        commands.add(new Object[] {"trash", store});
        commands.add(new Object[] {"backup", store, directory.resolve("copy-" + tag), "--copy"});
        commands.add(new Object[] {"backup", store, directory.resolve("link-" + tag)});
        commands.add(new Object[] {"ship", store, directory.resolve("ship-" + tag)});
        return commands;
    }

    @Test
    void no_byte_changes() throws IOException {
        for (Path store : List.of(closed, crashed)) {
            String tag = store.getFileName().toString();
            Map<String, String> before = hashes(store);
            for (Object[] command : commands(store, tag)) {
                String output = run(0, command);
                assertThat(hashes(store)).as("%s", List.of(command)).isEqualTo(before);
                if (command[command.length - 1].equals("--count")) {
                    assertThat(output).isEqualTo("{\"count\":200}\n");
                }
            }
            Path copied = directory.resolve("copy-" + tag);
            Map<String, String> backup = hashes(copied);
            String all = run(0, "restore", copied, directory.resolve("restored-" + tag));
            assertThat(all).contains("every index is right");
            assertThat(hashes(copied)).isEqualTo(backup);
            run(0, "receive", directory.resolve("ship-" + tag), directory.resolve("sent-" + tag));
            assertThat(run(0, "query", directory.resolve("sent-" + tag), "T", "--count"))
                    .isEqualTo("{\"count\":200}\n");
        }
    }
}
