package io.turbidite.it.rules;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchRule;

import org.junit.jupiter.api.Test;

import java.io.File;
import java.io.IOException;
import java.io.ObjectInputStream;
import java.lang.foreign.Arena;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.Executors;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The directions of design §1 and the seams of D4. */
class ArchitectureTest {
    private static final JavaClasses MAIN = new ClassFileImporter()
            .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
            // tests of the core, as others have them
            .withImportOption(location -> !location.contains("-testing.jar"))
            .importPackages("io.turbidite");

    /** What reaches files and threads through the seams alone; feeds have sources of their own. */
    private static final String[] STORAGE = {
        "io.turbidite.core..",
        "io.turbidite.lsm..",
        "io.turbidite.hashlog..",
        "io.turbidite.pm..",
        "io.turbidite.ops.."
    };

    private static final String[] CLUSTER = {
        "io.turbidite.ops.cluster..", "io.turbidite.feeds.cluster..", "io.turbidite.bench.."
    };

    private static void check(ArchRule rule) {
        rule.check(MAIN);
    }

    @Test
    void the_core_sees_no_other_module() {
        check(noClasses()
                .that()
                .resideInAPackage("io.turbidite.core..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "io.turbidite.lsm..",
                        "io.turbidite.hashlog..",
                        "io.turbidite.pm..",
                        "io.turbidite.ops..",
                        "io.turbidite.feeds..",
                        "io.turbidite.it.."));
    }

    @Test
    void stores_and_operators_never_see_one_another() {
        String[] modules = {"lsm", "hashlog", "pm", "ops"};
        for (String module : modules) {
            for (String other : modules) {
                if (!module.equals(other)) {
                    check(noClasses()
                            .that()
                            .resideInAPackage("io.turbidite." + module + "..")
                            .should()
                            .dependOnClassesThat()
                            .resideInAnyPackage(
                                    "io.turbidite." + other + "..",
                                    "io.turbidite.feeds..",
                                    "io.turbidite.it..")
                            .allowEmptyShould(true));
                }
            }
        }
    }

    @Test
    void rooms_form_no_cycle() {
        for (String module : new String[] {"core", "lsm", "hashlog", "pm", "ops", "feeds"}) {
            check(slices().matching("io.turbidite." + module + ".(**)")
                    .should()
                    .beFreeOfCycles()
                    .allowEmptyShould(true));
        }
    }

    @Test
    void rooms_of_the_engine_do_not_see_its_api() {
        check(noClasses()
                .that()
                .resideInAPackage("io.turbidite.lsm.*..")
                .and()
                // it asks a store as an application does
                .resideOutsideOfPackage("io.turbidite.lsm.catalog")
                .should()
                .dependOnClassesThat()
                .resideInAPackage("io.turbidite.lsm"));
    }

    /** Floor and rooms, in the drawing of {@code docs/ARCHITECTURE.md}. */
    private static final Pattern FLOOR = Pattern.compile("^ {2,4}(\\d+) {2}([a-z. ]+)$");

    @Test
    void rooms_of_the_engine_know_lower_floors_only() throws IOException {
        Map<String, Integer> floors = new TreeMap<>();
        Path drawing = Objects.requireNonNull(Path.of("").toAbsolutePath().getParent())
                .resolve("docs/ARCHITECTURE.md");
        for (String line : Files.readAllLines(drawing)) {
            Matcher floor = FLOOR.matcher(line);
            if (floor.matches()) {
                for (String room : floor.group(2).trim().split(" +", -1)) {
                    floors.put(packageOf(room), Integer.parseInt(floor.group(1)));
                }
            }
        }
        Set<String> rooms = new TreeSet<>();
        Set<String> upward = new TreeSet<>();
        for (JavaClass from : MAIN) {
            if (!isOfEngine(from)) {
                continue;
            }
            rooms.add(from.getPackageName());
            for (Dependency arrow : from.getDirectDependenciesFromSelf()) {
                JavaClass to = arrow.getTargetClass().getBaseComponentType();
                if (isOfEngine(to)
                        && !to.getPackageName().equals(from.getPackageName())
                        && floors.getOrDefault(to.getPackageName(), 0)
                                >= floors.getOrDefault(from.getPackageName(), 0)) {
                    upward.add(from.getSimpleName() + " -> " + to.getName());
                }
            }
        }
        assertThat(floors.keySet()).isEqualTo(rooms);
        assertThat(upward).isEmpty();
    }

