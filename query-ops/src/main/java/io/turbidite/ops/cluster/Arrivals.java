package io.turbidite.ops.cluster;

import org.apache.hyracks.api.channels.IInputChannel;
import org.apache.hyracks.api.channels.IInputChannelMonitor;
import org.apache.hyracks.api.comm.FrameHelper;
import org.apache.hyracks.api.comm.IFrame;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.partitions.PartitionId;
import org.apache.hyracks.net.protocols.muxdemux.AbstractChannelWriteInterface;
import org.jspecify.annotations.Nullable;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;

/**
 * The frames of an input, as they come from its senders. Where one of them fails, its reader is
 * thrown that: the engine's own readers say that there are no more rows then, and whoever reads on
 * takes them for all.
 *
 * <ol>
 *   <li>A connection that is lost is a failure by itself, told at once with both nodes' names.
 *   <li>A sender that failed tells the controller by itself why. The reader waits until the
 *       controller interrupts it, so that the failure which came first is the one that the job has:
 *       some milliseconds, and {@link #CAUSE_WAIT_SECONDS} where no order comes.
 *   <li>Frames that came before a failure are not read any more.
 * </ol>
 *
 * <em>Thread-safe by one lock</em>; the engine's threads tell what has come.
 */
final class Arrivals implements IInputChannelMonitor {
    /** That long the controller has to end a task whose sender failed. */
    static final long CAUSE_WAIT_SECONDS = 5;

    private static final int NONE = -1;

    private final Senders senders;
    private final String node;
    private final @Nullable IInputChannel[] channels;
    private final int[] frameCounts;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final BitSet ready = new BitSet();
    private final BitSet ended = new BitSet();
    private int lastRead = NONE;
    private int failed = NONE;
    private boolean isLost;

    /** Why a channel can't be opened. */
    private @Nullable HyracksDataException failure;

    private boolean isClosed;

    /**
     * @param node that reads, for messages
     */
    Arrivals(Senders senders, String node) {
        this.senders = senders;
        this.node = node;
        this.channels = new IInputChannel[senders.count()];
        this.frameCounts = new int[senders.count()];
    }

    // ---- the engine's side ----------------------------------------------------------------------

    /** The channel of a sender, before it is opened. */
    void add(PartitionId id, IInputChannel channel) {
        channel.registerMonitor(this);
        channel.setAttachment(id);
        lock.lock();
        try {
            channels[id.getSenderIndex()] = channel;
        } finally {
            lock.unlock();
        }
    }

    private static int sender(IInputChannel channel) {
        return ((PartitionId) channel.getAttachment()).getSenderIndex();
    }

