package io.turbidite.ops.run;

import io.turbidite.ops.frame.Frame;
import io.turbidite.ops.frame.FrameSource;
import io.turbidite.ops.frame.FrameWriter;
import io.turbidite.ops.frame.OperatorMeter;

import java.util.List;

/**
 * A part of a job that must end before the next begins: branches that may run side by side, each a
 * source that pushes into a chain of writers. <em>Immutable.</em>
 */
public record Stage(List<Branch> branches) {
    /**
     * A source and what it pushes into.
     *
     * @param source pushes into {@code first}
     * @param first the head of the chain
     * @param timed told of the time that its steps take, where options have a clock
     */
    public record Branch(FrameSource source, FrameWriter first, List<OperatorMeter> timed) {
        public Branch {
            timed = List.copyOf(timed);
        }
    }

    public Stage {
        branches = List.copyOf(branches);
    }

    /** A source that pushes nothing: it prepares what a later stage reads. */
    public static Stage preparing(FrameSource source, List<OperatorMeter> timed) {
        return of(source, new Nothing(), timed);
    }

    /** A source with what it pushes to. */
    public static Stage of(FrameSource source, FrameWriter first) {
        return of(source, first, List.of());
    }

    /** A source with what it pushes to; {@code timed} as of a {@link Branch}. */
    public static Stage of(FrameSource source, FrameWriter first, List<OperatorMeter> timed) {
        return new Stage(List.of(new Branch(source, first, timed)));
    }

    /** Takes no frame. */
    private static final class Nothing implements FrameWriter {
        @Override
        public void open() {
            // there is nothing to prepare for
        }

        @Override
        public boolean frame(Frame frame) {
            throw new IllegalStateException("a stage that prepares has no frames");
        }

        @Override
        public void fail() {
            // nothing was taken
        }

        @Override
        public void close() {
            // nothing is held
        }
    }
}
