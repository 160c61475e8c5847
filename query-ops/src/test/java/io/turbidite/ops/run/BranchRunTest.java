package io.turbidite.ops.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.turbidite.core.time.Clock;
import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;

import org.junit.jupiter.api.Test;

import java.util.List;

/** What a branch tells of its time. */
class BranchRunTest {
    private static final int OPEN = 1_000;
    private static final int STEP = 10;
    private static final int CLOSE = 100;

    private long now;

    private final Clock clock = new Clock() {
        @Override
        public long wallMicros() {
            return 0;
        }

        @Override
        public long monotonicNanos() {
            return now;
        }
    };

    private final FrameSource source = new FrameSource() {
        private int stepCount;

        @Override
        public void open() {
            now += OPEN;
        }

        @Override
        public boolean step() {
            now += STEP;
            return ++stepCount < 3;
        }

        @Override
        public void close() {
            now += CLOSE;
        }
    };

    private static final FrameWriter NOWHERE = new FrameWriter() {
        @Override
        public void open() {
            // takes nothing
        }

        @Override
        public boolean frame(Frame frame) {
            return true;
        }

        @Override
        public void fail() {
            // holds nothing
        }

        @Override
        public void close() {
            // holds nothing
        }
    };

    /** A sort is done when what it has collected is opened: that is its time too. */
    @Test
    void the_time_of_a_stage_has_its_opening_and_its_end() {
        OperatorMeter meter = new OperatorMeter();
        BranchRun run = new BranchRun(
                new Stage.Branch(source, NOWHERE, List.of(meter)),
                RunOptions.defaults().withClock(clock));
        while (run.step()) {
            now += 7; // others' work
        }
        assertThat(meter.work().cpuNanos()).isEqualTo(OPEN + 3 * STEP + CLOSE);
    }
}
