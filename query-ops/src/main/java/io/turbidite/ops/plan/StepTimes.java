package io.turbidite.ops.plan;

import io.turbidite.ops.frame.OperatorWork;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * The processor time of each step alone. Meters have the time of a step with all that it reads;
 * where several are done in one go, the lowest of them has it for all. Static, without state.
 */
public final class StepTimes {
    private static final int NONE = -1;

    private StepTimes() {}

    /**
     * For each step its time without that of the steps that it reads; empty where it was not taken.
     * The time of a stage is exact, that of rows within it is of samples: where these would take
     * longer than what reads them, they have all its time, in their proportion.
     */
    public static List<OptionalLong> of(List<PlanStep> steps) {
        int count = steps.size();
        int[] readers = new int[count];
        double[] inputs = new double[count];
        for (int i = 0; i < count; i++) {
            readers[i] = timedReader(steps, i, readers);
            if (readers[i] != NONE) {
                inputs[readers[i]] += withInputs(steps.get(i));
            }
        }
        double[] scales = new double[count];
        List<OptionalLong> times = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            long nanos = withInputs(steps.get(i));
            int reader = readers[i];
            scales[i] = reader == NONE
                    ? 1
                    : scales[reader] * Math.min(1, withInputs(steps.get(reader)) / inputs[reader]);
            times.add(
                    nanos == 0
                            ? OptionalLong.empty()
                            : OptionalLong.of(
                                    Math.round(Math.max(0, nanos - inputs[i]) * scales[i])));
        }
        return times;
    }

    /** The step that reads another one and has a time, perhaps by way of others; or none. */
    private static int timedReader(List<PlanStep> steps, int step, int[] readers) {
        int reader = reader(steps, step);
        return reader == NONE || withInputs(steps.get(reader)) > 0 ? reader : readers[reader];
    }

    private static long withInputs(PlanStep step) {
        OperatorWork work = step.meter().workSoFar();
        return work == null ? 0 : work.cpuNanos();
    }

    /** The step that reads another one. */
    private static int reader(List<PlanStep> steps, int step) {
        int at = step - 1;
        if (steps.get(step).isInput()) {
            while (at >= 0 && steps.get(at).depth() >= steps.get(step).depth()) {
                at--;
            }
        }
        return at;
    }
}
