package io.turbidite.feeds.cluster.agree;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.format.Crc32c;
import io.turbidite.feeds.cluster.agree.Message.Abandon;
import io.turbidite.feeds.cluster.agree.Message.Entries;
import io.turbidite.feeds.cluster.agree.Message.Hello;
import io.turbidite.feeds.cluster.agree.Message.Holds;
import io.turbidite.feeds.cluster.agree.Message.Prepare;
import io.turbidite.feeds.cluster.agree.Message.Prepared;
import io.turbidite.feeds.cluster.agree.Message.Show;
import io.turbidite.feeds.cluster.agree.Message.Shown;
import io.turbidite.feeds.cluster.agree.Message.Unfit;
import io.turbidite.feeds.cluster.agree.Message.Unprepared;
import io.turbidite.feeds.cluster.agree.Message.Welcome;
import io.turbidite.feeds.cluster.change.Entry;
import io.turbidite.feeds.cluster.change.Epoch;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of a message between a controller and a node, version 1. Static, without state.
 *
 * <pre>
 * message := checksum i32, version u8, kind u8, body
 * body    := 1 hello       clusterId i64, epoch, number i64, chain i64, process i64
 *          | 2 welcome     stamp, process i64
 *          | 3 holds       stamp, chain i64, attempt i64
 *          | 4 entries     stamp, entries
 *          | 5 prepare     stamp, attempt i64, entry
 *          | 6 prepared    stamp, attempt i64
 *          | 7 unprepared  stamp, attempt i64, why str
 *          | 8 abandon     stamp, attempt i64
 *          | 9 unfit       stamp, misfit u8
 *          | 10 show       stamp, after i64
 *          | 11 shown      stamp, entries
 * epoch   := number i64, process i64
 * stamp   := clusterId i64, epoch, registration i64, number i64
 * entries := count i32, entry*
 * entry   := number i64, chain i64, length i32, change     as in the log of changes
 * misfit  := 1 of another cluster, 2 unknown node, 3 old epoch, 4 other controller,
 *            5 other registration, 6 other number, 7 stopped
 * </pre>
 *
 * <p>The checksum is the masked CRC32C of all that follows. Integers are big-endian, strings as
 * {@link DataOutputStream#writeUTF}. A message ends where its body does.
 */
public final class MessageCodec {
    /** Of one message: what the engine hands over in one piece. */
    public static final int BYTES_MAX = (1 << 20) - (4 << 10);

    private static final int VERSION = 1;
    private static final int CHECKED_OFFSET = Integer.BYTES;
    private static final int HEADER_BYTES = CHECKED_OFFSET + 2;
    private static final int ENTRY_HEAD_BYTES = 2 * Long.BYTES + Integer.BYTES;

    /** Left for all but the entries. */
    private static final int REST_BYTES = 1 << 10;

    /** A reason is for people. */
    private static final int WHY_CHARS_MAX = 2_000;

    private static final int HELLO = 1;
    private static final int WELCOME = 2;
    private static final int HOLDS = 3;
    private static final int ENTRIES = 4;
    private static final int PREPARE = 5;
    private static final int PREPARED = 6;
    private static final int UNPREPARED = 7;
    private static final int ABANDON = 8;
    private static final int UNFIT = 9;
    private static final int SHOW = 10;
    private static final int SHOWN = 11;

    /** By their numbers, from 1; a new one goes to the end. */
    private static final List<Misfit> MISFITS = List.of(
            Misfit.OTHER_CLUSTER,
            Misfit.UNKNOWN_NODE,
            Misfit.OLD_EPOCH,
            Misfit.OTHER_CONTROLLER,
            Misfit.OTHER_REGISTRATION,
            Misfit.OTHER_NUMBER,
            Misfit.STOPPED);

    private MessageCodec() {}

    /**
     * The bytes, at most {@link #BYTES_MAX}. Of entries those that have room, at least one: who
     * reads them says what it has then, and gets the rest. A long reason is cut.
     */
    public static byte[] encode(Message message) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(0);
            out.writeByte(VERSION);
            write(out, message);
        } catch (IOException e) {
            throw new IllegalStateException("a byte array takes all: " + message, e);
        }
        byte[] made = bytes.toByteArray();
        int checksum = checksum(made);
        for (int i = 0; i < CHECKED_OFFSET; i++) {
            made[i] = (byte) (checksum >>> (Byte.SIZE * (CHECKED_OFFSET - 1 - i)));
        }
        return made;
    }

    /**
     * The message of these bytes.
     *
     * @throws InvalidRequestException if they are none, are damaged, or of another version
     */
    public static Message decode(byte[] bytes) {
        if (bytes.length < HEADER_BYTES || bytes.length > BYTES_MAX) {
            throw new InvalidRequestException("%d bytes are no message: it has %d to %d"
                    .formatted(bytes.length, HEADER_BYTES, BYTES_MAX));
        }
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
            if (in.readInt() != checksum(bytes)) {
                throw new InvalidRequestException(
                        "a message of %d bytes is damaged".formatted(bytes.length));
            }
            int version = in.readUnsignedByte();
            if (version != VERSION) {
                throw new InvalidRequestException(
                        "a message is of version %d; this release reads %d"
                                .formatted(version, VERSION));
            }
            Message message = read(in);
            if (in.available() > 0) {
                throw new InvalidRequestException(
                        "a message has %d bytes behind its end".formatted(in.available()));
            }
            check(message);
            return message;
        } catch (IOException e) {
            throw new InvalidRequestException("a message ends too early, or has no text", e);
        }
    }

    private static int checksum(byte[] bytes) {
        return new Crc32c()
                .compute(
                        MemorySegment.ofArray(bytes),
                        CHECKED_OFFSET,
                        bytes.length - CHECKED_OFFSET);
    }

    // ---- writing --------------------------------------------------------------------------------

    private static void write(DataOutputStream out, Message message) throws IOException {
        switch (message) {
            case Hello hello -> {
                out.writeByte(HELLO);
                out.writeLong(hello.clusterId());
                write(out, hello.epoch());
                out.writeLong(hello.number());
                out.writeLong(hello.chain());
                out.writeLong(hello.process());
            }
            case Welcome welcome -> {
                begin(out, WELCOME, welcome.stamp());
                out.writeLong(welcome.process());
            }
            case Holds holds -> {
                begin(out, HOLDS, holds.stamp());
                out.writeLong(holds.chain());
                out.writeLong(holds.attempt());
            }
            case Entries told -> {
                begin(out, ENTRIES, told.stamp());
                write(out, told.entries());
            }
            case Prepare prepare -> {
                begin(out, PREPARE, prepare.stamp());
                out.writeLong(prepare.attempt());
                write(out, prepare.entry(), prepare.entry().payload());
            }
            case Prepared prepared -> {
                begin(out, PREPARED, prepared.stamp());
                out.writeLong(prepared.attempt());
            }
            case Unprepared unprepared -> {
                begin(out, UNPREPARED, unprepared.stamp());
                out.writeLong(unprepared.attempt());
                String why = unprepared.why();
                out.writeUTF(why.substring(0, Math.min(why.length(), WHY_CHARS_MAX)));
            }
            case Abandon abandon -> {
                begin(out, ABANDON, abandon.stamp());
                out.writeLong(abandon.attempt());
            }
            case Unfit unfit -> {
                begin(out, UNFIT, unfit.stamp());
                out.writeByte(1 + MISFITS.indexOf(unfit.misfit()));
            }
            case Show show -> {
                begin(out, SHOW, show.stamp());
                out.writeLong(show.after());
            }
            case Shown shown -> {
                begin(out, SHOWN, shown.stamp());
                write(out, shown.entries());
            }
        }
    }

    private static void begin(DataOutputStream out, int kind, Stamp stamp) throws IOException {
        out.writeByte(kind);
        out.writeLong(stamp.clusterId());
        write(out, stamp.epoch());
        out.writeLong(stamp.registration());
        out.writeLong(stamp.number());
    }

    private static void write(DataOutputStream out, Epoch epoch) throws IOException {
        out.writeLong(epoch.number());
        out.writeLong(epoch.process());
    }

    private static void write(DataOutputStream out, List<Entry> entries) throws IOException {
        List<byte[]> payloads = new ArrayList<>();
        long bytes = REST_BYTES;
        for (Entry entry : entries) {
            byte[] payload = entry.payload();
            bytes += ENTRY_HEAD_BYTES + payload.length;
            if (bytes > BYTES_MAX) {
                break;
            }
            payloads.add(payload);
        }
        out.writeInt(payloads.size());
        for (int i = 0; i < payloads.size(); i++) {
            write(out, entries.get(i), payloads.get(i));
        }
    }

    private static void write(DataOutputStream out, Entry entry, byte[] payload)
            throws IOException {
        out.writeLong(entry.number());
        out.writeLong(entry.chain());
        out.writeInt(payload.length);
        out.write(payload);
    }

    // ---- reading --------------------------------------------------------------------------------

    private static Message read(DataInputStream in) throws IOException {
        int kind = in.readUnsignedByte();
        return switch (kind) {
            case HELLO ->
                new Hello(
                        in.readLong(), readEpoch(in), in.readLong(), in.readLong(), in.readLong());
            case WELCOME -> new Welcome(readStamp(in), in.readLong());
            case HOLDS -> new Holds(readStamp(in), in.readLong(), in.readLong());
            case ENTRIES -> new Entries(readStamp(in), readEntries(in));
            case PREPARE -> new Prepare(readStamp(in), in.readLong(), readEntry(in));
            case PREPARED -> new Prepared(readStamp(in), in.readLong());
            case UNPREPARED -> new Unprepared(readStamp(in), in.readLong(), in.readUTF());
            case ABANDON -> new Abandon(readStamp(in), in.readLong());
            case UNFIT -> new Unfit(readStamp(in), misfit(in.readUnsignedByte()));
            case SHOW -> new Show(readStamp(in), in.readLong());
            case SHOWN -> new Shown(readStamp(in), readEntries(in));
            default -> throw new InvalidRequestException("no message is of kind " + kind);
        };
    }

    /** A number of the log is not below 0; that of a recovery is not known. */
    private static void check(Message message) {
        boolean isWrong = switch (message) {
            case Hello hello -> hello.number() < 0;
            case Holds holds -> holds.stamp().number() < 0;
            case Show show -> show.after() < 0;
            default -> false;
        };
        if (isWrong) {
            throw new InvalidRequestException("a message has a number below 0: " + message);
        }
    }

    private static Misfit misfit(int number) {
        if (number < 1 || number > MISFITS.size()) {
            throw new InvalidRequestException("no refusal has the number " + number);
        }
        return MISFITS.get(number - 1);
    }

    private static Epoch readEpoch(DataInputStream in) throws IOException {
        return new Epoch(in.readLong(), in.readLong());
    }

    private static Stamp readStamp(DataInputStream in) throws IOException {
        return new Stamp(in.readLong(), readEpoch(in), in.readLong(), in.readLong());
    }

    private static List<Entry> readEntries(DataInputStream in) throws IOException {
        int count = in.readInt();
        if (count < 0 || count > ControllerLog.ENTRIES_MAX) {
            throw new InvalidRequestException("a message can't have %d changes".formatted(count));
        }
        List<Entry> entries = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            entries.add(readEntry(in));
        }
        return entries;
    }

    private static Entry readEntry(DataInputStream in) throws IOException {
        long number = in.readLong();
        long chain = in.readLong();
        int length = in.readInt();
        if (length < 0 || length > in.available()) {
            throw new InvalidRequestException(
                    "a change of %d bytes does not lie in its message".formatted(length));
        }
        byte[] payload = new byte[length];
        in.readFully(payload);
        return Entry.of(number, chain, payload);
    }
}
