package io.turbidite.ops.plan;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.junit.jupiter.api.Test;

import java.util.Arrays;
import java.util.stream.Collectors;

/** The planner knows what each step costs, or does not start. */
class CostStepTest {
    private static final String ALL = "version 1\n"
            + Arrays.stream(CostStep.values())
                    .map(step -> step.label() + " 7.5\n")
                    .collect(Collectors.joining());

    @Test
    void the_committed_file_has_every_step() {
        for (CostStep step : CostStep.values()) {
            assertThat(step.nanos()).as(step.label()).isBetween(0.1, 1e6);
        }
        assertThat(CostStep.REFUSED.units()).isEqualTo(1);
    }

    @Test
    void all_of_a_file_is_read() {
        assertThat(CostStep.parse("# a comment\n\n" + ALL).values()).containsOnly(7.5);
    }

    @Test
    void a_step_without_a_cost_is_an_error() {
        for (CostStep step : CostStep.values()) {
            String line = step.label() + " 7.5\n";
            refuses(ALL.replace("\n" + line, "\n"), "no cost of '%s'".formatted(step.label()));
            refuses(ALL.replace("\n" + line, "\n" + step.label() + " 0\n"), "no cost of");
        }
    }

    @Test
    void what_is_no_cost_of_a_step_is_an_error() {
        refuses(ALL + "open 3\n", "'open' is there twice");
        refuses(ALL + "opens 3\n", "there is no step [opens]");
        refuses(ALL + "opens\n", "'opens' is no name with a number");
        refuses(ALL + "opens x\n", "'opens x' is no name with a number");
        refuses(ALL + "opens -3\n", "'opens -3' is no name with a number");
        refuses(ALL.replace("version 1", "version 2"), "version 2.0, not 1");
        refuses(ALL.replace("version 1\n", ""), "version null, not 1");
    }

    private static void refuses(String text, String message) {
        assertThatThrownBy(() -> CostStep.parse(text))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining(message);
    }
}
