package io.turbidite.ops.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

import java.io.File;
import java.lang.module.ModuleDescriptor.Version;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * None of the libraries that the engine's POMs name is there in the version that they name: each
 * has known vulnerabilities, which {@code docs/cluster.md} lists.
 */
class EngineVersionsTest {
    /** By the beginning of a jar's name: the least version. */
    private static final Map<String, String> LEAST = Map.of(
            "netty-", "4.2.18.Final",
            "jackson-", "2.22",
            "log4j-", "2.25.3",
            "guava", "33.5.0-jre",
            "commons-io", "2.21.0",
            "commons-lang3", "3.18.0",
            "commons-text", "1.10.0",
            "httpclient", "4.5.14",
            "httpcore", "4.4.16");

    private static final Pattern JAR = Pattern.compile("(.+?)-(\\d[\\w.-]*)\\.jar");

    /** The jars of the class path by name; a test that finds none would say nothing. */
    private static Map<String, String> jars() {
        Map<String, String> versions = new TreeMap<>();
        for (String path : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
            Matcher jar = JAR.matcher(new File(path).getName());
            if (jar.matches()) {
                versions.put(jar.group(1), jar.group(2));
            }
        }
        return versions;
    }

    @Test
    void no_old_version_is_there() {
        Map<String, String> jars = jars();
        assertThat(jars).containsEntry("hyracks-api", "0.3.8");
        List<String> old = new ArrayList<>();
        LEAST.forEach((prefix, least) -> {
            assertThat(jars.keySet()).anyMatch(name -> name.startsWith(prefix));
            jars.forEach((name, version) -> {
                if (name.startsWith(prefix)
                        && Version.parse(version).compareTo(Version.parse(least)) < 0) {
                    old.add(name + "-" + version);
                }
            });
        });
        assertThat(old).isEmpty();
    }

    /** Its threads never end, and one halts the JVM. */
    @Test
    void the_library_of_the_engines_clients_is_not_there() {
        assertThat(jars().keySet()).doesNotContain("hyracks-client");
    }
}
