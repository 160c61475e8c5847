package io.turbidite.ops.cluster;

import org.apache.hyracks.api.comm.IFrame;
import org.apache.hyracks.api.comm.IFrameReader;
import org.apache.hyracks.api.comm.VSizeFrame;
import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.value.IBinaryComparator;
import org.apache.hyracks.api.dataflow.value.RecordDescriptor;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.dataflow.std.sort.RunMergingFrameReader;
import org.jspecify.annotations.Nullable;

import java.util.ArrayList;
import java.util.List;

/**
 * The rows of an input, merged by their keys. Waits for the first frame of each sender when the
 * first frame is asked for, and not when it is opened: whoever fails to open a reader is not told
 * to its task by the engine. <em>Confined to one thread.</em>
 */
final class MergedFrames implements IFrameReader {
    private final IHyracksTaskContext context;
    private final RecordDescriptor type;
    private final int senderCount;
    private final Arrivals arrivals;
    private @Nullable RunMergingFrameReader merged;

    MergedFrames(
            IHyracksTaskContext context,
            RecordDescriptor type,
            int senderCount,
            Arrivals arrivals) {
        this.context = context;
        this.type = type;
        this.senderCount = senderCount;
        this.arrivals = arrivals;
    }

    @Override
    public void open() {
        // with the first frame
    }

    @Override
    public boolean nextFrame(IFrame frame) throws HyracksDataException {
        RunMergingFrameReader reader = merged;
        if (reader == null) {
            reader = reader();
            merged = reader;
            reader.open();
        }
        return reader.nextFrame(frame);
    }

    private RunMergingFrameReader reader() throws HyracksDataException {
        List<IFrameReader> runs = new ArrayList<>();
        List<IFrame> frames = new ArrayList<>();
        for (int sender = 0; sender < senderCount; sender++) {
            runs.add(new OfSender(arrivals, sender));
            frames.add(new VSizeFrame(context));
        }
        return new RunMergingFrameReader(
                context,
                runs,
                frames,
                new int[] {0},
                new IBinaryComparator[] {KeyOrder::compare},
                null,
                type);
    }

    @Override
    public void close() {
        // channels end with their senders
    }

    /** The frames of one sender. */
    private record OfSender(Arrivals arrivals, int sender) implements IFrameReader {
        @Override
        public void open() {
            // nothing to open
        }

        @Override
        public boolean nextFrame(IFrame frame) throws HyracksDataException {
            return arrivals.read(sender, frame);
        }

        @Override
        public void close() {
            // channels end with their senders
        }
    }
}
