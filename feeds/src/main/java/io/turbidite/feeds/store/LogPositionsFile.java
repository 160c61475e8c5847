package io.turbidite.feeds.store;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.format.Crc32c;
import io.turbidite.core.format.FileFooter;
import io.turbidite.core.format.FileHeader;
import io.turbidite.feeds.source.FileSource.Head;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.util.Map;
import java.util.TreeMap;

/**
 * The file {@code feeds/NAME.positions} beside a hash log: how far a feed has got, in the envelope, replaced whole.
 *
 * <pre>
 * offset          bytes field
 *      0             64 {@link FileHeader}, format "logfeed", version 1, storeId and file id 0
 *     64              n payload
 * 64 + n             64 {@link FileFooter} of the payload
 *
 * payload := address i64, letterBytes i64, count i32, file*
 * file    := name str, offset i64, line i64, ended bool, fileBytes i64, headBytes i32, headCrc i64,
 *            records i64, rejected i64
 * </pre>
 *
 * <p>Integers of the payload are big-endian, strings as {@link DataOutputStream#writeUTF}; it is read only after
 * its checksum was found right.
 */
final class LogPositionsFile {
    static final String FORMAT = "logfeed";
    static final int VERSION = 1;

    /** Some hundred thousand files; more is not believed. */
    private static final long BYTES_MAX = 64L << 20;

    private final Disk disk;
    private final String name;

    LogPositionsFile(Disk disk, String name) {
        this.disk = disk;
        this.name = name;
    }

    /**
     * What is kept. <em>Immutable.</em>
     *
     * @param address every record of the feed below it comes from before the positions
     * @param letterBytes length of the dead-letter file
     * @param files by name
     */
    record State(long address, long letterBytes, Map<String, FilePosition> files) {
        State {
            files = Map.copyOf(files);
        }
    }

    /** Replaces the file; durable when it returns. */
    void write(State state) {
        byte[] payload = encode(state);
        byte[] bytes = new byte[FileHeader.BYTES + payload.length + FileFooter.BYTES];
        MemorySegment image = MemorySegment.ofArray(bytes);
        new FileHeader(FORMAT, VERSION, 0, 0, 0).write(image, 0);
        System.arraycopy(payload, 0, bytes, FileHeader.BYTES, payload.length);
        int checksum = new Crc32c().compute(image, FileHeader.BYTES, payload.length);
        new FileFooter(FileHeader.BYTES, payload.length, checksum, 0, 0)
                .write(image, FileHeader.BYTES + (long) payload.length);
        String directory = name.substring(0, name.lastIndexOf('/'));
        String draft = name + ".new";
        disk.createDirectories(directory);
        if (disk.exists(draft)) {
            disk.delete(draft);
        }
        try (DiskFile file = disk.create(draft)) {
            file.write(0, image, 0, bytes.length);
            file.sync();
        }
        disk.rename(draft, name);
        disk.syncDirectory(directory);
        disk.syncDirectory("");
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
            FileHeader header = FileHeader.readFrom(file).check(file.name(), FORMAT, VERSION);
            header.checkOwner(file.name(), 0, 0);
            long fileBytes = file.size();
            FileFooter footer =
                    FileFooter.readFrom(file).checkOwner(file.name(), fileBytes, header);
            long wanted = fileBytes - FileHeader.BYTES - FileFooter.BYTES;
            if (footer.payloadOffset() != FileHeader.BYTES
                    || footer.payloadBytes() != wanted
                    || wanted > BYTES_MAX) {
                throw new CorruptionException(
                        file.name(),
                        fileBytes - FileFooter.BYTES,
                        "payload",
                        wanted + " bytes at " + FileHeader.BYTES,
                        footer.payloadBytes() + " bytes at " + footer.payloadOffset());
            }
            footer.checkPayload(file, FileHeader.BYTES);
            byte[] payload = new byte[(int) wanted];
            MemorySegment target = MemorySegment.ofArray(payload);
            int byteCount = file.read(FileHeader.BYTES, target, 0, payload.length);
            if (byteCount < payload.length) {
                throw new CorruptionException(
                        file.name(), byteCount, "payload", wanted + " bytes", byteCount + " bytes");
            }
            footer.checkPayload(file.name(), target, 0);
            return decode(file.name(), payload);
        }
    }

    private static byte[] encode(State state) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeLong(state.address);
            out.writeLong(state.letterBytes);
            out.writeInt(state.files.size());
            for (Map.Entry<String, FilePosition> entry : new TreeMap<>(state.files).entrySet()) {
                FilePosition position = entry.getValue();
                out.writeUTF(entry.getKey());
                out.writeLong(position.offset());
                out.writeLong(position.line());
                out.writeBoolean(position.ended());
                out.writeLong(position.fileBytes());
                out.writeInt(position.head().byteCount());
                out.writeLong(position.head().crc32c());
                out.writeLong(position.records());
                out.writeLong(position.rejected());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e); // nothing of a byte array can fail
        }
        return bytes.toByteArray();
    }

    private static State decode(String name, byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            long address = in.readLong();
            long letterBytes = in.readLong();
            int count = in.readInt();
            Map<String, FilePosition> files = new TreeMap<>();
            for (int i = 0; i < count; i++) {
                files.put(
                        in.readUTF(),
                        new FilePosition(
                                in.readLong(),
                                in.readLong(),
                                in.readBoolean(),
                                in.readLong(),
                                new Head(in.readInt(), in.readLong()),
                                in.readLong(),
                                in.readLong()));
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
