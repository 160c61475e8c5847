package io.turbidite.core.sim;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.turbidite.core.file.DiskFile;
import io.turbidite.core.memory.MemoryBudget;
import io.turbidite.core.memory.NativeMemory;
import io.turbidite.core.task.Tasks;
import io.turbidite.core.task.ThreadTasks;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.launcher.TestExecutionListener;
import org.junit.platform.launcher.TestIdentifier;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;

import java.lang.foreign.Arena;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Map;

/**
 * JUnit finds the leak check by itself, and tests that leave something open fail by it, with its
 * owner's name.
 */
class LeakCheckTest {
    /** What the tests below forgot, to be closed when they have been judged. */
    private static final Deque<Runnable> FORGOTTEN = new ArrayDeque<>();

    @AfterEach
    void close_what_was_forgotten() {
        FORGOTTEN.forEach(Runnable::run);
        FORGOTTEN.clear();
    }

    @Test
    void tests_that_leave_a_file_a_thread_or_memory_fail() {
        Map<String, String> failures = failuresOf(Forgetful.class);
        assertThat(failures)
                .containsOnlyKeys("a_file()", "a_thread()", "an_arena()", "an_account()");
        assertThat(failures.get("a_file()")).contains("left open").contains("a/forgotten.file");
        assertThat(failures.get("a_thread()")).contains("worker forgotten/worker");
        assertThat(failures.get("an_arena()")).contains("memory of the forgotten arena");
        assertThat(failures.get("an_account()")).contains("memory of the forgotten account: 7 of");
    }

    @Test
    void what_a_field_opens_is_the_tests() {
        Map<String, String> failures = failuresOf(ForgetfulByAField.class);
        assertThat(failures).containsOnlyKeys("leaves_what_the_field_holds()");
        assertThat(failures.values().iterator().next()).contains("memory of the field's arena");
    }

    @Test
    void a_class_that_leaves_something_of_all_its_tests_fails() {
        Map<String, String> failures = failuresOf(ForgetfulAsAWhole.class);
        assertThat(failures).hasSize(1);
        assertThat(failures.values().iterator().next()).contains("memory of the class's arena");
    }

    @Test
    void a_test_that_is_about_leaving_things_passes() {
        assertThat(failuresOf(OnPurpose.class)).isEmpty();
    }

    /** As a build runs them: nothing is registered by hand. */
    private static Map<String, String> failuresOf(Class<?> tests) {
        Map<String, String> failures = new HashMap<>();
        TestExecutionListener listener = new TestExecutionListener() {
            @Override
            public void executionFinished(TestIdentifier test, TestExecutionResult result) {
                result.getThrowable()
                        .ifPresent(
                                failure -> failures.put(test.getDisplayName(), failure.toString()));
            }
        };
        LauncherFactory.create()
                .execute(
                        LauncherDiscoveryRequestBuilder.request()
                                .selectors(selectClass(tests))
                                .build(),
                        listener);
        return failures;
    }

    private static Arena forgotten(String owner) {
        Arena arena = NativeMemory.shared(owner);
        FORGOTTEN.add(arena::close);
        return arena;
    }

    /** Not found by a build, as its name says. */
    static final class Forgetful {
        @Test
        void nothing() {
            try (Arena arena = NativeMemory.confined("closed")) {
                assertThat(arena.allocate(1).byteSize()).isEqualTo(1);
            }
        }

        @Test
        void a_file() {
            SimDisk disk = new SimDisk(1, Profile.STRICT);
            disk.createDirectories("a");
            DiskFile file = disk.create("a/forgotten.file");
            FORGOTTEN.add(file::close);
        }

        @Test
        void a_thread() {
            Tasks tasks = ThreadTasks.create("forgotten");
            var _ = tasks.start("worker", Long.MAX_VALUE, () -> false);
            FORGOTTEN.add(tasks::close);
        }

        @Test
        void an_arena() {
            assertThat(forgotten("the forgotten arena").allocate(8).byteSize()).isEqualTo(8);
        }

        @Test
        void an_account() {
            MemoryBudget.Account account = MemoryBudget.of(100).account("the forgotten account");
            assertThat(account.reserve(7)).isTrue();
            FORGOTTEN.add(() -> account.release(7));
        }
    }

    /** An instance for each test. */
    static final class ForgetfulByAField {
        private final Arena arena = NativeMemory.shared("the field's arena");

        @Test
        void closes_it() {
            arena.close();
        }

        @Test
        void leaves_what_the_field_holds() {
            FORGOTTEN.add(arena::close);
        }
    }

    /** Each test has what the class holds, and leaves nothing itself. */
    static final class ForgetfulAsAWhole {
        @BeforeAll
        static void open() {
            assertThat(forgotten("the class's arena").allocate(1).byteSize()).isEqualTo(1);
        }

        @Test
        void leaves_nothing() {}

        @AfterAll
        static void close_nothing() {}
    }

    /** Passed over. */
    static final class OnPurpose {
        @Test
        @LeaksOnPurpose("to be passed over")
        void an_arena() {
            assertThat(forgotten("on purpose").allocate(8).byteSize()).isEqualTo(8);
        }
    }
}
