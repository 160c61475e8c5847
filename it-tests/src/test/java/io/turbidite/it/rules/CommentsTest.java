package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.ModifiersTree;
import com.sun.source.tree.Tree;
import com.sun.source.tree.VariableTree;
import com.sun.source.util.DocTrees;
import com.sun.source.util.JavacTask;
import com.sun.source.util.TreePath;

import org.junit.jupiter.api.Test;

import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

import javax.lang.model.element.Modifier;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * Whatever a package that is exported to everybody offers has a comment: each public or protected
 * type, method, constructor, constant and field.
 *
 * <p>Left out are what overrides and says so, constructors that only check a record's components,
 * which its {@code @param}s describe, and private nests. That comments are well-formed and lead
 * somewhere is the compiler's part: {@code -Xdoclint} in {@code pom.xml}.
 */
class CommentsTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());
    private static final List<String> MODULES = List.of(
            "storage-core", "storage-lsm", "storage-hashlog", "storage-pm", "query-ops", "feeds");
    private static final Pattern EXPORTED = Pattern.compile("(?m)^ {4}exports ([a-z.]+);");

    /** What was found in a file. */
    private static final class Search {
        private final DocTrees docs;
        private final List<String> missing = new ArrayList<>();
        private int seen;

        Search(DocTrees docs) {
            this.docs = docs;
        }

        void look(CompilationUnitTree unit) {
            TreePath path = new TreePath(unit);
            for (Tree type : unit.getTypeDecls()) {
                if (type instanceof ClassTree each) {
                    look(new TreePath(path, each), each, false);
                }
            }
        }

        private void look(TreePath path, ClassTree type, boolean ofInterface) {
            if (!isOffered(type.getModifiers(), ofInterface)) {
                return;
            }
            note(path, type.getSimpleName().toString(), type);
            boolean isInterface = type.getKind() == Tree.Kind.INTERFACE
                    || type.getKind() == Tree.Kind.ANNOTATION_TYPE;
            for (Tree member : type.getMembers()) {
                TreePath at = new TreePath(path, member);
                switch (member) {
                    case ClassTree nested -> look(at, nested, isInterface);
                    case MethodTree method
                    when isOffered(method.getModifiers(), isInterface)
                            && !isOverride(method)
                            && !isCompact(type, method) ->
                        note(at, type.getSimpleName() + "." + method.getName(), method);
                    case VariableTree field
                    when isOffered(field.getModifiers(), isInterface) ->
                        note(at, type.getSimpleName() + "." + field.getName(), field);
                    default -> {}
                }
            }
        }

        private void note(TreePath path, String name, Tree tree) {
            // what the compiler adds, a record's fields among it, has no place of its own
            if (docs.getSourcePositions().getEndPosition(path.getCompilationUnit(), tree) < 0) {
                return;
            }
            seen++;
            if (docs.getDocCommentTree(path) == null) {
                CompilationUnitTree unit = path.getCompilationUnit();
                long line = unit.getLineMap()
                        .getLineNumber(docs.getSourcePositions().getStartPosition(unit, tree));
                missing.add("%s:%d %s".formatted(unit.getSourceFile().getName(), line, name));
            }
        }

        private static boolean isOffered(ModifiersTree modifiers, boolean ofInterface) {
            Set<Modifier> flags = modifiers.getFlags();
            return !flags.contains(Modifier.PRIVATE)
                    && (ofInterface
                            || flags.contains(Modifier.PUBLIC)
                            || flags.contains(Modifier.PROTECTED));
        }

        private static boolean isOverride(MethodTree method) {
            return method.getModifiers().getAnnotations().stream()
                    .anyMatch(each -> each.getAnnotationType().toString().equals("Override"));
        }

        /** Checks components, and takes none by another name. */
        private static boolean isCompact(ClassTree type, MethodTree method) {
            return type.getKind() == Tree.Kind.RECORD
                    && method.getReturnType() == null
                    && method.toString().lines().noneMatch(line -> line.contains("this("));
        }
    }

    private static List<JavaFileObject> exported(StandardJavaFileManager files) throws IOException {
        List<JavaFileObject> found = new ArrayList<>();
        for (String module : MODULES) {
            Path sources = ROOT.resolve(module).resolve("src/main/java");
            for (MatchResult export : EXPORTED.matcher(
                            Files.readString(sources.resolve("module-info.java")))
                    .results()
                    .toList()) {
                try (Stream<Path> room =
                        Files.list(sources.resolve(export.group(1).replace('.', '/')))) {
                    room.filter(file -> file.toString().endsWith(".java")
                                    && !file.endsWith("package-info.java"))
                            .sorted()
                            .forEach(file -> files.getJavaFileObjects(file).forEach(found::add));
                }
            }
        }
        return found;
    }

    private static Search search(JavaCompiler compiler, List<JavaFileObject> sources)
            throws IOException {
        JavacTask task = (JavacTask)
                compiler.getTask(null, null, null, List.of("-proc:none"), null, sources);
        Search search = new Search(DocTrees.instance(task));
        task.parse().forEach(search::look);
        return search;
    }

    @Test
    void what_is_offered_to_everybody_has_a_comment() throws IOException {
        JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
        try (StandardJavaFileManager files =
                compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            Search search = search(compiler, exported(files));
            assertThat(search.seen).isGreaterThan(2_000);
            assertThat(search.missing).isEmpty();
        }
    }

    @Test
    void what_lacks_one_is_found() throws IOException {
        JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler());
        JavaFileObject source =
                new SimpleJavaFileObject(
                        URI.create("string:///A.java"), JavaFileObject.Kind.SOURCE) {
                    @Override
                    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
                        return """
                                /** Said. */
                                public class A {
                                    public int field;
                                    int own;
                                    public A() {}
                                    protected void method() {}
                                    @Override public String toString() { return ""; }
                                    /** Said. */
                                    public enum Kind { /** Said. */ ONE, TWO }
                                    /** Said. */
                                    public record Pair(int a) {
                                        public Pair { assert a > 0; }
                                        public Pair(long a) { this((int) a); }
                                    }
                                    /** Said. */
                                    public interface I { void f(); }
                                    private static final class Own { public int hidden; }
                                }""";
                    }
                };
        assertThat(search(compiler, List.of(source)).missing)
                .extracting(each -> each.replaceFirst(".* ", ""))
                .containsExactly(
                        "A.field", "A.<init>", "A.method", "Kind.TWO", "Pair.<init>", "I.f");
    }
}
