package io.turbidite.feeds.store;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.core.format.Envelope;
import io.turbidite.core.format.FileHeader;
import io.turbidite.feeds.source.PartitionState;
import io.turbidite.feeds.source.file.FilePosition;
import io.turbidite.feeds.source.file.FileSource.Head;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.TreeMap;

/**
 * The file {@code feeds/NAME.positions} beside a hash log: how far a feed has got, in the envelope,
 * replaced whole.
 *
 * <pre>
 * offset          bytes field
 *      0             64 {@link FileHeader}, format "logfeed", version 1, storeId and file id 0
 *     64              n payload
 * 64 + n             64 {@link io.turbidite.core.format.FileFooter} of the payload
 *
 * payload := address i64, letterBytes i64, count i32, file*
 * file    := name str, offset i64, line i64, ended bool, fileBytes i64, headBytes i32, headCrc i64,
 *            records i64, rejected i64
 * </pre>
 *
 * <p>Integers of the payload are big-endian, strings as {@link DataOutputStream#writeUTF}; it is
 * read only after its checksum was found right.
 */
final class LogPositionsFile {
    static final String FORMAT = "logfeed";
    static final int VERSION = 1;

    /** Some hundred thousand files; more is not believed. */
    private static final int BYTES_MAX = 64 << 20;

    private final Disk disk;
    private final String name;

    LogPositionsFile(Disk disk, String name) {
        this.disk = disk;
        this.name = name;
    }

    /** On its disk. */
    String name() {
        return name;
    }

    /**
     * What is kept. <em>Immutable.</em>
     *
     * @param address every record of the feed below it comes from before the positions
     * @param letterBytes length of the dead-letter file
     * @param files by name
     */
    record State(long address, long letterBytes, Map<String, PartitionState> files) {
        State {
            files = Map.copyOf(files);
        }
    }

    /** Replaces the file; durable when it returns. */
    void write(State state) {
        disk.createDirectories(name.substring(0, name.lastIndexOf('/')));
        FileHeader header = new FileHeader(FORMAT, VERSION, 0, 0, 0);
        WholeFile.of(disk, name).write(Envelope.wrap(header, encode(state)));
        disk.syncDirectory(""); // where the directory may be new
    }

    /**
     * Reads the file; null if there is none.
     *
     * @throws CorruptionException if it is damaged
     */
    @Nullable
    State read() {
        if (!disk.exists(name)) {
            return null;
        }
        try (DiskFile file = disk.openReadOnly(name)) {
            byte[] image = Envelope.readImage(file, 0, BYTES_MAX);
            FileHeader header = Envelope.header(file.name(), image)
                    .check(file.name(), FORMAT, VERSION)
                    .checkOwner(file.name(), 0, 0);
            return decode(file.name(), Envelope.payload(file.name(), header, image));
        }
    }

    private static byte[] encode(State state) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(state.address);
            out.writeLong(state.letterBytes);
            out.writeInt(state.files.size());
            for (Map.Entry<String, PartitionState> entry : new TreeMap<>(state.files).entrySet()) {
                FilePosition position = inFile(entry.getValue());
                out.writeUTF(entry.getKey());
                out.writeLong(position.offset());
                out.writeLong(position.line());
                out.writeBoolean(position.ended());
                out.writeLong(position.fileBytes());
                out.writeInt(position.head().byteCount());
                out.writeLong(position.head().crc32c());
                out.writeLong(entry.getValue().records());
                out.writeLong(entry.getValue().rejected());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e); // nothing of a byte array can fail
        }
        return bytes.toByteArray();
    }

    private static FilePosition inFile(PartitionState state) {
        FilePosition position = FilePosition.of(state.position());
        if (position == null) {
            throw new InvalidRequestException(
                    "a feed into a hash log keeps positions in files alone");
        }
        return position;
    }

    private static State decode(String name, byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            long address = in.readLong();
            long letterBytes = in.readLong();
            int count = in.readInt();
            Map<String, PartitionState> files = new TreeMap<>();
            for (int i = 0; i < count; i++) {
                String file = in.readUTF();
                FilePosition position = new FilePosition(
                        in.readLong(),
                        in.readLong(),
                        in.readBoolean(),
                        in.readLong(),
                        new Head(in.readInt(), in.readLong()));
                files.put(
                        file,
                        new PartitionState(position.encode(), 0, in.readLong(), in.readLong()));
            }
            if (in.available() != 0) {
                throw new IOException("%d bytes too many".formatted(in.available()));
            }
            return new State(address, letterBytes, files);
        } catch (IOException wrong) {
            // the checksum is right, so this is a writer's fault rather than the disk's; say so
            throw new CorruptionException(
                    name, FileHeader.BYTES, "payload", "positions", String.valueOf(wrong));
        }
    }
}
