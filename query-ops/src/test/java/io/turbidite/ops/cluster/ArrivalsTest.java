package io.turbidite.ops.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import org.apache.hyracks.api.channels.IInputChannel;
import org.apache.hyracks.api.channels.IInputChannelMonitor;
import org.apache.hyracks.api.comm.FrameHelper;
import org.apache.hyracks.api.comm.IFrame;
import org.apache.hyracks.api.comm.VSizeFrame;
import org.apache.hyracks.api.context.IHyracksCommonContext;
import org.apache.hyracks.api.dataflow.ConnectorDescriptorId;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.job.JobId;
import org.apache.hyracks.api.partitions.PartitionId;
import org.apache.hyracks.control.nc.resources.memory.FrameManager;
import org.apache.hyracks.net.protocols.muxdemux.AbstractChannelWriteInterface;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/** An input says that its rows have ended when they have, and at no other time. */
class ArrivalsTest {
    private static final int PART_BYTES = 64;

    private final Arrivals arrivals = new Arrivals(new Senders("s", "n0", "n1"), "n9");
    private final List<Channel> channels = new ArrayList<>();
    private final IFrame frame = frame();

    ArrivalsTest() {
        for (int i = 0; i < 2; i++) {
            Channel channel = new Channel();
            channels.add(channel);
            arrivals.add(
                    new PartitionId(new JobId(1), new ConnectorDescriptorId(1), i, 0), channel);
        }
    }

    private static IFrame frame() {
        try {
            return new VSizeFrame(new FrameManager(PART_BYTES));
        } catch (HyracksDataException e) {
            throw new AssertionError(e);
        }
    }

    private final class Channel implements IInputChannel {
        private final Queue<ByteBuffer> parts = new ArrayDeque<>();
        private Object attachment = "";
        private int recycled;

        /** Parts of one frame, of which the first tells how many there are. */
        void send(int told, int sent, int mark) {
            for (int i = 0; i < sent; i++) {
                ByteBuffer part = ByteBuffer.allocate(PART_BYTES);
                if (i == 0) {
                    FrameHelper.serializeFrameSize(part, told);
                }
                part.put(PART_BYTES - 1, (byte) mark);
                parts.add(part);
                arrivals.notifyDataAvailability(this, 1);
            }
        }

        void end() {
            arrivals.notifyEndOfStream(this);
        }

        void fail(int code) {
            arrivals.notifyFailure(this, code);
        }

        @Override
        public void registerMonitor(IInputChannelMonitor monitor) {
            assertThat(monitor).isSameAs(arrivals);
        }

        @Override
        public void setAttachment(Object value) {
            attachment = value;
        }

        @Override
        public Object getAttachment() {
            return attachment;
        }

        @Override
        public @Nullable ByteBuffer getNextBuffer() {
            return parts.poll();
        }

        @Override
        public void recycleBuffer(ByteBuffer buffer) {
            recycled++;
        }

        @Override
        public void open(IHyracksCommonContext context) {
            throw new AssertionError("it is opened by the collector");
        }

        @Override
        public void close() {
            throw new AssertionError("it ends with its sender");
        }

        @Override
        public void fail() {
            throw new AssertionError("a reader fails no sender");
        }
    }

    private int mark() {
        return frame.getBuffer().get(frame.getBuffer().limit() - 1);
    }

