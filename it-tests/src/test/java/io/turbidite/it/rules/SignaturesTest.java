package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

import java.io.IOException;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * What modules export to everybody keeps its signatures: each line of the committed lists is still
 * true, and nobody who implements an interface has to write a method more. What is new needs no
 * line; {@code -Dsignatures.write=true} writes the lists anew, with what was broken on purpose.
 */
class SignaturesTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());
    private static final Path LISTS = ROOT.resolve("it-tests/src/test/resources/signatures");
    private static final Pattern EXPORTED = Pattern.compile("(?m)^ {4}exports ([a-z.]+);");

    /** Marks a method that who implements or extends its class has to write. */
    private static final String TO_WRITE = " abstract ";

    @ParameterizedTest
    @ValueSource(
            strings = {
                "storage-core",
                "storage-lsm",
                "storage-hashlog",
                "storage-pm",
                "query-ops",
                "feeds"
            })
    void what_was_promised_is_there(String module) throws Exception {
        Set<String> now = signatures(ROOT.resolve(module));
        Path list = LISTS.resolve(module + ".txt");
        if (Boolean.getBoolean("signatures.write")) {
            Files.createDirectories(LISTS);
            Files.write(list, now);
        }
        assertThat(broken(Files.readAllLines(list), now))
                .as("see CONTRIBUTING.md, \"Signatures\", for what to do")
                .isEmpty();
    }

    @Test
    void a_break_is_told_and_an_addition_is_none() {
        List<String> listed = List.of(
                "a.I | public abstract interface a.I",
                "a.I | public abstract void a.I.f()",
                "a.R | public final class a.R",
                "a.R | public int a.R.x()");
        assertThat(broken(listed, Set.copyOf(listed))).isEmpty();
        Set<String> more = new TreeSet<>(listed);
        more.add("a.R | public int a.R.y()");
        more.add("a.I | public default void a.I.g()");
        more.add("a.J | public abstract interface a.J");
        more.add("a.J | public abstract void a.J.h()");
        assertThat(broken(listed, more)).isEmpty();
        more.add("a.I | public abstract void a.I.h()");
        more.remove("a.R | public int a.R.x()");
        more.add("a.R | public long a.R.x()");
        assertThat(broken(listed, more))
                .containsExactly(
                        "gone: a.R | public int a.R.x()",
                        "to be written by implementers: a.I | public abstract void a.I.h()");
    }

    private static List<String> broken(List<String> listed, Set<String> now) {
        List<String> broken = new ArrayList<>();
        listed.stream()
                .filter(line -> !now.contains(line))
                .forEach(line -> broken.add("gone: " + line));
        Set<String> before = new TreeSet<>(listed);
        Set<String> classes = new TreeSet<>();
        listed.forEach(line -> classes.add(classOf(line)));
        now.stream()
                .filter(line -> line.contains(TO_WRITE)
                        && line.endsWith(")")
                        && !before.contains(line)
                        && classes.contains(classOf(line)))
                .forEach(line -> broken.add("to be written by implementers: " + line));
        return broken;
    }

    private static String classOf(String line) {
        return line.substring(0, line.indexOf(' '));
    }

    private static Set<String> signatures(Path module) throws Exception {
        Set<String> lines = new TreeSet<>();
        Path sources = module.resolve("src/main/java");
        String descriptor = Files.readString(sources.resolve("module-info.java"));
        List<String> packages = EXPORTED.matcher(descriptor)
                .results()
                .map(found -> found.group(1))
                .toList();
        assertThat(packages).isNotEmpty();
        for (String name : packages) {
            for (String simple : classes(sources.resolve(name.replace('.', '/')))) {
                add(Class.forName(name + "." + simple, false, loader()), lines);
            }
        }
        return lines;
    }

    private static ClassLoader loader() {
        return Objects.requireNonNull(SignaturesTest.class.getClassLoader());
    }

    private static List<String> classes(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> String.valueOf(file.getFileName()))
                    .filter(name -> name.endsWith(".java") && !name.contains("-"))
                    .map(name -> name.substring(0, name.length() - ".java".length()))
                    .toList();
        }
    }

    private static void add(Class<?> type, Set<String> lines) {
        if (!isSeen(type.getModifiers())) {
            return;
        }
        String before = type.getName() + " | ";
        lines.add(before + header(type));
        boolean closed = type.isSealed() || Modifier.isFinal(type.getModifiers());
        for (Executable constructor : type.getDeclaredConstructors()) {
            if (isSeen(constructor) && !(closed && isProtected(constructor))) {
                lines.add(before + constructor.toGenericString());
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            if (isSeen(method) && !method.isBridge() && !(closed && isProtected(method))) {
                // who can't implement it needs not know that it is abstract
                lines.add(before
                        + (closed
                                ? method.toGenericString().replace(TO_WRITE, " ")
                                : method.toGenericString()));
            }
        }
        for (Field field : type.getDeclaredFields()) {
            if (isSeen(field)) {
                lines.add(before + field.toGenericString());
            }
        }
        for (Class<?> inner : type.getDeclaredClasses()) {
            add(inner, lines);
        }
    }

    private static String header(Class<?> type) {
        String text = type.toGenericString();
        Type parent = type.getGenericSuperclass();
        if (parent != null && parent != Object.class) {
            text += " extends " + parent.getTypeName();
        }
        List<String> interfaces = Arrays.stream(type.getGenericInterfaces())
                .map(Type::getTypeName)
                .sorted()
                .toList();
        return interfaces.isEmpty() ? text : text + " implements " + String.join(", ", interfaces);
    }

    private static boolean isSeen(Member member) {
        return !member.isSynthetic() && isSeen(member.getModifiers());
    }

    private static boolean isProtected(Member member) {
        return Modifier.isProtected(member.getModifiers());
    }

    private static boolean isSeen(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }
}
