package io.turbidite.ops.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.ops.frame.OperatorMeter;

import org.junit.jupiter.api.Test;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/** The time of each step alone, from times that have all that is read. */
class StepTimesTest {
    private static PlanStep step(String name, long nanos) {
        OperatorMeter meter = new OperatorMeter();
        if (nanos > 0) {
            meter.work().took(nanos);
        }
        return new PlanStep(name, "", PlanStep.UNKNOWN, meter);
    }

    /** A group over a join, whose sides are a scan and the project and scan of what is built. */
    private static List<PlanStep> steps(long group, long join, long scan, long built) {
        List<PlanStep> ofJoin = new ArrayList<>();
        ofJoin.add(step("join", join));
        ofJoin.addAll(PlanStep.below(List.of(step("select", 0), step("scan", scan))));
        ofJoin.add(new PlanStep("build", "", 0, new OperatorMeter(), 1));
        ofJoin.addAll(
                PlanStep.below(PlanStep.below(List.of(step("project", 0), step("scan", built)))));
        List<PlanStep> all = new ArrayList<>();
        all.add(step("group", group));
        all.addAll(PlanStep.below(ofJoin));
        return all;
    }

    private static List<Long> times(List<PlanStep> steps) {
        return StepTimes.of(steps).stream().map(time -> time.orElse(-1)).toList();
    }

    @Test
    void what_is_read_is_no_time_of_who_reads_it() {
        assertThat(times(steps(1_000, 700, 400, 100)))
                .containsExactly(300L, 200L, -1L, 400L, -1L, -1L, 100L);
    }

    @Test
    void samples_that_say_more_than_there_was_share_what_there_was() {
        assertThat(times(steps(1_000, 2_000, 800, 200)))
                .containsExactly(0L, 500L, -1L, 400L, -1L, -1L, 100L);
        assertThat(times(steps(1_000, 500, 800, 200)))
                .containsExactly(500L, 0L, -1L, 400L, -1L, -1L, 100L);
    }

    @Test
    void without_times_there_are_none() {
        assertThat(StepTimes.of(steps(0, 0, 0, 0))).containsOnly(OptionalLong.empty());
    }
}