    @Test
    void frames_of_all_senders_in_turn_and_an_end_when_all_have_ended() throws Exception {
        channels.get(0).send(1, 1, 1);
        channels.get(0).send(1, 1, 2);
        channels.get(1).send(3, 3, 7);
        channels.get(1).end();
        List<Integer> marks = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            assertThat(arrivals.readAny(frame)).isTrue();
            marks.add(mark());
            assertThat(frame.getBuffer().limit()).isEqualTo(mark() == 7 ? 192 : 64);
        }
        assertThat(marks).containsExactly(1, 7, 2);
        CompletableFuture<Boolean> more = CompletableFuture.supplyAsync(this::read);
        assertThat(more).isNotDone();
        channels.get(0).end();
        assertThat(more.get(10, TimeUnit.SECONDS)).isFalse();
        assertThat(channels.get(0).recycled).isEqualTo(2);
        assertThat(channels.get(1).recycled).isEqualTo(3);
    }

    private boolean read() {
        try {
            return arrivals.readAny(frame);
        } catch (HyracksDataException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void a_connection_that_is_lost_is_told_at_once_with_both_nodes() throws Exception {
        channels.get(0).send(1, 1, 1);
        channels.get(1).fail(AbstractChannelWriteInterface.CONNECTION_LOST_ERROR_CODE);
        channels.get(1).end();
        channels.get(0).end();
        assertThatThrownBy(() -> arrivals.readAny(frame))
                .hasMessageContaining("{{IOException|node 'n1', stage 's'|its connection with"
                        + " node 'n9' was lost}}");
        assertThatThrownBy(() -> arrivals.read(0, frame)).hasMessageContaining("was lost");
    }

    /** The sender tells the controller why; the reader must not be sooner. */
    @Test
    void a_sender_that_failed_is_told_when_the_controller_ends_the_reader() throws Exception {
        channels.get(0).fail(AbstractChannelWriteInterface.REMOTE_ERROR_CODE);
        channels.get(0).end();
        channels.get(1).end();
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        Thread reader = Thread.ofPlatform().start(() -> {
            try {
                arrivals.readAny(frame);
                thrown.complete(new AssertionError("it has ended"));
            } catch (HyracksDataException e) {
                thrown.complete(e);
            }
        });
        assertThatThrownBy(() -> thrown.get(100, TimeUnit.MILLISECONDS))
                .isInstanceOf(java.util.concurrent.TimeoutException.class);
        reader.interrupt();
        assertThat(thrown.get(10, TimeUnit.SECONDS))
                .hasRootCauseInstanceOf(InterruptedException.class);
        reader.join();
    }

    @Test
    void a_frame_that_ends_in_the_middle_or_has_no_part_is_no_end() {
        channels.get(0).send(3, 2, 1);
        channels.get(0).end();
        assertThatThrownBy(() -> arrivals.read(0, frame))
                .hasMessageContaining("node 'n0', stage 's'|a frame ended after 2 of 3 parts");
        channels.get(1).send(0, 1, 1);
        assertThatThrownBy(() -> arrivals.read(1, frame))
                .hasMessageContaining("node 'n1', stage 's'|a frame of 0 parts came");
    }

    /** A node that has sent all may leave. */
    @Test
    void a_connection_that_is_lost_after_the_end_of_its_rows_is_none_of_a_failure()
            throws Exception {
        channels.get(1).send(1, 1, 5);
        channels.get(1).end();
        channels.get(1).fail(AbstractChannelWriteInterface.CONNECTION_LOST_ERROR_CODE);
        channels.get(0).end();
        assertThat(arrivals.readAny(frame)).isTrue();
        assertThat(mark()).isEqualTo(5);
        assertThat(arrivals.readAny(frame)).isFalse();
    }

    @Test
    void a_connection_that_is_lost_is_told_at_once_where_another_sender_has_failed()
            throws Exception {
        channels.get(0).fail(AbstractChannelWriteInterface.REMOTE_ERROR_CODE);
        CompletableFuture<Throwable> thrown = new CompletableFuture<>();
        Thread reader = Thread.ofPlatform().start(() -> {
            try {
                arrivals.readAny(frame);
                thrown.complete(new AssertionError("it has ended"));
            } catch (HyracksDataException e) {
                thrown.complete(e);
            }
        });
        channels.get(1).fail(AbstractChannelWriteInterface.CONNECTION_LOST_ERROR_CODE);
        assertThat(thrown.get(Arrivals.CAUSE_WAIT_SECONDS - 2, TimeUnit.SECONDS))
                .hasMessageContaining("node 'n1', stage 's'|its connection with");
        reader.join();
    }

    @Test
    void a_channel_that_cant_be_opened_fails_its_reader() {
        arrivals.fail(Failures.toEngine("node 'n0'", new IllegalStateException("no port")));
        channels.forEach(Channel::end);
        assertThatThrownBy(() -> arrivals.readAny(frame))
                .hasMessageContaining("{{IllegalStateException|node 'n0'|no port}}");
    }

    /** The engine keeps a channel, and its buffers, until all that was sent has been given back. */
    @Test
    void what_nobody_reads_is_given_back() throws Exception {
        channels.get(0).send(1, 1, 1);
        channels.get(0).send(1, 1, 2);
        channels.get(1).send(1, 1, 3);
        assertThat(arrivals.readAny(frame)).isTrue();
        arrivals.close();
        channels.get(1).send(1, 1, 4);
        assertThat(channels.get(0).recycled).isEqualTo(2);
        assertThat(channels.get(1).recycled).isEqualTo(2);
        assertThat(channels).allMatch(channel -> channel.parts.isEmpty());
    }

    @Test
    void what_the_engine_says_of_a_failure_gets_the_place_and_orders_to_end_stay() {
        HyracksDataException of = HyracksDataException.create(new java.io.IOException("reset"));
        assertThat(Failures.toEngine("node 'n', stage 's'", of))
                .hasMessageContaining("{{IOException|node 'n', stage 's'|reset}}");
        HyracksDataException order = HyracksDataException.create(new InterruptedException());
        assertThat(Failures.toEngine("node 'n', stage 's'", order)).isSameAs(order);
        HyracksDataException told = Failures.toEngine("node 'm'", of);
        assertThat(Failures.toEngine("node 'n', stage 's'", told)).isSameAs(told);
    }
}
