package io.turbidite.it.rules;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.feeds.command.Main;

import org.junit.jupiter.api.Test;
import org.w3c.dom.Document;
import org.w3c.dom.Element;
import org.w3c.dom.Node;

import java.io.ByteArrayOutputStream;
import java.io.File;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.regex.Pattern;

import javax.xml.parsers.DocumentBuilderFactory;

/**
 * What a repository of artifacts asks of each of ours: it says what it is, and its version is that
 * of all others.
 */
class PublishedTest {
    private static final Path ROOT =
            Objects.requireNonNull(Path.of("").toAbsolutePath().getParent());

    /** Tests and measurements are of no use to others. */
    private static final List<String> INTERNAL = List.of(
            "it-tests",
            "benchmarks",
            "storage-core-testing",
            "storage-lsm-testing",
            "storage-pm-testing");

    /** The engine of clusters, and what it names in versions that have faults. */
    private static final Pattern LIFTED = Pattern.compile("(hyracks-(control-[cn]c|dataflow-std)"
            + "|netty|jackson|log4j|guava|commons-(io|lang3|text)|httpclient|httpcore)-.*");

    /** A project file by its element's path. */
    private static final class Pom {
        private final Element project;

        private Pom(String directory) throws Exception {
            Document document = DocumentBuilderFactory.newInstance()
                    .newDocumentBuilder()
                    .parse(ROOT.resolve(directory).resolve("pom.xml").toFile());
            project = Objects.requireNonNull(document.getDocumentElement());
        }

        /** All elements that are reached by the names of {@code path}. */
        private List<Element> all(String... path) {
            List<Element> found = List.of(project);
            for (String name : path) {
                List<Element> below = new ArrayList<>();
                for (Element element : found) {
                    for (Node child = element.getFirstChild();
                            child != null;
                            child = child.getNextSibling()) {
                        if (child instanceof Element inner && inner.getTagName().equals(name)) {
                            below.add(inner);
                        }
                    }
                }
                found = below;
            }
            return found;
        }

        private List<String> texts(String... path) {
            return all(path).stream()
                    .map(element -> element.getTextContent().strip())
                    .toList();
        }

        private String text(String... path) {
            return texts(path).isEmpty() ? "" : texts(path).getFirst();
        }
    }

    @Test
    void each_artifact_says_what_it_is() throws Exception {
        Pom root = new Pom(".");
        for (String directory : List.of(".", "bom")) {
            Pom pom = new Pom(directory);
            for (String name : List.of("name", "description", "url")) {
                assertThat(pom.text(name)).as("%s: %s", directory, name).isNotEmpty();
            }
            assertThat(pom.text("licenses", "license", "url")).as(directory).isNotEmpty();
            assertThat(pom.text("developers", "developer", "name"))
                    .as(directory)
                    .isNotEmpty();
            assertThat(pom.text("scm", "connection")).as(directory).startsWith("scm:git:");
        }
        for (String module : root.texts("modules", "module")) {
            Pom pom = new Pom(module);
            assertThat(pom.text("artifactId")).isEqualTo("turbidite-" + module);
            assertThat(pom.text("name")).as("name of %s", module).isNotEmpty();
            assertThat(pom.text("description")).as("description of %s", module).isNotEmpty();
            assertThat(pom.text("properties", "maven.deploy.skip"))
                    .as("whether %s is kept back", module)
                    .isEqualTo(INTERNAL.contains(module) ? "true" : "");
        }
    }

    @Test
    void the_bom_names_what_is_published() throws Exception {
        List<String> published = new ArrayList<>();
        for (String module : new Pom(".").texts("modules", "module")) {
            if (!INTERNAL.contains(module) && !module.equals("bom")) {
                published.add("turbidite-" + module);
            }
        }
        List<String> named = new ArrayList<>();
        for (String artifact : new Pom("bom")
                .texts("dependencyManagement", "dependencies", "dependency", "artifactId")) {
            if (artifact.startsWith("turbidite-")) {
                named.add(artifact);
            }
        }
        assertThat(named).containsExactlyInAnyOrderElementsOf(published);
    }

    /** Whoever adds Hyracks would get the libraries of 2022 that it names. */
    @Test
    void the_bom_has_the_versions_that_clusters_are_tested_with() throws Exception {
        Pom bom = new Pom("bom");
        String[] path = {"dependencyManagement", "dependencies", "dependency", ""};
        path[3] = "artifactId";
        List<String> names = bom.texts(path);
        path[3] = "version";
        List<String> versions = bom.texts(path);
        List<String> jars = new ArrayList<>();
        for (int i = 0; i < names.size(); i++) {
            if (!names.get(i).startsWith("turbidite-")) {
                jars.add("%s-%s.jar".formatted(names.get(i), versions.get(i)));
            }
        }
        List<String> here = new ArrayList<>();
        for (String file : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            String name = Path.of(file).getFileName().toString();
            if (LIFTED.matcher(name).matches()) {
                here.add(name);
            }
        }
        assertThat(here)
                .contains("hyracks-control-cc-0.3.8.jar")
                .containsExactlyInAnyOrderElementsOf(jars);
    }

    @Test
    void there_is_one_version() throws Exception {
        String version = new Pom(".").text("version");
        for (String module : new Pom(".").texts("modules", "module")) {
            Pom pom = new Pom(module);
            assertThat(pom.text("version") + pom.text("parent", "version"))
                    .as("version of %s", module)
                    .isEqualTo(version);
        }
        ByteArrayOutputStream said = new ByteArrayOutputStream();
        PrintStream out = new PrintStream(said, true, StandardCharsets.UTF_8);
        assertThat(Main.run(new String[] {"--version"}, out, out)).isZero();
        assertThat(said.toString(StandardCharsets.UTF_8)).contains(version);
        assertThat(Files.readString(ROOT.resolve("CHANGELOG.md")))
                .contains("## " + version.replace("-SNAPSHOT", ""));
    }
}
