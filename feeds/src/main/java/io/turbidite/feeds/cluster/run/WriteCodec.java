package io.turbidite.feeds.cluster.run;

import io.turbidite.core.InvalidRequestException;
import io.turbidite.core.format.Crc32c;
import io.turbidite.feeds.cluster.agree.Stamp;
import io.turbidite.feeds.cluster.change.Epoch;
import io.turbidite.ops.cluster.ClusterMessages;

import org.jspecify.annotations.Nullable;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.util.ArrayList;
import java.util.List;

/**
 * The bytes of a write to a node and of its answer, version 101. They go over the connections of
 * the log's messages, whose first byte behind the checksum is below this one's. Static, without
 * state.
 *
 * <pre>
 * message := checksum i32, version u8 = 101, kind u8, body
 * body    := 1 write    stamp, id i64, dataset str, way u8, count i32, record*
 *          | 2 written  id i64, outcome u8, why str
 * stamp   := clusterId i64, epoch i64, process i64, registration i64, number i64
 * record  := length i32, bytes
 * way     := 0 insert, 1 upsert
 * outcome := 0 applied, 1 not applied, 2 refused by its stamp, 3 not known
 * </pre>
 *
 * <p>The checksum is the masked CRC32C of all that follows. Integers are big-endian, strings as
 * {@link DataOutputStream#writeUTF}. A message ends where its body does.
 */
final class WriteCodec {
    /** Bytes of the records of one write, with their lengths. */
    static final int RECORD_BYTES_MAX = ClusterMessages.BYTES_MAX - (1 << 10);

    private static final int VERSION = 101;
    private static final int VERSION_OFFSET = Integer.BYTES;
    private static final int HEADER_BYTES = VERSION_OFFSET + 2;
    private static final int WRITE = 1;
    private static final int WRITTEN = 2;
    private static final int WHY_CHARS_MAX = 2_000;

    /** By their numbers, from 0; a new one goes to the end. */
    private static final List<Outcome> OUTCOMES =
            List.of(Outcome.APPLIED, Outcome.NOT_APPLIED, Outcome.STALE, Outcome.NOT_KNOWN);

    private WriteCodec() {}

    /** What goes over the connection. */
    sealed interface Sent {}

    /**
     * Records for one node, all or none.
     *
     * @param id by which the answer names it
     * @param replaces whether records with their keys may be there
     */
    record Write(Stamp stamp, long id, String dataset, boolean replaces, List<byte[]> records)
            implements Sent {}

    /** What became of it. */
    record Written(long id, Outcome outcome, String why) implements Sent {}

    /** What became of a write on a node. */
    enum Outcome {
        /** All of it is there, as durable as the store's mode says. */
        APPLIED,
        /** Nothing of it is there. */
        NOT_APPLIED,
        /** Nothing of it is there: it was made for another state of the cluster. */
        STALE,
        /** All of it is there, or nothing. */
        NOT_KNOWN
    }

    /** Whether a message is one of these. */
    static boolean isOne(byte[] message) {
        return message.length >= HEADER_BYTES && message[VERSION_OFFSET] == VERSION;
    }

    static byte[] encode(Sent sent) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        try (DataOutputStream out = new DataOutputStream(bytes)) {
            out.writeInt(0);
            out.writeByte(VERSION);
            switch (sent) {
                case Write write -> put(out, write);
                case Written written -> {
                    out.writeByte(WRITTEN);
                    out.writeLong(written.id());
                    out.writeByte(OUTCOMES.indexOf(written.outcome()));
                    String why = written.why();
                    out.writeUTF(why.substring(0, Math.min(why.length(), WHY_CHARS_MAX)));
                }
            }
        } catch (IOException e) {
            throw new IllegalStateException("a byte array takes all", e);
        }
        byte[] made = bytes.toByteArray();
        int checksum = checksum(made);
        for (int i = 0; i < VERSION_OFFSET; i++) {
            made[i] = (byte) (checksum >>> (Byte.SIZE * (VERSION_OFFSET - 1 - i)));
        }
        return made;
    }

    private static void put(DataOutputStream out, Write write) throws IOException {
        out.writeByte(WRITE);
        Stamp stamp = write.stamp();
        out.writeLong(stamp.clusterId());
        out.writeLong(stamp.epoch().number());
        out.writeLong(stamp.epoch().process());
        out.writeLong(stamp.registration());
        out.writeLong(stamp.number());
        out.writeLong(write.id());
        out.writeUTF(write.dataset());
        out.writeByte(write.replaces() ? 1 : 0);
        out.writeInt(write.records().size());
        for (byte[] record : write.records()) {
            out.writeInt(record.length);
            out.write(record);
        }
    }

    /**
     * Reads a message that {@link #isOne}.
     *
     * @throws InvalidRequestException if it is damaged
     */
    static Sent decode(byte[] message) {
        try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(message))) {
            if (in.readInt() != checksum(message)) {
                throw damaged(message, null);
            }
            in.skipNBytes(1);
            int kind = in.readUnsignedByte();
            Sent sent = switch (kind) {
                case WRITE -> write(in);
                case WRITTEN -> new Written(in.readLong(), outcome(in, message), in.readUTF());
                default -> throw damaged(message, null);
            };
            if (in.available() > 0) {
                throw damaged(message, null);
            }
            return sent;
        } catch (IOException e) {
            throw damaged(message, e);
        }
    }

    private static Outcome outcome(DataInputStream in, byte[] message) throws IOException {
        int number = in.readUnsignedByte();
        if (number >= OUTCOMES.size()) {
            throw damaged(message, null);
        }
        return OUTCOMES.get(number);
    }

    private static Write write(DataInputStream in) throws IOException {
        Stamp stamp = new Stamp(
                in.readLong(),
                new Epoch(in.readLong(), in.readLong()),
                in.readLong(),
                in.readLong());
        long id = in.readLong();
        String dataset = in.readUTF();
        boolean replaces = in.readUnsignedByte() == 1;
        int count = in.readInt();
        if (count < 0 || count > in.available() / Integer.BYTES) {
            throw new IOException("%d records".formatted(count));
        }
        List<byte[]> records = new ArrayList<>(count);
        for (int i = 0; i < count; i++) {
            int length = in.readInt();
            if (length < 0 || length > in.available()) {
                throw new IOException("a record of %d bytes".formatted(length));
            }
            records.add(in.readNBytes(length));
        }
        return new Write(stamp, id, dataset, replaces, records);
    }

    private static InvalidRequestException damaged(byte[] message, @Nullable IOException cause) {
        String what = "a write of %d bytes is damaged".formatted(message.length);
        return cause == null
                ? new InvalidRequestException(what)
                : new InvalidRequestException(what, cause);
    }

    private static int checksum(byte[] bytes) {
        return new Crc32c()
                .compute(
                        MemorySegment.ofArray(bytes),
                        VERSION_OFFSET,
                        bytes.length - VERSION_OFFSET);
    }
}
