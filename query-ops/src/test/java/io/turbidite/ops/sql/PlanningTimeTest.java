package io.turbidite.ops.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.turbidite.core.time.Clock;
import io.turbidite.ops.QueryResult;
import io.turbidite.ops.run.RunOptions;

import org.junit.jupiter.api.Test;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;

class PlanningTimeTest {
    private static final String TOO_LONG =
            "the statement takes more than %s s to plan: write fewer terms, or allow more";

    private final People people = new People();

    /** Time that the test makes pass. */
    private static final class Hands implements Clock {
        long wallNanos;
        long threadNanos;
        long secondsByLook;

        @Override
        public long wallMicros() {
            return wallNanos / 1_000;
        }

        @Override
        public long monotonicNanos() {
            pass(secondsByLook, secondsByLook);
            return wallNanos;
        }

        @Override
        public long threadNanos() {
            return threadNanos;
        }

        void pass(long wallSeconds, long threadSeconds) {
            wallNanos += wallSeconds * 1_000_000_000;
            threadNanos += threadSeconds * 1_000_000_000;
        }
    }

    private static String longStatement() {
        List<String> sums = new ArrayList<>();
        for (int i = 0; i < 200; i++) {
            sums.add("id + " + i);
        }
        return "select " + String.join(", ", sums) + " from People";
    }

    @Test
    void it_is_ten_seconds_of_the_processor_unless_it_is_said() {
        assertThat(PlanningTime.DEFAULT.nanosMax()).isEqualTo(10_000_000_000L);
        Hands clock = new Hands();
        clock.pass(-50, 77);
        PlanningTime.Span span = new PlanningTime(PlanningTime.DEFAULT.nanosMax(), clock).begun();
        clock.pass(1, 1);
        assertThat(span.isOver()).isFalse();
        // a busy machine, on which the thread waits
        clock.pass(3_600, 1);
        assertThat(span.isOver()).isFalse();
        clock.pass(7, 7);
        assertThat(span.isOver()).isFalse();
        clock.pass(1, 1);
        assertThat(span.isOver()).isTrue();
        assertThatThrownBy(span::check)
                .isInstanceOf(SqlException.class)
                .hasMessage(TOO_LONG.formatted("10"));
    }

    @Test
    void a_first_look_that_comes_late_refuses_nothing() {
        Hands clock = new Hands();
        PlanningTime.Span span = new PlanningTime(PlanningTime.DEFAULT.nanosMax(), clock).begun();
        clock.pass(30, 1);
        assertThat(span.isOver()).isFalse();
        clock.pass(9, 8);
        assertThat(span.isOver()).isFalse();
        clock.pass(1, 1);
        assertThat(span.isOver()).isTrue();
    }

    @Test
    void a_statement_that_takes_longer_is_refused() {
        Sql hasty = people.sql().planningAtMost(Duration.ofNanos(1));
        for (String text : List.of(longStatement(), "select id from People where id in (1, 2)")) {
            assertThatThrownBy(() -> hasty.statement(text))
                    .isInstanceOf(SqlException.class)
                    .hasMessage(TOO_LONG.formatted("0.000000001"));
            // the stop of the caller ends it as ever
            assertThatThrownBy(() -> hasty.statement(text, () -> true))
                    .isInstanceOf(CancellationException.class);
            assertThat(people.sql().statement(text).columns()).isNotEmpty();
        }
        assertThatThrownBy(() -> hasty.planningAtMost(Duration.ZERO))
                .isInstanceOf(SqlException.class)
                .hasMessageContaining("needs time");
        Duration forEver = Duration.ofSeconds(Long.MAX_VALUE, 999_999_999);
        assertThat(hasty.planningAtMost(forEver).statement("select 1").columns())
                .hasSize(1);
    }

    /** A run plans anew what is of its moment; it has the limit of its statement. */
    @Test
    void a_run_that_plans_anew_has_the_limit_too() {
        StatementText text =
                StatementText.of("select id, now() as n from People where id in (1, 2)");
        List<SourceAndView> sources = List.of(new SourceAndView(people.people, null));
        Planned planned = Planned.of(sources, text, () -> Instant.EPOCH);
        Hands clock = new Hands();
        SqlStatement statement =
                new SqlStatement(planned, new PlanningTime(PlanningTime.DEFAULT.nanosMax(), clock));
        try (QueryResult rows = statement.run()) {
            assertThat(rows.toList()).hasSize(2);
        }
        // from now on a second of the processor goes by between any two looks
        clock.secondsByLook = 1;
        assertThatThrownBy(statement::run)
                .isInstanceOf(SqlException.class)
                .hasMessage(TOO_LONG.formatted("10"));
        assertThat(people.people.openCount).hasValue(0);
    }

    /** Threads without a time of their own go by the wall. */
    @Test
    void a_virtual_thread_has_the_limit_too() throws InterruptedException {
        List<Throwable> thrown = new ArrayList<>();
        Thread.ofVirtual()
                .start(() -> {
                    try {
                        people.sql().planningAtMost(Duration.ofNanos(1)).statement(longStatement());
                    } catch (RuntimeException e) {
                        thrown.add(e);
                    }
                })
                .join();
        assertThat(thrown).singleElement().isInstanceOf(SqlException.class);
    }

    @Test
    void an_explanation_is_asked_for_as_json() {
        String text = "select id from People where age > 40";
        assertThat(people.sql().statement("explain " + text).explainsAsJson()).isFalse();
        for (String head : List.of("explain as json ", "EXPLAIN\nANALYZE AS\tJSON ")) {
            SqlStatement asked = people.sql().statement(head + text);
            assertThat(asked.explains()).isTrue();
            assertThat(asked.explainsAsJson()).isTrue();
            assertThat(asked.explanation(RunOptions.defaults()).toJson())
                    .startsWith("{\"dataset\":\"People\",\"access\":\"")
                    .contains("\"operators\":[{\"operator\":\"", "\"chosen\":true")
                    .endsWith("}");
        }
        assertThatThrownBy(() -> people.sql().statement("explain as xml " + text))
                .hasMessageStartingWith("line 1, column 12: expected JSON");
        assertThatThrownBy(() -> people.sql().statement("explain as json"))
                .isInstanceOf(SqlException.class);
    }
}
