package io.turbidite.feeds.cluster.run;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.core.format.Envelope;
import io.turbidite.core.format.FileHeader;
import io.turbidite.feeds.cluster.change.Entry;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;

/**
 * The file {@code cluster/APPLIED} of a node: which changes its store has, in the envelope,
 * replaced whole.
 *
 * <pre>
 * offset          bytes field
 *      0             64 {@link FileHeader}, format "cluster-applied", version 1, storeId the
 *                       cluster's, file id 0
 *     64              n payload
 * 64 + n             64 {@link io.turbidite.core.format.FileFooter} of the payload
 *
 * payload := number i64, chain i64, isPrepared bool, [dataset str, index str]
 * </pre>
 *
 * <p>An empty index means the dataset itself. Integers of the payload are big-endian, strings as
 * {@link DataOutputStream#writeUTF}; it is read only after its checksum was found right.
 */
final class AppliedFile {
    static final String FORMAT = "cluster-applied";
    static final int VERSION = 1;

    private static final int BYTES_MAX = 1 << 10;

    private final Disk disk;
    private final String name;
    private final long clusterId;

    AppliedFile(Disk disk, String name, long clusterId) {
        this.disk = disk;
        this.name = name;
        this.clusterId = clusterId;
    }

    /**
     * What the store has.
     *
     * @param number of the last change that it has; 0 if none
     * @param chain of that change: whether it is one of this log
     * @param prepared what it may have besides; null: nothing
     */
    record State(long number, long chain, @Nullable Thing prepared) {
        static final State NOTHING = new State(0, Entry.CHAIN_START, null);

        State with(@Nullable Thing made) {
            return new State(number, chain, made);
        }
    }

    /**
     * What a change creates.
     *
     * @param index of the dataset; empty: the dataset itself
     */
    record Thing(String dataset, String index) {}

    /** Replaces the file; durable when it returns. */
    void write(State state) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(state.number());
            out.writeLong(state.chain());
            Thing prepared = state.prepared();
            out.writeBoolean(prepared != null);
            if (prepared != null) {
                out.writeUTF(prepared.dataset());
                out.writeUTF(prepared.index());
            }
        } catch (IOException e) {
            throw new IllegalStateException("a byte array takes all: " + state, e);
        }
        FileHeader header = new FileHeader(FORMAT, VERSION, 0, clusterId, 0);
        WholeFile.of(disk, name).write(Envelope.wrap(header, bytes.toByteArray()));
    }

    /**
     * Reads the file; that nothing was applied if there is none.
     *
     * @throws CorruptionException if it is damaged, or of another cluster
     */
    State read() {
        if (!disk.exists(name)) {
            return State.NOTHING;
        }
        try (DiskFile file = disk.openReadOnly(name)) {
            byte[] image = Envelope.readImage(file, 0, BYTES_MAX);
            FileHeader header = Envelope.header(file.name(), image)
                    .check(file.name(), FORMAT, VERSION)
                    .checkOwner(file.name(), clusterId, 0);
            return decode(file.name(), Envelope.payload(file.name(), header, image));
        }
    }

    private static State decode(String name, byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            long number = in.readLong();
            long chain = in.readLong();
            Thing prepared = in.readBoolean() ? new Thing(in.readUTF(), in.readUTF()) : null;
            return new State(number, chain, prepared);
        } catch (IOException e) {
            throw new CorruptionException(
                    name,
                    FileHeader.BYTES,
                    "the payload",
                    "a number, its chain and a note",
                    e.toString());
        }
    }
}
