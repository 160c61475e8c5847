package io.turbidite.ops.cluster;

import org.apache.hyracks.api.channels.IInputChannel;
import org.apache.hyracks.api.comm.IFrame;
import org.apache.hyracks.api.comm.IFrameReader;
import org.apache.hyracks.api.comm.PartitionChannel;
import org.apache.hyracks.api.context.IHyracksTaskContext;
import org.apache.hyracks.api.dataflow.ConnectorDescriptorId;
import org.apache.hyracks.api.exceptions.HyracksDataException;
import org.apache.hyracks.api.exceptions.HyracksException;
import org.apache.hyracks.api.partitions.PartitionId;
import org.apache.hyracks.comm.channels.NetworkInputChannel;
import org.apache.hyracks.dataflow.std.collectors.AbstractPartitionCollector;

import java.net.SocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;

/**
 * An input of an instance, for the engine: opens the channels from its senders, and reads what
 * comes through them as a {@link Reading} says. <em>Its reader is confined to one thread.</em>
 */
final class StageCollector extends AbstractPartitionCollector {
    private final Senders senders;
    private final HostedNode node;
    private final Arrivals arrivals;
    private final IFrameReader reader;

    /** The order in which the frames of an input are read. */
    @FunctionalInterface
    interface Reading {
        /** A reader of what arrives. */
        IFrameReader of(Arrivals arrivals);
    }

    private StageCollector(
            IHyracksTaskContext context,
            ConnectorDescriptorId connector,
            int receiver,
            Senders senders,
            HostedNode node,
            Reading reading) {
        super(context, connector, receiver);
        this.senders = senders;
        this.node = node;
        this.arrivals = new Arrivals(senders, node.name());
        this.reader = new Told(reading.of(arrivals), InputEnds.of(context));
    }

    /** The frames of an input as they come. */
    static StageCollector of(
            IHyracksTaskContext context,
            ConnectorDescriptorId connector,
            int receiver,
            Senders senders)
            throws HyracksDataException {
        return of(context, connector, receiver, senders, AsTheyCome::new);
    }

    static StageCollector of(
            IHyracksTaskContext context,
            ConnectorDescriptorId connector,
            int receiver,
            Senders senders,
            Reading reading)
            throws HyracksDataException {
        return new StageCollector(
                context,
                connector,
                receiver,
                senders,
                HostedNode.of(context.getJobletContext()),
                reading);
    }

    @Override
    public void open() {
        // channels are opened when they are known
    }

    @Override
    public void addPartitions(Collection<PartitionChannel> partitions) {
        for (PartitionChannel partition : partitions) {
            PartitionId id = partition.getPartitionId();
            IInputChannel channel = partition.getInputChannel();
            arrivals.add(id, channel);
            try {
                channel.open(ctx);
                check(id.getSenderIndex(), channel);
            } catch (HyracksException | ReflectiveOperationException | RuntimeException | Error e) {
                // on the thread by which the engine gives work to its node, which passes it over
                arrivals.fail(Failures.toEngine(where(senders.where(id.getSenderIndex())), e));
            }
        }
    }

    private String where(String from) {
        return Senders.where(node.name(), "input of " + from);
    }

    /** The engine takes rows from whoever is at the address that it was told. */
    private void check(int sender, IInputChannel channel) throws ReflectiveOperationException {
        Object address = Engine.get(NetworkInputChannel.class, channel, "remoteAddress");
        node.checkSender((SocketAddress) Objects.requireNonNull(address), senders.node(sender));
    }

    @Override
    public IFrameReader getReader() {
        return reader;
    }

    @Override
    public void close() {
        arrivals.close();
    }

    @Override
    public Collection<PartitionId> getRequiredPartitionIds() {
        List<PartitionId> ids = new ArrayList<>();
        for (int sender = 0; sender < senders.count(); sender++) {
            ids.add(new PartitionId(getJobId(), getConnectorId(), sender, getReceiverIndex()));
        }
        return ids;
    }

    @Override
    public void abort() {
        // the engine interrupts the reader
    }

    @Override
    public String toString() {
        return "%s to node '%s'".formatted(senders.where(0), node.name());
    }

    /**
     * Says at its end that it is one, and throws what the engine tells: it takes exceptions alone.
     */
    private final class Told implements IFrameReader {
        private final IFrameReader reader;
        private final InputEnds ends;

        Told(IFrameReader reader, InputEnds ends) {
            this.reader = reader;
            this.ends = ends;
        }

        @Override
        public void open() throws HyracksDataException {
            reader.open();
        }

        @Override
        public boolean nextFrame(IFrame frame) throws HyracksDataException {
            try {
                boolean hasMore = reader.nextFrame(frame);
                if (!hasMore) {
                    ends.reached();
                }
                return hasMore;
            } catch (HyracksDataException | RuntimeException | Error e) {
                throw Failures.toEngine(where(senders.all()), e);
            }
        }

        @Override
        public void close() throws HyracksDataException {
            reader.close();
        }
    }

    /** Frames of all senders in turn. */
    private static final class AsTheyCome implements IFrameReader {
        private final Arrivals arrivals;

        AsTheyCome(Arrivals arrivals) {
            this.arrivals = arrivals;
        }

        @Override
        public void open() {
            // nothing to open
        }

        @Override
        public boolean nextFrame(IFrame frame) throws HyracksDataException {
            return arrivals.readAny(frame);
        }

        @Override
        public void close() {
            // channels end with their senders
        }
    }
}