    /** A channel can't be opened; its reader is told. */
    void fail(HyracksDataException cause) {
        lock.lock();
        try {
            if (failure == null) {
                failure = cause;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void notifyDataAvailability(IInputChannel channel, int frameCount) {
        Dropped unread = null;
        lock.lock();
        try {
            if (isClosed) {
                unread = new Dropped();
                unread.take(channel, frameCount);
                return;
            }
            int sender = sender(channel);
            frameCounts[sender] += frameCount;
            ready.set(sender);
            changed.signalAll();
        } finally {
            lock.unlock();
            if (unread != null) {
                unread.recycle();
            }
        }
    }

    @Override
    public void notifyEndOfStream(IInputChannel channel) {
        lock.lock();
        try {
            ended.set(sender(channel));
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void notifyFailure(IInputChannel channel, int code) {
        lock.lock();
        try {
            int sender = sender(channel);
            if (ended.get(sender)) {
                // all its rows are here
                return;
            }
            boolean lost = code == AbstractChannelWriteInterface.CONNECTION_LOST_ERROR_CODE;
            if (failed == NONE || (lost && !isLost)) {
                failed = sender;
                isLost = lost;
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /**
     * Nobody reads any more: what lies here is given back, and what still comes. The engine keeps a
     * channel until its sender has sent all.
     */
    void close() {
        Dropped unread = new Dropped();
        lock.lock();
        try {
            isClosed = true;
            for (int sender = 0; sender < channels.length; sender++) {
                IInputChannel channel = channels[sender];
                if (channel != null) {
                    unread.take(channel, frameCounts[sender]);
                }
                frameCounts[sender] = 0;
            }
            ready.clear();
        } finally {
            lock.unlock();
            unread.recycle();
        }
    }

    /** Buffers that nobody reads. They are given back without the lock: the engine has its own. */
    private static final class Dropped {
        private final List<IInputChannel> from = new ArrayList<>();
        private final List<ByteBuffer> buffers = new ArrayList<>();

        void take(IInputChannel channel, int count) {
            for (int i = 0; i < count; i++) {
                from.add(channel);
                buffers.add(channel.getNextBuffer());
            }
        }

        void recycle() {
            for (int i = 0; i < buffers.size(); i++) {
                from.get(i).recycleBuffer(buffers.get(i));
            }
        }
    }

    // ---- the reader -----------------------------------------------------------------------------

    /**
     * Reads a frame of any sender, of each in turn; false: all have ended.
     *
     * @throws HyracksDataException if a sender failed, or the reader is interrupted
     */
    boolean readAny(IFrame frame) throws HyracksDataException {
        int sender = awaitAny();
        return sender != NONE && read(sender, frame);
    }

    /**
     * Reads a frame of one sender; false: it has ended.
     *
     * @throws HyracksDataException if a sender failed, or the reader is interrupted
     */
    boolean read(int sender, IFrame frame) throws HyracksDataException {
        ByteBuffer part = take(sender);
        if (part == null) {
            return false;
        }
        frame.reset();
        int partCount = FrameHelper.deserializeNumOfMinFrame(part);
        if (partCount < 1) {
            throw broken(sender, "a frame of %d parts came".formatted(partCount));
        }
        ensureSize(sender, frame, partCount);
        ByteBuffer whole = frame.getBuffer().clear();
        append(sender, part, whole);
        for (int i = 1; i < partCount; i++) {
            part = take(sender);
            if (part == null) {
                throw broken(sender, "a frame ended after %d of %d parts".formatted(i, partCount));
            }
            append(sender, part, whole);
        }
        if (whole.hasRemaining()) {
            FrameHelper.clearRemainingFrame(whole, whole.position());
        }
        whole.flip();
        return true;
    }

    /** An error would end the engine's thread, and pass for an end of the rows. */
    private void ensureSize(int sender, IFrame frame, int partCount) throws HyracksDataException {
        try {
            frame.ensureFrameSize(Math.multiplyExact(frame.getMinSize(), partCount));
        } catch (OutOfMemoryError | ArithmeticException e) {
            throw Failures.toEngine(senders.where(sender), e);
        }
    }

    private void append(int sender, ByteBuffer part, ByteBuffer whole) {
        whole.put(part.clear());
        channel(sender).recycleBuffer(part);
    }

    private IInputChannel channel(int sender) {
        lock.lock();
        try {
            IInputChannel channel = channels[sender];
            if (channel == null) {
                throw new IllegalStateException("no channel leads from " + senders.where(sender));
            }
            return channel;
        } finally {
            lock.unlock();
        }
    }

    private int awaitAny() throws HyracksDataException {
        lock.lock();
        try {
            while (true) {
                checkSenders();
                int next = ready.nextSetBit(lastRead + 1);
                lastRead = next < 0 ? ready.nextSetBit(0) : next;
                if (lastRead >= 0) {
                    return lastRead;
                }
                if (ended.cardinality() == senders.count()) {
                    return NONE;
                }
                changed.await();
            }
        } catch (InterruptedException e) {
            throw HyracksDataException.create(e);
        } finally {
            lock.unlock();
        }
    }

    /** The next part of a sender's frames; null: it has ended. */
    private @Nullable ByteBuffer take(int sender) throws HyracksDataException {
        lock.lock();
        try {
            while (true) {
                checkSenders();
                if (frameCounts[sender] > 0) {
                    if (--frameCounts[sender] == 0) {
                        ready.clear(sender);
                    }
                    return channel(sender).getNextBuffer();
                }
                if (ended.get(sender)) {
                    return null;
                }
                changed.await();
            }
        } catch (InterruptedException e) {
            throw HyracksDataException.create(e);
        } finally {
            lock.unlock();
        }
    }

    private void checkSenders() throws HyracksDataException, InterruptedException {
        if (failure != null) {
            throw failure;
        }
        if (failed == NONE) {
            return;
        }
        long left = TimeUnit.SECONDS.toNanos(CAUSE_WAIT_SECONDS);
        while (!isLost && left > 0) {
            left = changed.awaitNanos(left);
        }
        if (isLost) {
            throw broken(failed, "its connection with node '%s' was lost".formatted(node));
        }
        throw broken(failed, "it failed, and has not said why");
    }

    private HyracksDataException broken(int sender, String what) {
        return Failures.toEngine(senders.where(sender), new IOException(what));
    }
}
