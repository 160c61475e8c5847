package io.turbidite.ops.plan;

import io.turbidite.ops.frame.OperatorWork;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;

/**
 * The processor time of each step alone. Meters have the time of a step with all that it reads on
 * its thread; where several are done in one go, the lowest of them has it for all.
 *
 * <p>What workers did beside the thread that reads them is in no time above them, so it is added
 * there. The time of a stage is exact, that of rows within it is of samples: where inputs would
 * take longer than what reads them, what they have beyond what is exact is cut down to what is
 * left, in their proportion.
 *
 * <p><em>Confined to one thread.</em>
 */
public final class StepTimes {
    private static final int NONE = -1;

    private final List<PlanStep> steps;

    /** The timed step that reads a step, perhaps by way of others. */
    private final int[] readers;

    /** The time of a step with all that it reads, on whatever thread. */
    private final double[] totals;

    /** What of it is exact, so that it may not be less. */
    private final double[] floors;

    /** What of it was spent beside the thread that reads the step. */
    private final double[] outside;

    /** The same, all inputs of a step together. */
    private final double[] inputTotals;

    private final double[] inputFloors;
    private final double[] inputOutside;

    private StepTimes(List<PlanStep> steps) {
        int count = steps.size();
        this.steps = steps;
        this.readers = new int[count];
        this.totals = new double[count];
        this.floors = new double[count];
        this.outside = new double[count];
        this.inputTotals = new double[count];
        this.inputFloors = new double[count];
        this.inputOutside = new double[count];
    }

    /**
     * For each step its time without that of the steps that it reads; empty where it was not taken.
     *
     * @param steps each behind the one that reads it
     */
    public static List<OptionalLong> of(List<PlanStep> steps) {
        StepTimes times = new StepTimes(steps);
        times.addUp();
        return times.alone();
    }

    private void addUp() {
        for (int i = 0; i < readers.length; i++) {
            readers[i] = timedReader(i);
        }
        for (int i = readers.length - 1; i >= 0; i--) {
            OperatorWork work = steps.get(i).meter().workSoFar();
            if (work == null || !work.isTimed()) {
                continue;
            }
            double beside = (double) work.besideNanos();
            double added = Math.max(0, inputOutside[i] - beside);
            outside[i] = Math.max(beside, inputOutside[i]);
            boolean isExact = work.exactNanos() > 0;
            floors[i] = Math.max(isExact ? work.exactNanos() + added : 0, inputFloors[i]);
            totals[i] = Math.max(work.cpuNanos() + added, floors[i]);
            if (readers[i] != NONE) {
                inputTotals[readers[i]] += totals[i];
                inputFloors[readers[i]] += floors[i];
                inputOutside[readers[i]] += outside[i];
            }
        }
    }

    private List<OptionalLong> alone() {
        double[] scaled = new double[readers.length];
        List<OptionalLong> times = new ArrayList<>();
        for (int i = 0; i < readers.length; i++) {
            int reader = readers[i];
            scaled[i] = floors[i]
                    + (totals[i] - floors[i]) * (reader == NONE ? 1 : share(reader, scaled));
            double ofInputs = inputFloors[i] + (inputTotals[i] - inputFloors[i]) * share(i, scaled);
            times.add(
                    isTimed(i)
                            ? OptionalLong.of(Math.round(Math.max(0, scaled[i] - ofInputs)))
                            : OptionalLong.empty());
        }
        return times;
    }

    /** Which share there is room for of what the inputs of a step have beyond what is exact. */
    private double share(int of, double[] scaled) {
        double sampled = Math.max(totals[of], inputTotals[of]) - inputFloors[of];
        double room = Math.max(0, scaled[of] - inputFloors[of]);
        return sampled <= room ? 1 : room / sampled;
    }

    /** The step that reads another one and has a time, perhaps by way of others; or none. */
    private int timedReader(int step) {
        int reader = reader(step);
        return reader == NONE || isTimed(reader) ? reader : readers[reader];
    }

    private boolean isTimed(int step) {
        OperatorWork work = steps.get(step).meter().workSoFar();
        return work != null && work.isTimed();
    }

    /** The step that reads another one. */
    private int reader(int step) {
        int at = step - 1;
        if (steps.get(step).isInput()) {
            while (at >= 0 && steps.get(at).depth() >= steps.get(step).depth()) {
                at--;
            }
        }
        return at;
    }
}
