package io.turbidite.hashlog.registry;

import io.turbidite.core.CorruptionException;
import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.StorageIoException;
import io.turbidite.core.StoreFailedException;
import io.turbidite.core.file.Disk;
import io.turbidite.core.file.DiskFile;
import io.turbidite.core.file.WholeFile;
import io.turbidite.core.format.Envelope;
import io.turbidite.core.format.FileHeader;
import io.turbidite.core.format.KnownFormat;
import io.turbidite.hashlog.log.LogShape;
import io.turbidite.hashlog.psf.PsfDefinition;
import io.turbidite.hashlog.psf.PsfSet;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/**
 * The file {@code HASHLOG}: a {@link RegistryState} in the envelope, replaced whole.
 *
 * <pre>
 * offset          bytes field
 *      0             64 {@link FileHeader}, format "hashlog", version 6, storeId = the log's id, fileId = number
 *     64              n payload
 * 64 + n             64 {@link io.turbidite.core.format.FileFooter} of the payload
 *
 * payload  := pageBytes i32, ringPageCount i32, segmentPageCount i32, tableBits i32, parser str, psf*
 * psf      := name str, definition str, active bool, chainCount i32, interval*, run*  (ids count from 0)
 * interval := from i64, to i64
 * run      := number i64, from i64, to i64
 * </pre>
 *
 * <p>Integers of the payload are big-endian, strings as {@link DataOutputStream#writeUTF}, lists a
 * 32-bit count and the elements; it is read only after its checksum was found right.
 *
 * <p>Version 6 counts its changes: the number is 1 to 2^31 - 1 after the first. Versions 4 and 5,
 * which are read too, have the same payload and no number. Version 4 does not say that {@code TAIL}
 * was made before, at full length.
 */
public final class RegistryFile {
    static final String FORMAT = "hashlog";
    static final int VERSION = 6;

    /** Of logs whose {@code TAIL} came with their first page. */
    static final int VERSION_WITHOUT_TAIL = 4;

    /** Its format and the versions that are read. */
    public static final KnownFormat KNOWN = new KnownFormat(FORMAT, VERSION_WITHOUT_TAIL, VERSION);

    private static final String NAME = "HASHLOG";

    /** 16,384 PSFs with long definitions and many intervals; more is not believed. */
    private static final int BYTES_MAX = 256 << 20;

    private RegistryFile() {}

    /** Whether there is a log in {@code directory}. */
    public static boolean exists(Disk disk, String directory) {
        return disk.exists(directory + "/" + NAME);
    }

    /**
     * Replaces the file; durable when it returns.
     *
     * @throws StorageIoException if the draft can't be written: the old state stands
     * @throws StoreFailedException if it is not known which state stands
     */
    public static void write(Disk disk, String directory, RegistryState state) {
        FileHeader header = new FileHeader(FORMAT, VERSION, 0, state.logId(), state.number());
        WholeFile.of(disk, directory + "/" + NAME)
                .writeForSure(
                        Envelope.wrap(header, encode(state)),
                        "the registry of " + directory,
                        "the log");
    }

    /**
     * What a file says.
     *
     * @param hasTail whether {@code TAIL} was there before it
     */
    public record Stored(RegistryState state, boolean hasTail) {}

    /**
     * Reads the file.
     *
     * @throws CorruptionException if it is damaged
     */
    public static Stored read(Disk disk, String directory) {
        try (DiskFile file = disk.openReadOnly(directory + "/" + NAME)) {
            byte[] image = Envelope.readImage(file, 0, BYTES_MAX);
            FileHeader header = Envelope.header(file.name(), image);
            int version = Math.clamp(header.version(), VERSION_WITHOUT_TAIL, VERSION);
            int number = version == VERSION ? Math.clamp(header.fileId(), 0, Integer.MAX_VALUE) : 0;
            header.check(file.name(), FORMAT, version)
                    .checkOwner(file.name(), header.storeId(), number);
            boolean hasTail = version != VERSION_WITHOUT_TAIL;
            byte[] payload = Envelope.payload(file.name(), header, image);
            return new Stored(decode(file.name(), header.storeId(), number, payload), hasTail);
        }
    }

    private static byte[] encode(RegistryState state) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(state.shape().pageBytes());
            out.writeInt(state.shape().ringPageCount());
            out.writeInt(state.shape().segmentPageCount());
            out.writeInt(state.tableBits());
            out.writeUTF(PsfSet.empty(state.parser()).text());
            out.writeInt(state.psfs().size());
            for (RegisteredPsf psf : state.psfs()) {
                out.writeUTF(psf.name());
                out.writeUTF(psf.definition().text());
                out.writeBoolean(psf.active());
                out.writeInt(psf.chainCount());
                out.writeInt(psf.intervals().size());
                for (Interval interval : psf.intervals()) {
                    out.writeLong(interval.from());
                    out.writeLong(interval.to());
                }
                out.writeInt(psf.runs().size());
                for (HistoryRun run : psf.runs()) {
                    out.writeLong(run.number());
                    out.writeLong(run.from());
                    out.writeLong(run.to());
                }
            }
        } catch (IOException e) {
            // a definition of more than 65,535 bytes; anything else is impossible
            throw new InvalidRequestException("a PSF's definition is too long: " + e, e);
        }
        return bytes.toByteArray();
    }

    private static RegistryState decode(String name, long logId, int number, byte[] payload) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(payload))) {
            LogShape shape = new LogShape(in.readInt(), in.readInt(), in.readInt());
            int tableBits = in.readInt();
            PsfSet empty = PsfSet.parse(in.readUTF());
            List<RegisteredPsf> psfs = new ArrayList<>();
            int count = in.readInt();
            for (int id = 0; id < count; id++) {
                String psfName = in.readUTF();
                PsfDefinition definition = PsfDefinition.parse(in.readUTF());
                boolean active = in.readBoolean();
                int chainCount = in.readInt();
                List<Interval> intervals = new ArrayList<>();
                int intervalCount = in.readInt();
                for (int i = 0; i < intervalCount; i++) {
                    intervals.add(new Interval(in.readLong(), in.readLong()));
                }
                List<HistoryRun> runs = new ArrayList<>();
                int runCount = in.readInt();
                for (int i = 0; i < runCount; i++) {
                    runs.add(new HistoryRun(in.readLong(), in.readLong(), in.readLong()));
                }
                psfs.add(new RegisteredPsf(
                        id, psfName, definition, active, chainCount, intervals, runs));
            }
            if (in.available() != 0) {
                throw new IOException("%d bytes too many".formatted(in.available()));
            }
            return new RegistryState(logId, number, shape, tableBits, empty.parser(), psfs);
        } catch (IOException | InvalidRequestException wrong) {
            // the checksum is right, so this is a writer's fault rather than the disk's; say so
            throw new CorruptionException(
                    name, FileHeader.BYTES, "payload", "a registry", String.valueOf(wrong));
        }
    }
}
