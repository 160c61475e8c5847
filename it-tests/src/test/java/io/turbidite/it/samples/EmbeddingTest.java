package io.turbidite.it.samples;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.IOException;
import java.lang.module.ModuleDescriptor;
import java.lang.module.ModuleFinder;
import java.lang.module.ModuleReference;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

import javax.tools.ToolProvider;

/**
 * The README's sample in an application of its own: on the class path, as a named module, and from
 * one jar that all libraries were poured into.
 *
 * <p>Takes what is needed, and no more, from the class path of the tests, by the descriptors that
 * Maven compiled there.
 */
class EmbeddingTest {
    private static final List<String> USED =
            List.of("io.turbidite.query.ops", "io.turbidite.storage.lsm");

    private static final ModuleFinder FOUND = ModuleFinder.of(
            Arrays.stream(Objects.requireNonNull(System.getProperty("java.class.path"))
                            .split(File.pathSeparator, -1))
                    .map(Path::of)
                    .filter(Files::exists)
                    // no name of a module can be made of that of this file, which SQL needs
                    .filter(path -> !path.getFileName().toString().startsWith("joou-java-6"))
                    .toArray(Path[]::new));

    private static final String APPLICATION = """
            package app;

            public final class Main {
                private Main() {}

                public static void main(String[] arguments) {
                    int found = FirstStore.run(java.nio.file.Path.of(arguments[0]));
                    System.out.println("found " + found + ", named: " + Main.class.getModule().isNamed());
                }
            }
            """;

    /** Asks for each compression there is. */
    private static final String CODECS = """
            package app;

            import io.turbidite.lsm.component.Compression;

            public final class Codecs {
                private Codecs() {}

                public static void main(String[] arguments) {
                    for (Compression compression : Compression.values()) {
                        String answer = "here";
                        try {
                            compression.requireAvailable();
                        } catch (io.turbidite.core.InvalidRequestException e) {
                            answer = e.getMessage();
                        }
                        System.out.println(compression + ": " + answer);
                    }
                }
            }
            """;

    /** Serves a store, and asks it as another process would. */
    private static final String SERVER = """
            package app;

            import io.turbidite.feeds.command.Main;
            import io.turbidite.feeds.command.StoreServer;
            import io.turbidite.lsm.Store;

            import java.nio.file.Path;

            public final class Served {
                private Served() {}

                public static void main(String[] arguments) {
                    try (Store store = Store.open(Path.of(arguments[0]));
                            StoreServer server = StoreServer.start(store)) {
                        System.out.println("problem: " + server.problem().orElse("none"));
                        String[] command = {"inspect", arguments[0], "--json"};
                        System.out.println("code: " + Main.run(command, System.out, System.err));
                    }
                }
            }
            """;

    @TempDir
    private Path directory;

    private Path sources;
    private Path classes;

    @BeforeEach
    void write_the_application() throws IOException {
        sources = Files.createDirectories(directory.resolve("src/app"));
        classes = directory.resolve("classes");
        Path sample = Path.of("src/main/java/io/turbidite/it/samples/FirstStore.java");
        Files.writeString(
                sources.resolve("FirstStore.java"),
                Files.readString(sample)
                        .replace("package io.turbidite.it.samples;", "package app;"));
        Files.writeString(sources.resolve("Main.java"), APPLICATION);
        Files.writeString(sources.resolve("Codecs.java"), CODECS);
    }

    @Test
    void the_sample_runs_on_the_class_path() throws Exception {
        String path = joined(needed(true));
        compile("-cp", path);
        assertThat(java("-cp", classes + File.pathSeparator + path, "app.Main", store()))
                .endsWith("hello\nfound 1, named: false\n");
    }

    @Test
    void the_sample_runs_in_a_named_module() throws Exception {
        String path = joined(needed(true));
        describe("");
        compile("-p", path);
        assertThat(java("-p", classes + File.pathSeparator + path, "-m", "app/app.Main", store()))
                .endsWith("hello\nfound 1, named: true\n");
    }

    @Test
    void a_named_module_does_without_optional_libraries_and_is_told_when_it_asks_for_one()
            throws Exception {
        String path = joined(needed(false));
        describe("");
        compile("-p", path);
        String modules = classes + File.pathSeparator + path;
        assertThat(java("-p", modules, "-m", "app/app.Main", store()))
                .endsWith("hello\nfound 1, named: true\n");
        assertThat(java("-p", modules, "-m", "app/app.Codecs"))
                .contains(
                        "NONE: here\n",
                        "LZ4: compression lz4 needs the library at.yawk.lz4:lz4-java",
                        "ZSTD: compression zstd needs the library com.github.luben:zstd-jni");
    }

    @Test
    void a_named_module_that_requires_the_codecs_has_them() throws Exception {
        String path = joined(needed(true));
        describe("requires com.github.luben.zstd_jni; requires org.lz4.java;");
        compile("-p", path);
        assertThat(java("-p", classes + File.pathSeparator + path, "-m", "app/app.Codecs"))
                .contains("NONE: here\n", "LZ4: here\n", "ZSTD: here\n");
    }

    @Test
    void inner_rooms_are_closed_to_a_named_module() throws Exception {
        Files.writeString(
                sources.resolve("Intruder.java"),
                "package app; class Intruder { io.turbidite.lsm.version.Version version; }");
        describe("");
        assertThat(javac("-p", joined(needed(true))))
                .contains("package io.turbidite.lsm.version is not visible");
    }

