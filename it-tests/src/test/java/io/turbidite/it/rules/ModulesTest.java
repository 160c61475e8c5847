package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ExportsTree;
import com.sun.source.tree.ModuleTree;
import com.sun.source.tree.ProvidesTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.JavacTask;
import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;

import io.turbidite.core.cache.BufferCache;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;

import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Modules use of one another what {@code module-info.java} exports to them, on the class path too,
 * where Java does not ask it.
 */
class ModulesTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    private static final List<String> DIRECTORIES = List.of(
            "storage-core", "storage-lsm", "storage-hashlog", "storage-pm", "query-ops", "feeds");

    /**
     * One descriptor.
     *
     * @param packages all that the module has
     * @param exports for each exported package the modules that see it; empty for all
     */
    private record Module(
            String name,
            Path directory,
            Set<String> packages,
            Map<String, Set<String>> exports,
            Set<String> services) {}

    @Test
    void modules_see_what_is_exported_to_them_and_nothing_else_is_exported_to_one()
            throws IOException {
        List<Module> modules = modules();
        Crossings crossings = new Crossings(modules);
        crossings.addAll(new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .withImportOption(location -> !location.contains("-testing.jar"))
                .importPackages("io.turbidite"));
        assertThat(crossings.refused).isEmpty();
        Set<String> opened = new TreeSet<>();
        for (Module module : modules) {
            module.exports()
                    .forEach((room, readers) ->
                            readers.forEach(reader -> opened.add(room + " to " + reader)));
        }
        opened.removeAll(crossings.byQualifiedExport);
        // a constant of another room is in the class as a value
        for (Module module : modules) {
            for (String room : imported(module)) {
                opened.remove(room + " to " + module.name());
            }
        }
        assertThat(opened).as("inner rooms that nobody comes to any more").isEmpty();
    }

    /**
     * The rule bites: this class is of no module, and the room it uses is exported to some alone.
     */
    @Test
    void a_use_of_an_inner_room_is_told() throws IOException {
        Crossings crossings = new Crossings(modules());
        crossings.addAll(new ClassFileImporter().importClasses(Intruder.class));
        assertThat(crossings.refused)
                .isNotEmpty()
                .allSatisfy(refused -> assertThat(refused)
                        .contains(
                                "io.turbidite.core.cache is not exported to everybody",
                                "Intruder"));
    }

    private record Intruder(BufferCache cache) {}

    @Test
    void services_are_the_same_in_descriptor_and_directory() throws IOException {
        for (Module module : modules()) {
            Path files = module.directory().resolve("src/main/resources/META-INF/services");
            Set<String> named = new TreeSet<>();
            if (Files.isDirectory(files)) {
                try (Stream<Path> all = Files.list(files)) {
                    all.forEach(file -> named.add(String.valueOf(file.getFileName())));
                }
            }
            assertThat(named).as(module.name()).isEqualTo(module.services());
        }
    }

    /** Uses of one module's classes by another's. */
    private static final class Crossings {
        private final Map<String, Module> owners = new HashMap<>();

        /** What no descriptor allows. */
        final List<String> refused = new ArrayList<>();

        final Set<String> byQualifiedExport = new TreeSet<>();

        Crossings(List<Module> modules) {
            for (Module module : modules) {
                for (String room : module.packages()) {
                    assertThat(owners.put(room, module)).as(room).isNull();
                }
            }
        }

        void addAll(JavaClasses types) {
            for (JavaClass type : types) {
                Module reader = owners.get(type.getPackageName());
                for (Dependency dependency : type.getDirectDependenciesFromSelf()) {
                    String room =
                            dependency.getTargetClass().getBaseComponentType().getPackageName();
                    Module owner = owners.get(room);
                    if (owner != null && !owner.equals(reader)) {
                        add(owner, room, reader == null ? "everybody" : reader.name(), dependency);
                    }
                }
            }
        }

        private void add(Module owner, String room, String reader, Dependency dependency) {
            Set<String> readers = owner.exports().get(room);
            if (readers == null || (!readers.isEmpty() && !readers.contains(reader))) {
                refused.add(room + " is not exported to " + reader + ": "
                        + dependency.getDescription());
            } else if (!readers.isEmpty()) {
                byQualifiedExport.add(room + " to " + reader);
            }
        }
    }

    private static Set<String> imported(Module module) throws IOException {
        Set<String> rooms = new TreeSet<>();
        for (Path file : sources(module.directory())) {
            try (Stream<String> lines = Files.lines(file)) {
                lines.filter(line -> line.startsWith("import "))
                        .forEach(line -> rooms.add(line.replaceFirst("import (static )?", "")
                                .replaceFirst("\\.[A-Z].*", "")));
            }
        }
        return rooms;
    }

    private static List<Path> sources(Path directory) throws IOException {
        try (Stream<Path> all = Files.walk(directory.resolve("src/main/java"))) {
            return all.filter(file -> file.toString().endsWith(".java")).toList();
        }
    }

    /** What the descriptors say, by the compiler's own parser. */
    private static List<Module> modules() throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        List<Module> modules = new ArrayList<>();
        try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
            for (String directory : DIRECTORIES) {
                Path at = ROOT.resolve(directory);
                JavacTask task = (JavacTask) compiler.getTask(
                        null,
                        files,
                        null,
                        null,
                        null,
                        files.getJavaFileObjects(at.resolve("src/main/java/module-info.java")));
                modules.add(read(
                        at,
                        Objects.requireNonNull(task.parse().iterator().next().getModule())));
            }
        }
        return modules;
    }

    private static Module read(Path directory, ModuleTree tree) throws IOException {
        Map<String, Set<String>> exports = new HashMap<>();
        Set<String> services = new TreeSet<>();
        for (Tree directive : tree.getDirectives()) {
            if (directive instanceof ExportsTree export) {
                exports.put(
                        export.getPackageName().toString(),
                        export.getModuleNames() == null
                                ? Set.of()
                                : export.getModuleNames().stream()
                                        .map(Object::toString)
                                        .collect(Collectors.toSet()));
            } else if (directive instanceof ProvidesTree provided) {
                services.add(provided.getServiceName().toString());
            }
        }
        Path base = directory.resolve("src/main/java");
        Set<String> packages = new TreeSet<>();
        for (Path file : sources(directory)) {
            Path room = base.relativize(Objects.requireNonNull(file.getParent()));
            if (!room.toString().isEmpty()) {
                packages.add(room.toString().replace('/', '.').replace('\\', '.'));
            }
        }
        return new Module(tree.getName().toString(), directory, packages, exports, services);
    }
}