    private static String packageOf(String room) {
        return "io.turbidite." + (room.equals("lsm") ? room : "lsm." + room);
    }

    private static boolean isOfEngine(JavaClass seen) {
        return (seen.getPackageName() + ".").startsWith("io.turbidite.lsm.");
    }

    @Test
    void files_are_touched_in_the_file_room_only() {
        check(noClasses()
                .that()
                .resideInAnyPackage(STORAGE)
                .and()
                .resideOutsideOfPackage("io.turbidite.core.file")
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Files.class, File.class, FileChannel.class)
                .orShould()
                .dependOnClassesThat()
                .haveNameMatching("java\\.io\\.(File.*|RandomAccessFile)"));
    }

    @Test
    void clocks_are_asked_in_the_time_room_only() {
        check(noClasses()
                .that()
                .resideInAPackage("io.turbidite..")
                .and()
                .resideOutsideOfPackages("io.turbidite.core.time", "io.turbidite.it.samples")
                .should()
                .callMethod(System.class, "nanoTime")
                .orShould()
                .callMethod(System.class, "currentTimeMillis")
                .orShould()
                .callMethod(Instant.class, "now"));
    }

    /** So that whoever leaves memory behind can be named. */
    @Test
    void arenas_have_owners() {
        check(noClasses()
                .that()
                .resideInAnyPackage(STORAGE)
                .and()
                .resideOutsideOfPackage("io.turbidite.core.memory")
                .should()
                .callMethod(Arena.class, "ofShared")
                .orShould()
                .callMethod(Arena.class, "ofConfined"));
    }

    @Test
    void randomness_is_an_argument() {
        check(noClasses()
                .that()
                .resideInAPackage("io.turbidite..")
                .should()
                .dependOnClassesThat()
                .belongToAnyOf(Random.class, ThreadLocalRandom.class)
                .orShould()
                .callMethod(Math.class, "random"));
    }

    @Test
    void threads_are_started_and_parked_in_the_task_room_only() {
        check(noClasses()
                .that()
                .resideInAnyPackage(STORAGE)
                .and()
                .resideOutsideOfPackage("io.turbidite.core.task")
                .should()
                .callMethod(Thread.class, "sleep", long.class)
                .orShould()
                .callMethod(Thread.class, "start")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(Executors.class, java.util.concurrent.locks.LockSupport.class));
    }

    @Test
    void nothing_is_deserialized_by_java() {
        check(noClasses().should().dependOnClassesThat().belongToAnyOf(ObjectInputStream.class));
    }

    /** Decision 0211: another engine would cost one room. */
    @Test
    void the_engine_of_a_cluster_is_seen_in_its_rooms_only() {
        check(noClasses()
                .that()
                .resideOutsideOfPackages(CLUSTER)
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage("org.apache.hyracks..", "org.bouncycastle.."));
    }

    /** So that who embeds a store, and the commands on one machine, load no class of it. */
    @Test
    void rooms_of_a_cluster_are_entered_from_its_rooms_only() {
        check(noClasses()
                .that()
                .resideOutsideOfPackages(CLUSTER)
                .and()
                // it makes the command where it is asked for
                .doNotHaveFullyQualifiedName("io.turbidite.feeds.command.Main")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(CLUSTER));
    }

    /** Decision 0238: what is simulated is what runs, and any engine may carry it. */
    @Test
    void agreement_of_a_cluster_knows_no_engine_thread_clock_or_socket() {
        check(noClasses()
                .that()
                .resideInAnyPackage(
                        "io.turbidite.feeds.cluster.change..", "io.turbidite.feeds.cluster.agree..")
                .should()
                .dependOnClassesThat()
                .resideInAnyPackage(
                        "org.apache.hyracks..",
                        "io.turbidite.ops..",
                        "io.turbidite.core.time..",
                        "io.turbidite.core.task..",
                        "java.net..",
                        "java.nio..",
                        "java.util.concurrent..")
                .orShould()
                .dependOnClassesThat()
                .belongToAnyOf(Thread.class));
    }
}