    @Test
    void the_sample_runs_from_one_flat_jar() throws Exception {
        Path jar = directory.resolve("flat.jar");
        pour(needed(true), jar);
        compile("-cp", jar.toString());
        String path = classes + File.pathSeparator + jar;
        assertThat(java("-cp", path, "app.Main", store()))
                .endsWith("hello\nfound 1, named: false\n");
        assertThat(java("-cp", path, "app.Codecs"))
                .contains("NONE: here\n", "LZ4: here\n", "ZSTD: here\n");
    }

    @Test
    void a_named_module_serves_its_store_to_other_processes() throws Exception {
        // whoever serves requires Netty, which feeds from files do without
        List<String> feeds = List.of("io.turbidite.feeds", "io.netty.handler");
        Files.writeString(sources.resolve("Served.java"), SERVER);
        String path = joined(needed(feeds, false)); // without pictures and codecs
        describe(feeds, "");
        compile("-p", path, "-Xlint:-incubating"); // the hash log may use the vector module
        String modules = classes + File.pathSeparator + path;
        assertThat(java("-p", modules, "-m", "app/app.Served", store()))
                .contains("problem: none\n", "{\"store\":", "code: 0\n");
    }

    private String store() {
        return directory.resolve("store").toString();
    }

    /** The modules that {@link #USED} require, and what they require. */
    private static List<ModuleReference> needed(boolean withOptional) {
        return needed(USED, withOptional);
    }

    private static List<ModuleReference> needed(List<String> used, boolean withOptional) {
        Map<String, ModuleReference> modules = new LinkedHashMap<>();
        Deque<String> open = new ArrayDeque<>(used);
        while (!open.isEmpty()) {
            String name = open.remove();
            if (modules.containsKey(name) || ModuleFinder.ofSystem().find(name).isPresent()) {
                continue;
            }
            ModuleReference module = FOUND.find(name).orElseThrow(() -> new AssertionError(name));
            modules.put(name, module);
            for (ModuleDescriptor.Requires required : module.descriptor().requires()) {
                boolean ours = name.startsWith("io.turbidite.");
                boolean optional =
                        required.modifiers().contains(ModuleDescriptor.Requires.Modifier.STATIC);
                if (!optional || (withOptional && ours)) {
                    open.add(required.name());
                }
            }
        }
        return List.copyOf(modules.values());
    }

    private static String joined(List<ModuleReference> modules) {
        return modules.stream()
                .map(module -> Path.of(module.location().orElseThrow()).toString())
                .collect(Collectors.joining(File.pathSeparator));
    }

    private void describe(String more) throws IOException {
        describe(USED, more);
    }

    private void describe(List<String> used, String more) throws IOException {
        Files.writeString(
                sources.resolveSibling("module-info.java"),
                used.stream()
                        .map(name -> "requires " + name + ";")
                        .collect(Collectors.joining(" ", "module app { ", more + " }")));
    }

    private void compile(String... path) throws IOException {
        assertThat(javac(path)).isEmpty();
    }

    /** What the compiler says of the application. */
    private String javac(String... path) throws IOException {
        List<String> arguments = new ArrayList<>(List.of(path));
        arguments.addAll(List.of("-d", classes.toString(), "-encoding", "UTF-8", "-proc:none"));
        try (Stream<Path> files = Files.walk(directory.resolve("src"))) {
            files.filter(Files::isRegularFile).map(Path::toString).forEach(arguments::add);
        }
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        ToolProvider.getSystemJavaCompiler()
                .run(null, said, said, arguments.toArray(String[]::new));
        return said.toString(StandardCharsets.UTF_8);
    }

    /** What a JVM of its own prints, after it ended well. */
    private String java(String... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(Objects.requireNonNull(System.getProperty("java.home")), "bin", "java")
                .toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-Xmx512m", "-Dstdout.encoding=UTF-8"));
        command.addAll(List.of(arguments));
        Path printed = directory.resolve("printed");
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(printed.toFile())
                .start();
        int code = process.waitFor();
        String text = Files.readString(printed).replace("\r\n", "\n");
        assertThat(code).as(text).isZero();
        return text;
    }

    /**
     * What the usual tools make: all files in one jar, services merged, no descriptors, no
     * releases.
     */
    private static void pour(List<ModuleReference> modules, Path jar) throws IOException {
        Map<String, Set<String>> services = new LinkedHashMap<>();
        Set<String> written = new HashSet<>();
        try (ZipOutputStream out = new ZipOutputStream(Files.newOutputStream(jar))) {
            for (ModuleReference module : modules) {
                Path from = Path.of(module.location().orElseThrow());
                if (Files.isDirectory(from)) {
                    pour(from, out, services, written);
                } else {
                    try (FileSystem files = FileSystems.newFileSystem(from)) {
                        pour(files.getPath("/"), out, services, written);
                    }
                }
            }
            for (Map.Entry<String, Set<String>> service : services.entrySet()) {
                out.putNextEntry(new ZipEntry(service.getKey()));
                out.write(String.join("\n", service.getValue()).getBytes(StandardCharsets.UTF_8));
            }
        }
    }

    private static void pour(
            Path root, ZipOutputStream out, Map<String, Set<String>> services, Set<String> written)
            throws IOException {
        List<Path> files;
        try (Stream<Path> all = Files.walk(root)) {
            files = all.filter(Files::isRegularFile).toList();
        }
        for (Path file : files) {
            String name = root.relativize(file).toString().replace(File.separatorChar, '/');
            if (name.startsWith("META-INF/services/")) {
                services.computeIfAbsent(name, key -> new LinkedHashSet<>())
                        .addAll(Files.readAllLines(file));
            } else if (!name.equals("module-info.class")
                    && !name.startsWith("META-INF/")
                    && written.add(name)) {
                out.putNextEntry(new ZipEntry(name));
                Files.copy(file, out);
            }
        }
    }
}
